// The cheapest assignments of many cost vectors on the same edges, all started from the problem's own.
#pragma once

#include <vector>

#include "problem/problem.hpp"
#include "problem/stop.hpp"

namespace dunno {

struct Batch {
  std::vector<double> cost;        // (n)
  std::vector<std::int64_t> edge;  // (n * n_daughters), row after row: index in the caller's list, or kAppears
};

// `costs` is (n, n_given); infinity means that the edge is absent. The problem's own costs only serve as the start:
// the closer they are to the rows, the faster. Throws std::invalid_argument on NaN and -inf.
Batch solve_batch(const Problem& problem, const double* costs, std::int64_t n, Stop& stop);

}  // namespace dunno
