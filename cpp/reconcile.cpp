#include "reconcile.hpp"

#include <algorithm>
#include <cmath>

namespace dunno {
namespace {

constexpr double kTolerance = 1e-11;
constexpr int kMostRounds = 1000;

void scale_daughters(const Problem& problem, EventBeliefs& beliefs) {
  for (std::int32_t j = 0; j < problem.n_daughters; ++j) {
    double sum = beliefs.appear[j];
    for (std::int32_t e = problem.row[j]; e < problem.row[j + 1]; ++e) sum += beliefs.single[e] + beliefs.dividing[e];
    const double factor = 1.0 / sum;
    beliefs.appear[j] *= factor;
    for (std::int32_t e = problem.row[j]; e < problem.row[j + 1]; ++e) {
      beliefs.single[e] *= factor;
      beliefs.dividing[e] *= factor;
    }
  }
}

// Returns how far the worst sum was off.
double scale_mothers(const Problem& problem, const Incidence& edges, EventBeliefs& beliefs) {
  double worst = 0.0;
  for (std::int32_t i = 0; i < problem.n_mothers; ++i) {
    double sum = beliefs.disappear[i];
    for (std::int32_t k = edges.first[i]; k < edges.first[i + 1]; ++k)
      sum += beliefs.single[edges.edge[k]] + 0.5 * beliefs.dividing[edges.edge[k]];
    worst = std::max(worst, std::abs(sum - 1.0));
    const double factor = 1.0 / sum;
    beliefs.disappear[i] *= factor;
    for (std::int32_t k = edges.first[i]; k < edges.first[i + 1]; ++k) {
      beliefs.single[edges.edge[k]] *= factor;
      beliefs.dividing[edges.edge[k]] *= factor;
    }
  }
  return worst;
}

}  // namespace

void reconcile(const Problem& problem, const Incidence& edges, EventBeliefs& beliefs) {
  for (int round = 0; round < kMostRounds; ++round) {
    const double worst = scale_mothers(problem, edges, beliefs);
    scale_daughters(problem, beliefs);
    if (worst <= kTolerance) return;
  }
}

}  // namespace dunno
