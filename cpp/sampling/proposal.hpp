// Where a displaced daughter tries to go.
//
// A chain of displacements takes each of its daughters from one mother to another. If daughter j tries mother i with
//   q[j, i] = weight[j, i] g[i] / Z[j]
// for any factors g, then the weights of the assignments before and after, and the chances of the way there and of the
// way back, cancel along the whole chain: what is left are its two ends, and long chains are kept as often as short ones.
// The factors are chosen so that q comes near the marginals (iterative proportional fitting).
#pragma once

#include <vector>

#include "posterior/marginals.hpp"
#include "posterior/weights.hpp"
#include "problem/incidence.hpp"
#include "problem/problem.hpp"
#include "sampling/random.hpp"

namespace dunno {

struct Proposal {
  std::vector<double> edge;    // (edges) q of each edge; a daughter's options sum to one
  std::vector<double> appear;  // (n_daughters) q of appearing
  std::vector<double> start;   // (n_daughters) how often a chain begins with it, in proportion
  std::vector<double> join;    // (n_mothers) how often a daughter who comes joins the one there instead of displacing it

  double of(std::int32_t daughter, std::int32_t option) const {
    return option == kAppears ? appear[daughter] : edge[option];
  }
  // The sum over the daughter's other options; added up, as the difference from one would have no digits.
  double away_from(const Problem& problem, std::int32_t daughter, std::int32_t option) const;
  // Draws one of a daughter's options, or one of those other than `barred`.
  std::int32_t draw(const Problem& problem, std::int32_t daughter, Random& random) const;
  std::int32_t draw_other(const Problem& problem, std::int32_t daughter, std::int32_t barred, Random& random) const;
};

template <typename Number>
Proposal make_proposal(const Problem& problem, const Incidence& edges, const Weights<Number>& weights,
                       const Marginals& found);

}  // namespace dunno
