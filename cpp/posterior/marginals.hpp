// The posterior's marginals: how probable is each edge, each appearance, disappearance and division?
#pragma once

#include <vector>

#include "posterior/clusters.hpp"
#include "posterior/elimination.hpp"
#include "posterior/kept.hpp"
#include "problem/problem.hpp"
#include "problem/stop.hpp"
#include "posterior/weights.hpp"

namespace dunno {

enum class Method {
  kExact,        // every component by the frontier DP; throws std::invalid_argument where it does not fit
  kPropagation,  // belief propagation alone
  kRough,        // the same, until probabilities change by less than a thousandth
  kAuto,         // exact where it fits, else belief propagation between clusters that are summed over exactly
};

struct Marginals {
  std::vector<double> edge;       // (edges)
  std::vector<double> dividing;   // (edges) the edge is chosen and its mother divides
  std::vector<double> appear;     // (n_daughters)
  std::vector<double> disappear;  // (n_mothers)
  std::vector<double> divide;     // (n_mothers)
  std::vector<double> triple;     // (listed triples) the mother divides into exactly these two
  double log_evidence = 0.0;      // log of the sum over all assignments of exp(-cost)
  bool exact = true;              // whether all of the above is, up to rounding
  bool wide = false;              // whether doubles did not suffice
};

Marginals marginals(const Problem& problem, const LogWeights& logs, Method method, Stop& stop);
// The same with what is kept of earlier costs on the same edges, and keeps more. Throws Underflow where doubles do not do.
Marginals marginals_with(const Problem& problem, const LogWeights& logs, Method method, Kept& kept, Stop& stop);

// The limits within which `kAuto` sums over a whole component.
EliminationLimits auto_limits(const Cluster& component);

}  // namespace dunno
