// Runs: stretches of one label along x. Every pass over a label image goes along them.
//
// They are found some pixels at a time, so that it costs less than reading the image does; what is measured afterwards visits the
// runs, or the pixels inside them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#ifdef _MSC_VER
#include <intrin.h>
#endif

namespace dunno {

using Shape = std::array<std::int64_t, 3>;  // z, y, x; a 2D image has one z

// Numbers labels 0, 1, 2, ... in the order they are met; small labels through a table, huge ones through a hash.
class LabelNumbers {
 public:
  std::int64_t operator()(std::int64_t label, std::int64_t next) {
    if (label < kTable) {
      if (label >= static_cast<std::int64_t>(table_.size())) table_.resize(std::max<std::int64_t>(2 * label, 256), -1);
      if (table_[label] < 0) table_[label] = next;
      return table_[label];
    }
    return hash_.emplace(label, next).first->second;
  }

 private:
  static constexpr std::int64_t kTable = 1 << 22;
  std::vector<std::int64_t> table_;
  std::unordered_map<std::int64_t, std::int64_t> hash_;
};

template <typename Label>
std::int64_t as_label(Label value) {
  if constexpr (std::numeric_limits<Label>::is_signed) {
    if (value < 0) throw std::invalid_argument("a negative label, " + std::to_string(value));
  } else if constexpr (sizeof(Label) == 8) {
    if (value > static_cast<Label>(std::numeric_limits<std::int64_t>::max()))
      throw std::invalid_argument("a label above 2^63, " + std::to_string(value));
  }
  return static_cast<std::int64_t>(value);
}

inline int trailing_zeros(std::uint64_t word) {  // of a word that is not 0
#ifdef _MSC_VER
  unsigned long index;
  _BitScanForward64(&index, word);
  return static_cast<int>(index);
#else
  return __builtin_ctzll(word);
#endif
}

inline bool is_little_endian() {
  const std::uint16_t one = 1;
  std::uint8_t first;
  std::memcpy(&first, &one, 1);
  return first == 1;
}

// One past the last pixel, from `x` on, that equals the one at `x`: eight bytes at a time, then one by one.
template <typename Label>
std::int64_t end_of_run(const Label* row, std::int64_t x, std::int64_t width) {
  constexpr std::int64_t kPerWord = 8 / sizeof(Label);
  const Label value = row[x];
  std::array<Label, kPerWord> repeated;
  repeated.fill(value);
  std::uint64_t pattern, word;
  std::memcpy(&pattern, repeated.data(), 8);
  for (; x + kPerWord <= width; x += kPerWord) {
    std::memcpy(&word, row + x, 8);
    if (word == pattern) continue;
    if (!is_little_endian()) break;
    return x + trailing_zeros(word ^ pattern) / (8 * static_cast<int>(sizeof(Label)));
  }
  while (x < width && row[x] == value) ++x;
  return x;
}

// Calls visit(value, z, y, begin, end) for every run of a label but 0, row by row.
template <typename Label, typename Visit>
void for_each_run(const Label* pixels, const Shape& shape, Visit visit) {
  for (std::int64_t z = 0; z < shape[0]; ++z)
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      const Label* row = pixels + (z * shape[1] + y) * shape[2];
      for (std::int64_t x = 0; x < shape[2];) {
        const std::int64_t begin = x;
        x = end_of_run(row, begin, shape[2]);
        if (row[begin] != 0) visit(row[begin], z, y, begin, x);
      }
    }
}

struct Run {
  std::int32_t region;  // index of its label
  std::int32_t begin;   // first x
  std::int32_t end;     // one past the last x
};

// A label image as its runs. Row r = z * shape[1] + y has the runs from first[r] to first[r + 1].
struct Runs {
  Shape shape;
  std::vector<Run> runs;
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> label;  // of each region, in the order they are met

  std::int64_t n_rows() const { return shape[0] * shape[1]; }
  std::int64_t n_regions() const { return static_cast<std::int64_t>(label.size()); }
};

template <typename Label>
Runs find_runs(const Label* pixels, const Shape& shape) {
  Runs found{shape, {}, {}, {}};
  if (std::max({shape[0], shape[1], shape[2]}) > std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument("an axis longer than 2^31 pixels");
  found.first.reserve(found.n_rows() + 1);
  LabelNumbers number;
  for_each_run(pixels, shape, [&](Label value, std::int64_t z, std::int64_t y, std::int64_t begin, std::int64_t end) {
    const std::int64_t row = z * shape[1] + y;
    while (static_cast<std::int64_t>(found.first.size()) <= row)
      found.first.push_back(static_cast<std::int64_t>(found.runs.size()));
    const std::int64_t label = as_label(value);
    const std::int64_t region = number(label, found.n_regions());
    if (region == found.n_regions()) found.label.push_back(label);
    found.runs.push_back({static_cast<std::int32_t>(region), static_cast<std::int32_t>(begin),
                          static_cast<std::int32_t>(end)});
  });
  found.first.resize(found.n_rows() + 1, static_cast<std::int64_t>(found.runs.size()));
  return found;
}

// Calls visit(run, z, y) for every run, row by row.
template <typename Visit>
void for_each_run(const Runs& found, Visit visit) {
  const std::int64_t* first = found.first.data();
  for (std::int64_t z = 0; z < found.shape[0]; ++z)
    for (std::int64_t y = 0; y < found.shape[1]; ++y, ++first)
      for (std::int64_t i = first[0]; i < first[1]; ++i) visit(found.runs[i], z, y);
}

}  // namespace dunno
