// What is believed of masks and edges, by messages between them; exact where they form trees.
//
// Masks and edges are the factors, ends the variables: an end takes one of its edge's uses, or none. Messages are logarithms of
// ratios to "none", one number per use and direction; what an edge says is worked out where a mask hears it, so only what masks
// say is kept. Masks are visited frame by frame, forwards and backwards in turn, as long as anything that they hear is new.

#pragma once

#include <cstdint>
#include <vector>

#include "problem/stop.hpp"
#include "segments/graph.hpp"
#include "segments/sums.hpp"

namespace dunno::segments {

// All logarithms. An object that nothing leads to appears, one from which nothing leads disappears.
struct Weights {
  std::vector<double> state, appear, disappear, way;
};

struct Limits {
  std::int64_t sweeps;
  double tolerance;  // beliefs that change by less have settled
};

struct Beliefs {
  std::vector<double> state, way;  // probabilities
  double log_evidence = 0.0;       // Bethe's
  double change = 0.0;             // largest one of a belief that the last sweep would have made undamped
  std::int64_t sweeps = 0;
  std::vector<double> messages;    // of masks, by use, then by end of a union
};

// Begins with messages of the same graph under nearly the same weights, or with none.
Beliefs propagate(const Graph& graph, const Weights& weights, const Limits& limits, std::vector<double> messages, Stop& stop);

}  // namespace dunno::segments
