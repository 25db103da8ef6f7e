// A mask's two halves: two-means of its pixels.
//
// The border between two centres is a plane, so a run is cut in at most two, and sums over its pixels are whole numbers: a round
// costs as much as the mask has rows, and ends when the sums stay.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "images/mask_runs.hpp"

namespace dunno {

struct PixelSums {
  std::int64_t n = 0, z = 0, y = 0, x = 0;

  void add(const MaskRun& run, std::int64_t begin, std::int64_t end) {
    const std::int64_t length = end - begin;
    n += length;
    z += length * run.z;
    y += length * run.y;
    x += length * (begin + end - 1) / 2;
  }
  Point centre(const Point& scale) const {
    const double count = static_cast<double>(n);
    return {scale[0] * (static_cast<double>(z) / count), scale[1] * (static_cast<double>(y) / count),
            scale[2] * (static_cast<double>(x) / count)};
  }
  bool operator==(const PixelSums& other) const { return n == other.n && z == other.z && y == other.y && x == other.x; }
};

// The plane between two centres.
struct Border {
  Point normal;  // from the second centre to the first
  double at;     // first: where the pixel's place along the normal is at least this

  Border(const Point& first, const Point& second) : normal{}, at(0) {
    double length = 0;
    for (int k = 0; k < 3; ++k) length += (first[k] - second[k]) * (first[k] - second[k]);
    for (int k = 0; k < 3; ++k) {
      normal[k] = (first[k] - second[k]) / std::sqrt(length);
      at += normal[k] * (first[k] + second[k]) / 2;
    }
  }

  // Where the run is cut, and whether what lies before that is the first one's. A pixel on the border is the first one's: whatever
  // is nearer to it than a rounding error, on every machine.
  std::pair<std::int64_t, bool> cut(const MaskRun& run, const Point& scale) const {
    const double step = normal[2] * scale[2];
    const double rest = at - normal[0] * scale[0] * static_cast<double>(run.z) - normal[1] * scale[1] * static_cast<double>(run.y);
    const double slack = 1e-9 * scale[2];
    if (std::abs(step) < slack) return {run.end, rest <= slack};
    const double low = static_cast<double>(run.begin), high = static_cast<double>(run.end);
    if (step > 0) return {static_cast<std::int64_t>(std::clamp(std::ceil((rest - slack) / step), low, high)), false};
    return {static_cast<std::int64_t>(std::clamp(std::floor((rest - slack) / step) + 1, low, high)), true};
  }
};

struct Halves {
  Point first, second;  // their centroids
  double ratio;         // log of the first one's area over the second one's
};

constexpr int kHalvingRounds = 20;

// Beginning so many standard deviations from the centroid, on both sides along an axis; there end those of a pixel, which is not cut.
inline Halves find_halves(const Mask& mask, const Point& centre, const Point& axis, double start, const Point& scale) {
  Point first, second;
  for (int k = 0; k < 3; ++k) {
    first[k] = centre[k] + start * axis[k];
    second[k] = centre[k] - start * axis[k];
  }
  PixelSums all;
  for (const MaskRun& run : mask.runs) all.add(run, run.begin, run.end);
  if (all.n < 2) return {first, second, 0.0};
  PixelSums before;
  for (int round = 0; round < kHalvingRounds; ++round) {
    const Border border(first, second);
    PixelSums one;
    for (const MaskRun& run : mask.runs) {
      const auto [at, begins] = border.cut(run, scale);
      if (begins)
        one.add(run, run.begin, at);
      else
        one.add(run, at, run.end);
    }
    if (one.n == 0 || one.n == all.n || one == before) break;
    before = one;
    first = one.centre(scale);
    second = PixelSums{all.n - one.n, all.z - one.z, all.y - one.y, all.x - one.x}.centre(scale);
  }
  const double n = static_cast<double>(std::max<std::int64_t>(before.n, 1));
  return {first, second, std::log(n / (static_cast<double>(all.n) - n))};
}

inline Sides halved(const Mask& mask, const Halves& halves, const Point& scale) {
  const Border border(halves.first, halves.second);
  Sides sides;
  for (const MaskRun& run : mask.runs) {
    const auto [at, begins] = border.cut(run, scale);
    if (at > run.begin) sides.add(at, !begins);
    if (at < run.end) sides.add(run.end, begins);
  }
  return sides;
}

}  // namespace dunno
