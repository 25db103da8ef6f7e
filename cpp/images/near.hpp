// Which masks touch or nearly do: pairs, and how far apart their nearest pixels' centres are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "images/mask_runs.hpp"

namespace dunno {

struct NearPair {
  std::int64_t first, second;  // regions
  double distance;
};

// Rows are compared with those that follow within reach; of two rows, runs with those that are not too far along x.
inline std::vector<NearPair> find_near(const Runs& found, double reach, const Point& scale) {
  std::unordered_map<std::uint64_t, double> nearest;
  const double square = reach * reach * (1 + 1e-9);
  const std::int64_t height = found.shape[1];
  const auto rows_within = [&](int axis, std::int64_t most) {
    return std::min(static_cast<std::int64_t>(std::floor(reach / scale[axis] + 1e-9)), most - 1);
  };
  const auto compare = [&](std::int64_t row, std::int64_t other, double across) {
    const std::int64_t along = static_cast<std::int64_t>(std::floor(std::sqrt(square - across) / scale[2] + 1e-9));
    std::int64_t j = found.first[other];
    for (std::int64_t i = found.first[row]; i < found.first[row + 1]; ++i) {
      const Run& run = found.runs[i];
      while (j < found.first[other + 1] && found.runs[j].end - 1 + along < run.begin) ++j;
      for (std::int64_t k = j; k < found.first[other + 1] && found.runs[k].begin <= run.end - 1 + along; ++k) {
        const Run& next = found.runs[k];
        if (next.region == run.region) continue;
        const double x = scale[2] * static_cast<double>(std::max({0, next.begin - run.end + 1, run.begin - next.end + 1}));
        const std::uint64_t key = (static_cast<std::uint64_t>(std::min(run.region, next.region)) << 32) |
                                  static_cast<std::uint64_t>(std::max(run.region, next.region));
        const auto [place, is_new] = nearest.emplace(key, across + x * x);
        if (!is_new) place->second = std::min(place->second, across + x * x);
      }
    }
  };
  const std::int64_t deep = rows_within(0, found.shape[0]), far = rows_within(1, height);
  for (std::int64_t z = 0; z < found.shape[0]; ++z)
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t dz = 0; dz <= deep && z + dz < found.shape[0]; ++dz)
        for (std::int64_t dy = dz == 0 ? 0 : -far; dy <= far; ++dy) {
          const double away_z = static_cast<double>(dz) * scale[0], away_y = static_cast<double>(dy) * scale[1];
          const double across = away_z * away_z + away_y * away_y;
          if (y + dy < 0 || y + dy >= height || across > square) continue;
          compare(z * height + y, (z + dz) * height + y + dy, across);
        }
  std::vector<NearPair> pairs;
  for (const auto& [key, least] : nearest)
    pairs.push_back({static_cast<std::int64_t>(key >> 32), static_cast<std::int64_t>(key & 0xffffffffu), std::sqrt(least)});
  return pairs;
}

}  // namespace dunno
