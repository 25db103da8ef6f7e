// Which labels of two images lie on each other, and on how many pixels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace dunno {

struct Overlap {
  std::int64_t first;   // label in the first image
  std::int64_t second;  // label in the second image
  std::int64_t pixels;
};

// One pass over both images along runs of equal pairs; ascending by labels.
template <typename Label>
std::vector<Overlap> count_overlaps(const Label* first, const Label* second, std::int64_t size) {
  static_assert(sizeof(Label) <= 4, "a pair of labels must fit the key");
  std::unordered_map<std::uint64_t, std::int64_t> counts;
  for (std::int64_t p = 0; p < size;) {
    const Label a = first[p], b = second[p];
    const std::int64_t start = p;
    while (p < size && first[p] == a && second[p] == b) ++p;
    if (a == 0 || b == 0) continue;
    counts[(static_cast<std::uint64_t>(a) << 32) | b] += p - start;
  }
  std::vector<Overlap> overlaps;
  overlaps.reserve(counts.size());
  for (const auto& [key, pixels] : counts)
    overlaps.push_back({static_cast<std::int64_t>(key >> 32), static_cast<std::int64_t>(key & 0xffffffffu), pixels});
  std::sort(overlaps.begin(), overlaps.end(), [](const Overlap& x, const Overlap& y) {
    return x.first != y.first ? x.first < y.first : x.second < y.second;
  });
  return overlaps;
}

}  // namespace dunno
