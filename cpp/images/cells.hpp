// Everything that is measured of one frame's cells.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "images/brightness.hpp"
#include "images/digest.hpp"
#include "images/outline.hpp"
#include "images/pieces.hpp"
#include "images/regions.hpp"
#include "images/runs.hpp"

namespace dunno {

struct Cell {
  Region region;
  std::array<double, 9> covariance;  // of the pixels' centres: zz, zy, zx, yz, ...
  Outline outline;
  std::int64_t pieces;
};

// One frame's cells, in the order in which their labels are met.
struct FrameCells {
  std::vector<Cell> cells;
  std::uint64_t digest;
};

template <typename Label>
FrameCells measure_cells(const Label* pixels, const Runs& found) {
  std::vector<Region> regions;
  for (const std::int64_t label : found.label) regions.push_back(Region{label});
  std::vector<Products> products(regions.size());
  for_each_run(found, [&](const Run& run, std::int64_t z, std::int64_t y) {
    regions[run.region].add(z, y, run.begin, run.end);
    products[run.region].add(z, y, run.begin, run.end);
  });
  const std::vector<Outline> outlines = find_outlines(pixels, found);
  const std::vector<std::int64_t> pieces = count_pieces(found);
  FrameCells frame{{}, digest(found)};
  for (std::size_t r = 0; r < regions.size(); ++r)
    frame.cells.push_back({regions[r], covariance(regions[r], products[r]), outlines[r], pieces[r]});
  return frame;
}

// Regions by ascending label.
inline std::vector<std::int64_t> by_label(const Runs& found) {
  std::vector<std::int64_t> order(found.label.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return found.label[a] < found.label[b]; });
  return order;
}

}  // namespace dunno
