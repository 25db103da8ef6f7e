// The runs of some masks, one mask after the other, so that each can be looked at alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "images/runs.hpp"

namespace dunno {

using Point = std::array<double, 3>;  // z, y, x, physical

struct MaskRun {
  std::int64_t z, y, begin, end;
};

// One mask, row by row.
struct Mask {
  std::vector<MaskRun> runs;

  std::int64_t area() const {
    std::int64_t pixels = 0;
    for (const MaskRun& run : runs) pixels += run.end - run.begin;
    return pixels;
  }
};

// Those of the regions that have a number, at that number; -1 for those that are not looked at.
inline std::vector<Mask> collect_masks(const Runs& found, const std::vector<std::int64_t>& number, std::size_t n) {
  std::vector<Mask> masks(n);
  for_each_run(found, [&](const Run& run, std::int64_t z, std::int64_t y) {
    if (number[run.region] >= 0) masks[number[run.region]].runs.push_back({z, y, run.begin, run.end});
  });
  return masks;
}

// A mask cut in two: its runs, each cut where the side changes. In order, so that those of a run follow each other.
struct Sides {
  struct Piece {
    std::int64_t end;  // one past the last x
    bool second;
  };
  std::vector<Piece> pieces;

  void add(std::int64_t end, bool second) { pieces.push_back({end, second}); }
  void swap() {
    for (Piece& piece : pieces) piece.second = !piece.second;
  }
};

}  // namespace dunno
