// The k best assignments, distinct as sets of edges, in ascending order of cost.
//
// Large frames have many cells that no good assignment moves. So: guess a bound on the k-th gap, freeze what no cycle
// within the bound touches (gaps.hpp), split the rest into pieces (pieces.hpp), list each piece's assignments
// (murty.hpp) and merge the lists (merge.hpp). If the k-th gap found is within the bound, the list is exact; if not,
// it is a bound that holds, and one more round with it is exact.
#pragma once

#include <vector>

#include "k_best/murty.hpp"
#include "problem/problem.hpp"
#include "problem/stop.hpp"

namespace dunno {

struct KBest {
  std::vector<std::int32_t> map;        // (n_daughters): the first assignment
  std::vector<double> cost;             // (found), ascending
  std::vector<std::int64_t> start;      // (found + 1): where each assignment's differences begin
  std::vector<Difference> differences;  // from the first, ascending by daughter
};

// Assignments of equal cost are ordered lexicographically by the edges of daughters 0, 1, ... in the caller's
// numbering, appearing first; only the MAP comes before all others. Where the k-th place is tied, which ones are
// left out depends on the problem alone. `freeze` = false skips the freezing, to test it.
KBest k_best(const Problem& problem, std::int64_t k, bool freeze, Stop& stop);

}  // namespace dunno
