// Belief propagation: mothers and daughters send messages until nothing changes.
#pragma once

#include <vector>

#include "messages.hpp"
#include "stop.hpp"

namespace dunno {

struct Propagation {
  double tolerance;         // ends when no edge's probability changes by more
  std::int32_t rounds = 1000;
  std::int32_t undamped = 50;  // from this round on the messages move only half of the way
};

// Among the given cells, whose cut edges must lead to each other. Returns whether it converged.
template <typename Number>
bool propagate(Messages<Number>& messages, const Problem& problem, const Incidence& edges,
               const std::vector<std::int32_t>& mothers, const std::vector<std::int32_t>& daughters,
               const Propagation& how, Stop& stop);

}  // namespace dunno
