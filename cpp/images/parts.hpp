// Masks cut in two.
//
// A mask is cut at its neck (watershed.hpp), and where it has none in its halves. Masks that are nearly ellipses have no neck that is
// worth a look: three in four of a program's masks are so, and their parts overlap annotated cells as well (benchmarks/parts.py).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "images/ellipse.hpp"
#include "images/halves.hpp"
#include "images/mask_runs.hpp"
#include "images/watershed.hpp"

namespace dunno {

constexpr double kStart = 0.8;    // standard deviations from the centroid to where a half begins; those of an ellipse end near
constexpr double kAsFull = 0.96;  // nearly an ellipse

struct AskedMask {
  std::int64_t region;
  bool parts;  // or its halves only
};

struct Parts {
  std::vector<Halves> halves;     // of each mask asked
  std::vector<double> neck;       // what it is worth; not a number where parts were not asked for
  std::vector<std::int64_t> cut;  // which of the masks asked are cut: those with two pixels
  Runs runs;                      // regions 2 k and 2 k + 1 are the parts of the k-th one that is cut
};

// The first part is the one farther along the mask's axis.
inline void order_parts(const Mask& mask, const Point& axis, const Point& scale, Sides& sides) {
  PixelSums first, second;
  auto piece = sides.pieces.begin();
  for (const MaskRun& run : mask.runs)
    for (std::int64_t x = run.begin; x < run.end; x = piece++->end) (piece->second ? second : first).add(run, x, piece->end);
  const Point one = first.centre(scale), other = second.centre(scale);
  double along = 0;
  for (int k = 0; k < 3; ++k) along += axis[k] * (one[k] - other[k]);
  if (along < 0) sides.swap();
}

// The runs of masks that are cut, each replaced by those of its parts; the order is that of the image.
inline Runs cut_runs(const Runs& found, const std::vector<std::int64_t>& number, const std::vector<Sides>& sides) {
  Runs parts{found.shape, {}, {}, {}};
  std::vector<std::size_t> next(sides.size(), 0);
  parts.first.reserve(found.first.size());
  for (std::int64_t row = 0; row < found.n_rows(); ++row) {
    parts.first.push_back(static_cast<std::int64_t>(parts.runs.size()));
    for (std::int64_t i = found.first[row]; i < found.first[row + 1]; ++i) {
      const Run& run = found.runs[i];
      const std::int64_t k = number[run.region];
      if (k < 0) continue;
      for (std::int32_t x = run.begin; x < run.end;) {
        const Sides::Piece& piece = sides[k].pieces[next[k]++];
        const std::int32_t end = static_cast<std::int32_t>(piece.end);
        parts.runs.push_back({static_cast<std::int32_t>(2 * k + piece.second), x, end});
        x = end;
      }
    }
  }
  parts.first.push_back(static_cast<std::int64_t>(parts.runs.size()));
  return parts;
}

// Parts are labelled from `first_label` on.
inline Parts find_parts(const Runs& found, const std::vector<AskedMask>& asked, std::int64_t first_label, const Point& scale) {
  std::vector<std::int64_t> place(found.n_regions(), -1), number(found.n_regions(), -1);
  for (std::size_t k = 0; k < asked.size(); ++k) place[asked[k].region] = static_cast<std::int64_t>(k);
  const std::vector<Mask> masks = collect_masks(found, place, asked.size());
  Parts parts;
  std::vector<Sides> sides;
  for (std::size_t k = 0; k < asked.size(); ++k) {
    const Ellipse ellipse = ellipse_of(masks[k], found.shape, scale);
    parts.halves.push_back(find_halves(masks[k], ellipse.centre, ellipse.axis, kStart, scale));
    parts.neck.push_back(asked[k].parts ? 0 : std::numeric_limits<double>::quiet_NaN());
    if (!asked[k].parts || masks[k].area() < 2) continue;
    Parted parted;
    if (ellipse.fullness < kAsFull) parted = part(masks[k], found.shape, scale);
    if (parted.sides.pieces.empty()) parted.sides = halved(masks[k], parts.halves.back(), scale);
    order_parts(masks[k], ellipse.axis, scale, parted.sides);
    parts.neck.back() = parted.worth;
    number[asked[k].region] = static_cast<std::int64_t>(sides.size());
    parts.cut.push_back(static_cast<std::int64_t>(k));
    sides.push_back(std::move(parted.sides));
  }
  parts.runs = cut_runs(found, number, sides);
  for (std::size_t part = 0; part < 2 * sides.size(); ++part)
    parts.runs.label.push_back(first_label + static_cast<std::int64_t>(part));
  return parts;
}

// The larger part of each mask that is cut.
inline std::vector<std::int64_t> larger_parts(const Runs& parts) {
  std::vector<std::int64_t> area(parts.n_regions(), 0), larger;
  for (const Run& run : parts.runs) area[run.region] += run.end - run.begin;
  for (std::int64_t part = 0; part < parts.n_regions(); part += 2) larger.push_back(area[part + 1] > area[part] ? part + 1 : part);
  return larger;
}

// Writes each run's label.
inline void paint(const Runs& runs, std::vector<std::int32_t>& image) {
  for_each_run(runs, [&](const Run& run, std::int64_t z, std::int64_t y) {
    const auto row = image.begin() + (z * runs.shape[1] + y) * runs.shape[2];
    std::fill(row + run.begin, row + run.end, static_cast<std::int32_t>(runs.label[run.region]));
  });
}

}  // namespace dunno
