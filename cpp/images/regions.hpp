// Where the cells of a label image are, how large, and of what shape.
//
// All sums are whole numbers, modulo 2^64 on the way, so that nothing depends on the order of the pixels or is lost by
// cancellation, however far from the origin a cell lies.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "images/runs.hpp"

namespace dunno {

using Triple = std::array<std::int64_t, 3>;

struct Region {
  static constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  std::int64_t label;
  std::int64_t area = 0;
  Triple sum{0, 0, 0};  // of the pixels' z, y, x
  Triple low{kFar, kFar, kFar};
  Triple high{-1, -1, -1};  // one past the last pixel

  void add(std::int64_t z, std::int64_t y, std::int64_t begin, std::int64_t end) {
    const std::int64_t length = end - begin;
    area += length;
    sum[0] += length * z;
    sum[1] += length * y;
    sum[2] += length * (begin + end - 1) / 2;
    low = {std::min(low[0], z), std::min(low[1], y), std::min(low[2], begin)};
    high = {std::max(high[0], z + 1), std::max(high[1], y + 1), std::max(high[2], end)};
  }
};

// Sums of products of coordinates: zz, yy, xx, zy, zx, yx.
struct Products {
  std::array<std::uint64_t, 6> sum{0, 0, 0, 0, 0, 0};

  void add(std::uint64_t z, std::uint64_t y, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t n = end - begin;
    const std::uint64_t within = n * (n - 1) / 2, odd = 2 * n - 1;  // within: the sum of 0, 1, ..., n - 1
    const std::uint64_t squares = within % 3 == 0 ? within / 3 * odd : within * (odd / 3);
    const std::uint64_t x = n * begin + within;
    sum[0] += n * z * z;
    sum[1] += n * y * y;
    sum[2] += n * begin * begin + 2 * begin * within + squares;
    sum[3] += n * z * y;
    sum[4] += z * x;
    sum[5] += y * x;
  }
};

// (9) second central moments of a region's pixel centres, in pixels: zz, zy, zx, yz, ...
//
// The sums are moved to the whole pixel before the centroid, exactly; what is left to subtract in floating point is below 1.
inline std::array<double, 9> covariance(const Region& region, const Products& products) {
  const std::uint64_t n = static_cast<std::uint64_t>(region.area);
  std::array<std::uint64_t, 3> origin, rest;
  std::array<double, 3> mean;
  for (int a = 0; a < 3; ++a) {
    origin[a] = static_cast<std::uint64_t>(region.sum[a] / region.area);
    rest[a] = static_cast<std::uint64_t>(region.sum[a]) - n * origin[a];
    mean[a] = static_cast<double>(rest[a]) / static_cast<double>(n);
  }
  constexpr int kPlace[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
  std::array<double, 9> found;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      const std::uint64_t sum_a = static_cast<std::uint64_t>(region.sum[a]);
      const std::uint64_t moved = products.sum[kPlace[a][b]] - origin[b] * sum_a - origin[a] * rest[b];
      found[3 * a + b] = static_cast<double>(static_cast<std::int64_t>(moved)) / static_cast<double>(n) - mean[a] * mean[b];
    }
  return found;
}

// Area, coordinate sums and bounding box of every label but 0, in ascending order of labels: all that perturbed masks need.
template <typename Label>
std::vector<Region> measure(const Label* pixels, const Shape& shape) {
  std::vector<Region> regions;
  LabelNumbers number;
  for_each_run(pixels, shape, [&](Label value, std::int64_t z, std::int64_t y, std::int64_t begin, std::int64_t end) {
    const std::int64_t label = as_label(value);
    const std::int64_t r = number(label, static_cast<std::int64_t>(regions.size()));
    if (r == static_cast<std::int64_t>(regions.size())) regions.push_back(Region{label});
    regions[r].add(z, y, begin, end);
  });
  std::sort(regions.begin(), regions.end(), [](const Region& a, const Region& b) { return a.label < b.label; });
  return regions;
}

}  // namespace dunno
