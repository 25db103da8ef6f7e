// How much of a cell's outline touches other cells.
//
// A pixel of a cell is on its outline if one of its 4 neighbours (6 in 3D) is not of the cell, and touches if one of them is of
// another cell. What lies beyond the image's border is unknown: there is no neighbour, so the border alone makes no outline.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "images/runs.hpp"

namespace dunno {

struct Outline {
  std::int64_t pixels = 0;
  std::int64_t touching = 0;

  void add(bool outer, bool touches) {
    pixels += outer;
    touching += touches;
  }
};

// The rows above and below one, and those before and behind it where there is depth; the row itself where there is none, in
// which every pixel has an equal neighbour.
template <typename Label, int kNeighbours>
struct Around {
  std::array<const Label*, kNeighbours> rows;

  bool outer(std::int64_t x, Label value) const {
    bool found = false;
    for (const Label* row : rows) found |= row[x] != value;
    return found;
  }
  bool touches(std::int64_t x, Label value) const {
    bool found = false;
    for (const Label* row : rows) found |= (row[x] != value) & (row[x] != 0);
    return found;
  }
};

template <typename Label, int kNeighbours>
std::vector<Outline> outlines_among(const Label* pixels, const Runs& found) {
  const std::int64_t depth = found.shape[0], height = found.shape[1], width = found.shape[2];
  std::vector<Outline> outlines(found.n_regions());
  for_each_run(found, [&](const Run& run, std::int64_t z, std::int64_t y) {
    const Label* row = pixels + (z * height + y) * width;
    Around<Label, kNeighbours> around;
    around.rows[0] = y > 0 ? row - width : row;
    around.rows[1] = y + 1 < height ? row + width : row;
    if constexpr (kNeighbours == 4) {
      around.rows[2] = z > 0 ? row - width * height : row;
      around.rows[3] = z + 1 < depth ? row + width * height : row;
    }
    const Label value = row[run.begin];
    Outline& outline = outlines[run.region];
    const std::int64_t first = run.begin, last = run.end - 1;
    const bool left = first > 0, right = last + 1 < width;
    const bool left_touches = left && row[first - 1] != 0, right_touches = right && row[last + 1] != 0;
    if (first == last) {
      outline.add(left || right || around.outer(first, value),
                  left_touches || right_touches || around.touches(first, value));
      return;
    }
    outline.add(left || around.outer(first, value), left_touches || around.touches(first, value));
    outline.add(right || around.outer(last, value), right_touches || around.touches(last, value));
    std::int32_t between = 0, touching = 0;
    for (std::int64_t x = first + 1; x < last; ++x) {
      between += around.outer(x, value);
      touching += around.touches(x, value);
    }
    outline.pixels += between;
    outline.touching += touching;
  });
  return outlines;
}

template <typename Label>
std::vector<Outline> find_outlines(const Label* pixels, const Runs& found) {
  return found.shape[0] == 1 ? outlines_among<Label, 2>(pixels, found) : outlines_among<Label, 4>(pixels, found);
}

}  // namespace dunno
