// What an image says about the cells of a label image: their brightness, its spread over their pixels, and how bright the rest is.
//
// Sums over images of 8 and 16 bits are whole numbers. Others are summed as doubles, relative to each cell's first pixel, so that a
// bright image loses no digits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "images/runs.hpp"

namespace dunno {

struct Brightness {
  double total;      // summed over the pixels
  double mean;
  double deviation;  // standard deviation over the pixels
};

template <typename Pixel>
constexpr bool kSmall = std::is_integral_v<Pixel> && sizeof(Pixel) <= 2;

template <typename Pixel, bool small = kSmall<Pixel>>
struct BrightnessSums;

template <typename Pixel>
struct BrightnessSums<Pixel, true> {
  std::int64_t n = 0, sum = 0;
  std::uint64_t squares = 0;

  void add(const Pixel* begin, const Pixel* end) {
    n += end - begin;
    while (begin < end) {  // 32 bits hold the sums of so few pixels
      const Pixel* stop = std::min(end, begin + 32768);
      std::int32_t part = 0;
      std::uint64_t part_squares = 0;
      for (; begin < stop; ++begin) {
        const std::int32_t value = *begin;
        part += value - (std::is_signed_v<Pixel> ? 0 : kMiddle);
        part_squares += static_cast<std::uint32_t>(value) * static_cast<std::uint32_t>(value);
      }
      sum += part;
      squares += part_squares;
    }
  }
  Brightness finish() const {
    const std::int64_t all = sum + (std::is_signed_v<Pixel> ? 0 : n * kMiddle);
    const std::int64_t origin = all / n;
    const std::uint64_t from = static_cast<std::uint64_t>(origin), count = static_cast<std::uint64_t>(n);
    const std::int64_t rest = all - n * origin;
    const std::uint64_t moved = squares - from * (2 * static_cast<std::uint64_t>(all) - count * from);
    const double mean = static_cast<double>(rest) / static_cast<double>(n);
    const double variance = static_cast<double>(moved) / static_cast<double>(n) - mean * mean;
    return {static_cast<double>(all), static_cast<double>(all) / static_cast<double>(n),
            std::sqrt(std::max(variance, 0.0))};
  }

 private:
  static constexpr std::int32_t kMiddle = sizeof(Pixel) == 2 ? 32768 : 0;  // keeps the sum of a part within 31 bits
};

template <typename Pixel>
struct BrightnessSums<Pixel, false> {
  std::int64_t n = 0;
  double first = 0, sum = 0, squares = 0;  // of the differences from the first pixel

  void add(const Pixel* begin, const Pixel* end) {
    if (n == 0) first = static_cast<double>(*begin);
    n += end - begin;
    for (; begin < end; ++begin) {
      const double value = static_cast<double>(*begin) - first;
      sum += value;
      squares += value * value;
    }
  }
  Brightness finish() const {
    const double count = static_cast<double>(n), mean = sum / count;
    const double variance = squares / count - mean * mean;
    return {count * first + sum, first + mean, std::sqrt(std::isnan(variance) ? variance : std::max(variance, 0.0))};
  }
};

template <typename Pixel>
std::vector<Brightness> find_brightness(const Pixel* image, const Runs& found) {
  std::vector<BrightnessSums<Pixel>> sums(found.n_regions());
  for_each_run(found, [&](const Run& run, std::int64_t z, std::int64_t y) {
    const Pixel* row = image + (z * found.shape[1] + y) * found.shape[2];
    sums[run.region].add(row + run.begin, row + run.end);
  });
  std::vector<Brightness> brightness;
  for (const auto& each : sums) brightness.push_back(each.finish());
  return brightness;
}

// Calls visit(begin, end) for every stretch of pixels outside all cells.
template <typename Pixel, typename Visit>
void for_each_gap(const Pixel* image, const Runs& found, Visit visit) {
  const std::int64_t width = found.shape[2];
  for (std::int64_t r = 0; r < found.n_rows(); ++r) {
    const Pixel* row = image + r * width;
    std::int64_t x = 0;
    for (std::int64_t i = found.first[r]; i < found.first[r + 1]; ++i) {
      if (x < found.runs[i].begin) visit(row + x, row + found.runs[i].begin);
      x = found.runs[i].end;
    }
    if (x < width) visit(row + x, row + width);
  }
}

// The median of the pixels outside all cells, pixels that are no number left out; NaN where there are none.
template <typename Pixel>
double find_background(const Pixel* image, const Runs& found) {
  if constexpr (kSmall<Pixel>) {
    constexpr std::int64_t kLowest = std::numeric_limits<Pixel>::lowest();
    constexpr std::int64_t kLevels = std::int64_t{1} << (8 * sizeof(Pixel));
    std::vector<std::uint32_t> even(kLevels, 0), odd(kLevels, 0);  // equal neighbours do not wait for each other
    std::int64_t n = 0;
    for_each_gap(image, found, [&](const Pixel* begin, const Pixel* end) {
      n += end - begin;
      for (; begin + 1 < end; begin += 2) {
        ++even[begin[0] - kLowest];
        ++odd[begin[1] - kLowest];
      }
      if (begin < end) ++even[begin[0] - kLowest];
    });
    if (n == 0) return std::numeric_limits<double>::quiet_NaN();
    std::int64_t level = 0, below = even[0] + std::int64_t{odd[0]};  // pixels up to and at the level
    const auto climb = [&](std::int64_t wanted) {
      while (below <= wanted) {
        ++level;
        below += even[level] + std::int64_t{odd[level]};
      }
      return static_cast<double>(level + kLowest);
    };
    const double lower = climb((n - 1) / 2);
    return (lower + climb(n / 2)) / 2;
  } else {
    std::vector<Pixel> outside;
    outside.reserve(found.n_rows() * found.shape[2]);
    for_each_gap(image, found, [&](const Pixel* begin, const Pixel* end) { outside.insert(outside.end(), begin, end); });
    if constexpr (std::is_floating_point_v<Pixel>)
      outside.erase(std::remove_if(outside.begin(), outside.end(), [](Pixel p) { return std::isnan(p); }), outside.end());
    if (outside.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto middle = outside.begin() + static_cast<std::ptrdiff_t>(outside.size() / 2);
    std::nth_element(outside.begin(), middle, outside.end());
    const double upper = static_cast<double>(*middle);
    if (outside.size() % 2 == 1) return upper;
    return (static_cast<double>(*std::max_element(outside.begin(), middle)) + upper) / 2;
  }
}

}  // namespace dunno
