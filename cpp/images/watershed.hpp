// A mask cut at its neck: where two summits of the distance to its outline part.
//
// Pixels are taken from the deepest on. Each joins the basin of its deepest neighbour or begins one; where two basins meet, there is
// a saddle. The saddles make a tree of basins, which is cut at one of them, the neck: the one that is worth most, by how high the lower
// summit rises above it, times the root of the share of the mask that is cut off, so that dents of the outline count for little. On
// masks that hold two annotated cells that overlaps them better than two-means, or than a watershed of the image
// (benchmarks/parts.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "images/depths.hpp"
#include "images/pieces.hpp"

namespace dunno {

constexpr double kLeastWorth = 0.25;  // pixels along their shortest side; less is an uneven outline (benchmarks/parts.py)

struct Saddle {
  std::int32_t first, second;  // basins
  float rise;                  // of the lower summit above it
};

struct Basins {
  std::vector<std::int32_t> of;  // of each pixel of the block; -1 outside
  std::vector<std::int64_t> area;
  std::vector<Saddle> saddles;
};

// A block's pixels from the deepest on, those of one level in order.
inline std::vector<std::int32_t> descent(const Block& block) {
  const auto level = [&](std::int32_t pixel) { return static_cast<std::size_t>(block.squares[pixel] + 1e-3f); };
  std::vector<std::int32_t> next;  // by level: where its next pixel goes
  for (const std::int32_t pixel : block.inside) {
    if (level(pixel) >= next.size()) next.resize(level(pixel) + 1, 0);
    ++next[level(pixel)];
  }
  std::int32_t deeper = 0;
  for (auto n = next.rbegin(); n != next.rend(); ++n) {
    deeper += *n;
    *n = deeper - *n;
  }
  std::vector<std::int32_t> order(block.inside.size());
  for (const std::int32_t pixel : block.inside) order[next[level(pixel)]++] = pixel;
  return order;
}

// Which basins meet, from the highest saddle on; known by the one with the highest summit.
class Lakes {
 public:
  explicit Lakes(const std::vector<float>& summits) : summits_(summits), lake_(summits.size()) {
    std::iota(lake_.begin(), lake_.end(), 0);
  }
  void meet(std::int32_t one, std::int32_t other, float height, std::vector<Saddle>& saddles) {
    std::int32_t a = root(one), b = root(other);
    if (a == b) return;
    if (summits_[a] < summits_[b]) std::swap(a, b);
    saddles.push_back({one, other, summits_[b] - height});
    lake_[b] = a;
  }

 private:
  std::int32_t root(std::int32_t basin) {
    while (lake_[basin] != basin) basin = lake_[basin] = lake_[lake_[basin]];
    return basin;
  }
  const std::vector<float>& summits_;
  std::vector<std::int32_t> lake_;
};

// The least value among each pixel and its neighbours, an axis after the other: a block's border is never the least.
inline std::vector<std::int32_t> least_around(std::vector<std::int32_t> values, const Block& block) {
  std::vector<std::int32_t> least = values;
  const std::int64_t size = static_cast<std::int64_t>(values.size()), row = block.size[2], plane = row * block.size[1];
  for (const std::int64_t step : {std::int64_t{1}, row, plane}) {
    if (2 * step >= size) break;  // no depth
    for (std::int64_t i = step; i < size - step; ++i)
      least[i] = std::min(values[i], std::min(values[i - step], values[i + step]));
    std::swap(values, least);
  }
  return values;
}

// Two neighbours, which share a face, an edge or a corner, in different basins.
struct Meeting {
  std::int32_t rank;  // of the pixel that is less deep
  std::int32_t first, second;

  bool operator<(const Meeting& other) const {
    return std::tie(rank, first, second) < std::tie(other.rank, other.first, other.second);
  }
};

inline std::vector<Meeting> find_meetings(const Block& block, const std::vector<std::int32_t>& of, const std::vector<std::int32_t>& rank) {
  const std::int64_t row = block.size[2], plane = row * block.size[1];
  std::vector<std::int64_t> later{1, row - 1, row, row + 1};
  if (block.size[0] > 1)
    for (std::int64_t y = -1; y <= 1; ++y)
      for (std::int64_t x = -1; x <= 1; ++x) later.push_back(plane + y * row + x);
  std::vector<Meeting> meetings;
  for (const std::int32_t pixel : block.inside)
    for (const std::int64_t step : later)
      if (of[pixel + step] != of[pixel] && of[pixel + step] >= 0)
        meetings.push_back({std::max(rank[pixel], rank[pixel + step]), of[pixel], of[pixel + step]});
  return meetings;
}

// None where there is one basin only.
inline Basins flood(const Block& block) {
  const std::vector<std::int32_t> order = descent(block);
  const std::int32_t n = static_cast<std::int32_t>(order.size());
  std::vector<std::int32_t> rank(block.squares.size(), n);
  for (std::int32_t r = 0; r < n; ++r) rank[order[r]] = r;
  const std::vector<std::int32_t> deepest = least_around(rank, block);
  Basins found;
  std::vector<float> summits;
  for (std::int32_t r = 0; r < n; ++r)
    if (deepest[order[r]] == r) summits.push_back(std::sqrt(block.squares[order[r]]));
  if (summits.size() < 2) return found;
  found.area.assign(summits.size(), 0);
  found.of.assign(block.squares.size(), -1);
  std::int32_t next = 0;
  for (std::int32_t r = 0; r < n; ++r) {
    const std::int32_t pixel = order[r];
    found.of[pixel] = deepest[pixel] == r ? next++ : found.of[order[deepest[pixel]]];
    ++found.area[found.of[pixel]];
  }
  std::vector<Meeting> meetings = find_meetings(block, found.of, rank);
  std::sort(meetings.begin(), meetings.end());
  Lakes lakes(summits);
  for (const Meeting& each : meetings)
    lakes.meet(each.first, each.second, std::sqrt(block.squares[order[each.rank]]), found.saddles);
  for (std::int32_t basin = 1; basin < next; ++basin) lakes.meet(0, basin, 0.0f, found.saddles);  // of several pieces
  return found;
}

// On which side of a saddle each basin lies: the sets that all other saddles join.
inline Sets sides_of(const Basins& basins, std::size_t saddle) {
  Sets sets(static_cast<std::int64_t>(basins.area.size()));
  for (std::size_t s = 0; s < basins.saddles.size(); ++s)
    if (s != saddle) sets.join(basins.saddles[s].first, basins.saddles[s].second);
  return sets;
}

struct Neck {
  double worth = 0;          // in pixels along their shortest side
  std::vector<bool> beyond;  // which basins lie on the other side
};

inline Neck find_neck(const Basins& basins, std::int64_t area) {
  std::vector<std::size_t> order(basins.saddles.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return basins.saddles[a].rise > basins.saddles[b].rise; });
  Neck neck;
  for (const std::size_t s : order) {
    if (basins.saddles[s].rise * std::sqrt(0.5) <= neck.worth) break;  // nor are those that follow worth more
    Sets sets = sides_of(basins, s);
    const std::int64_t side = sets.root(basins.saddles[s].first);
    std::vector<bool> beyond;
    std::int64_t cut_off = 0;
    for (std::size_t b = 0; b < basins.area.size(); ++b) {
      beyond.push_back(sets.root(static_cast<std::int64_t>(b)) != side);
      if (beyond.back()) cut_off += basins.area[b];
    }
    const double share = static_cast<double>(std::min(cut_off, area - cut_off)) / static_cast<double>(area);
    const double worth = basins.saddles[s].rise * std::sqrt(share);
    if (worth <= neck.worth) continue;
    neck = {worth, beyond};
  }
  return neck;
}

struct Parted {
  double worth = 0;  // of the neck; 0 where there is none
  Sides sides;       // nothing where it is worth too little
};

// The mask on either side of its neck.
inline Parted part(const Mask& mask, const Shape& shape, const Point& scale) {
  const Block block = find_depths(mask, shape, scale);
  const Basins basins = flood(block);
  const Neck neck = find_neck(basins, static_cast<std::int64_t>(block.inside.size()));
  Parted parted;
  parted.worth = neck.worth;
  if (neck.worth <= kLeastWorth) return parted;
  for (const MaskRun& run : mask.runs)
    for (std::int64_t x = run.begin; x < run.end;) {
      const auto is_beyond = [&] { return neck.beyond[basins.of[block.index(run.z, run.y, x)]]; };
      const bool second = is_beyond();
      while (x < run.end && is_beyond() == second) ++x;
      parted.sides.add(x, second);
    }
  return parted;
}

}  // namespace dunno
