// Of how many connected pieces each label is: pixels that share a face, an edge or a corner are connected (8 neighbours in 2D, 26
// in 3D).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "images/runs.hpp"

namespace dunno {

// Sets that can be joined; each is known by one of its members.
class Sets {
 public:
  explicit Sets(std::int64_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::int64_t{0}); }

  // Whether they were two sets until now.
  bool join(std::int64_t a, std::int64_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

  std::int64_t root(std::int64_t a) {
    while (parent_[a] != a) a = parent_[a] = parent_[parent_[a]];
    return a;
  }

 private:
  std::vector<std::int64_t> parent_;
};

// Every run is a piece until it is joined to one of the same label in a row beside its own.
inline std::vector<std::int64_t> count_pieces(const Runs& found) {
  std::vector<std::int64_t> pieces(found.n_regions(), 0);
  for (const Run& run : found.runs) ++pieces[run.region];
  Sets sets(static_cast<std::int64_t>(found.runs.size()));
  const auto join_rows = [&](std::int64_t row, std::int64_t other) {
    std::int64_t j = found.first[other];
    const std::int64_t end = found.first[other + 1];
    for (std::int64_t i = found.first[row]; i < found.first[row + 1]; ++i) {
      const Run& run = found.runs[i];
      while (j < end && found.runs[j].end < run.begin) ++j;
      for (std::int64_t k = j; k < end && found.runs[k].begin <= run.end; ++k)
        if (found.runs[k].region == run.region && sets.join(i, k)) --pieces[run.region];
    }
  };
  const std::int64_t height = found.shape[1];
  for (std::int64_t row = 0; row < found.n_rows(); ++row) {
    const std::int64_t y = row % height;
    if (y > 0) join_rows(row, row - 1);
    if (row < height) continue;
    for (std::int64_t shift = -1; shift <= 1; ++shift)
      if (y + shift >= 0 && y + shift < height) join_rows(row, row - height + shift);
  }
  return pieces;
}

}  // namespace dunno
