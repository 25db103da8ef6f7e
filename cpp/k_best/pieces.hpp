// The part of a problem that can still change, split into pieces that do not touch each other.
#pragma once

#include <vector>

#include "flow/flow.hpp"
#include "k_best/gaps.hpp"
#include "problem/problem.hpp"

namespace dunno {

// A problem of its own, with its MAP. `problem.given` holds indices of edges in the whole problem.
struct Piece {
  Problem problem;
  Flow map;
  std::vector<std::int32_t> daughter;  // (n_daughters): indices in the whole problem, ascending
};

// Keeps the daughters who have one of the options, with what they have chosen, these options and appearing; all others
// stay as in the MAP. The options are grouped by daughter.
std::vector<Piece> split_into_pieces(const Problem& problem, const Flow& map, const std::vector<Option>& options);

}  // namespace dunno
