// How deep each pixel of a mask lies: its squared distance to the nearest pixel outside.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "images/mask_runs.hpp"

namespace dunno {

// A box around a mask, with one more pixel on each side along every axis that the image has: nothing lies beyond its border.
struct Block {
  std::array<std::int64_t, 3> low{0, 0, 0}, size{1, 1, 1};
  std::vector<float> squares;        // 0 outside of the mask; pixels along their shortest side
  std::vector<std::int32_t> inside;  // the mask's pixels, row by row

  std::int64_t index(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return ((z - low[0]) * size[1] + (y - low[1])) * size[2] + (x - low[2]);
  }
};

// Lowers each of n rows to the least of what it and other rows hold, plus the square of how far away these are. The first row and the
// last one are 0, so what lies farther away than they do lowers none.
inline void lower_rows(float* squares, std::int64_t n, std::int64_t stride, std::int64_t length, float step, std::vector<float>& before) {
  before.resize(n * length);
  for (std::int64_t i = 0; i < n; ++i) std::copy_n(squares + i * stride, length, &before[i * length]);
  for (std::int64_t i = 1; i + 1 < n; ++i) {
    float* row = squares + i * stride;
    const float highest = *std::max_element(row, row + length);
    for (std::int64_t k = 1; k <= std::min(i, n - 1 - i); ++k) {
      const float away = step * step * static_cast<float>(k * k);
      if (away >= highest) break;
      const float *above = &before[(i - k) * length], *below = &before[(i + k) * length];
      for (std::int64_t x = 0; x < length; ++x) row[x] = std::min(row[x], std::min(above[x], below[x]) + away);
    }
  }
}

inline Block find_depths(const Mask& mask, const Shape& shape, const Point& scale) {
  const int axes = shape[0] == 1 ? 2 : 3;
  const double unit = *std::min_element(scale.end() - axes, scale.end());
  std::array<std::int64_t, 3> high{-1, -1, -1};
  Block block;
  block.low = {mask.runs[0].z, mask.runs[0].y, mask.runs[0].begin};
  for (const MaskRun& run : mask.runs) {
    block.low = {std::min(block.low[0], run.z), std::min(block.low[1], run.y), std::min(block.low[2], run.begin)};
    high = {std::max(high[0], run.z), std::max(high[1], run.y), std::max(high[2], run.end - 1)};
  }
  for (int a = 3 - axes; a < 3; ++a) {
    block.low[a] -= 1;
    block.size[a] = high[a] - block.low[a] + 2;
  }
  const std::int64_t row = block.size[2], plane = block.size[1] * row;
  block.squares.assign(block.size[0] * plane, 0.0f);
  block.inside.reserve(mask.area());
  for (const MaskRun& run : mask.runs) {
    const std::int64_t begin = block.index(run.z, run.y, run.begin), length = run.end - run.begin;
    for (std::int64_t i = 0; i < length; ++i) {
      const float away = static_cast<float>(scale[2] / unit) * static_cast<float>(std::min(i + 1, length - i));
      block.squares[begin + i] = away * away;
      block.inside.push_back(static_cast<std::int32_t>(begin + i));
    }
  }
  std::vector<float> before;
  for (std::int64_t z = 0; z < block.size[0]; ++z)
    lower_rows(&block.squares[z * plane], block.size[1], row, row, static_cast<float>(scale[1] / unit), before);
  if (axes == 3) lower_rows(block.squares.data(), block.size[0], plane, plane, static_cast<float>(scale[0] / unit), before);
  return block;
}

}  // namespace dunno
