// In which order to sum mothers out, and what that costs.
//
// Mothers are summed out one after the other. A daughter is open from its first mother to its last; the sums are
// kept for every subset of the open daughters who have a mother already. The number of open daughters (the width)
// decides what fits, and the order of the mothers decides the width.
#pragma once

#include <cstdint>
#include <vector>

#include "problem/stop.hpp"

namespace dunno {

// Mothers and daughters of one cluster, numbered from zero.
struct ClusterGraph {
  std::vector<std::vector<std::int32_t>> daughters;  // of each mother
  std::int32_t n_daughters = 0;
};

struct EliminationStep {
  std::int32_t mother;                // in the cluster's numbering
  std::int32_t width_before;          // open daughters before it is summed out ...
  std::int32_t width_after;           // ... and after, its new daughters (the highest places) included
  std::vector<std::int32_t> place;    // of each of its daughters, in the graph's order
  std::vector<std::int32_t> closing;  // daughters of whom it is the last mother ...
  std::vector<std::int32_t> closing_place;  // ... and their places, descending, so that removing one moves no other
};

struct Elimination {
  std::vector<EliminationStep> steps;
  std::int32_t width = 0;
  double work = 0.0;    // additions and multiplications, roughly
  double states = 0.0;  // sums to be kept
  bool fits = false;    // whether the limits were kept
};

struct EliminationLimits {
  std::int32_t width;
  double work;
  double states;
};

// What fits into memory: half a gigabyte of sums.
constexpr EliminationLimits kFeasible{24, 1e300, 67108864.0};

// A good order: the better of a greedy one and a sweep from one end to the other. Gives up beyond the limits; `width`
// is then the one it had reached.
Elimination plan_elimination(const ClusterGraph& graph, const EliminationLimits& limits, Stop& stop);

}  // namespace dunno
