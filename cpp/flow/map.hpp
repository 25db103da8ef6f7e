// The cheapest assignment (MAP), by successive shortest paths with dual potentials.
//
// flow.hpp says what the duals are and what they prove, search.hpp how one more daughter is placed.
#pragma once

#include <utility>
#include <vector>

#include "flow/flow.hpp"
#include "problem/problem.hpp"
#include "flow/search.hpp"
#include "problem/stop.hpp"

namespace dunno {

class Map {
 public:
  Map(const Problem& problem, Stop& stop);

  // Finds the cheapest assignment.
  void solve();

  // The cost of the assignment, added up from its parts.
  double cost() const { return total_cost(problem_, flow_); }

  // (n_daughters): index into the problem's edges, or kAppears.
  const std::vector<std::int32_t>& chosen() const { return flow_.chosen; }
  std::vector<double> daughter_duals() const;
  const std::vector<double>& mother_duals() const { return flow_.v; }
  const Flow& flow() const { return flow_; }

 private:
  const Problem& problem_;
  Flow flow_;
  Search search_;
};

// A daughter's cheapest option at the current prices: an edge, or kAppears.
std::int32_t cheapest_option(const Problem& problem, const Flow& flow, std::int32_t daughter);

}  // namespace dunno
