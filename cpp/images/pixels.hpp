// What the tracker needs to know of a label image, each from one pass over its pixels.
//
// Both passes walk along runs of equal pixels, so that the work per pixel is one comparison. Sums are whole
// numbers: the results do not depend on the order of the pixels.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace dunno {

using Shape = std::array<std::int64_t, 3>;  // z, y, x; a 2D image has one z

struct Region {
  std::int64_t label;
  std::int64_t area = 0;
  std::array<std::int64_t, 3> sum{0, 0, 0};  // of the pixels' z, y, x
  std::array<std::int64_t, 3> low{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max(),
                                  std::numeric_limits<std::int64_t>::max()};
  std::array<std::int64_t, 3> high{-1, -1, -1};  // one past the last pixel
};

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

// Area, coordinate sums and bounding box of every label but 0, in ascending order of labels.
template <typename Label>
std::vector<Region> measure(const Label* pixels, const Shape& shape) {
  std::vector<Region> regions;
  LabelNumbers number;
  for (std::int64_t z = 0; z < shape[0]; ++z)
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      const Label* row = pixels + (z * shape[1] + y) * shape[2];
      for (std::int64_t x = 0; x < shape[2];) {
        const Label value = row[x];
        const std::int64_t start = x;
        while (x < shape[2] && row[x] == value) ++x;
        if (value == 0) continue;
        const std::int64_t label = as_label(value);
        const std::int64_t r = number(label, static_cast<std::int64_t>(regions.size()));
        if (r == static_cast<std::int64_t>(regions.size())) regions.push_back(Region{label});
        Region& region = regions[r];
        const std::int64_t length = x - start;
        region.area += length;
        region.sum[0] += length * z;
        region.sum[1] += length * y;
        region.sum[2] += length * (start + x - 1) / 2;
        region.low = {std::min(region.low[0], z), std::min(region.low[1], y), std::min(region.low[2], start)};
        region.high = {std::max(region.high[0], z + 1), std::max(region.high[1], y + 1), std::max(region.high[2], x)};
      }
    }
  std::sort(regions.begin(), regions.end(), [](const Region& a, const Region& b) { return a.label < b.label; });
  return regions;
}

}  // namespace dunno
