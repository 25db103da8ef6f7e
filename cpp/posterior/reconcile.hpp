// Makes approximate marginals agree with each other.
//
// A daughter's options sum to one, and so do a mother's loads:
//   appear[j] + sum over its edges (single + dividing) = 1,
//   disappear[i] + sum over its edges (single + dividing / 2) = 1.
// Where the two sides of a cut edge do not believe the same, both are scaled in turn until both sums hold
// (iterative proportional fitting); what little is left after some rounds goes to the events.
#pragma once

#include <vector>

#include "problem/incidence.hpp"
#include "problem/problem.hpp"

namespace dunno {

struct EventBeliefs {
  std::vector<double> single, dividing;  // (edges) the edge is its mother's only one; it is one of two
  std::vector<double> appear;            // (n_daughters)
  std::vector<double> disappear;         // (n_mothers)
};

void reconcile(const Problem& problem, const Incidence& edges, EventBeliefs& beliefs, int rounds);

// Throws std::logic_error if a belief is no probability or the sums do not hold.
void check_sums(const Problem& problem, const Incidence& edges, const EventBeliefs& beliefs);

}  // namespace dunno
