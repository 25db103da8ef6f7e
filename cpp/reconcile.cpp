#include "reconcile.hpp"

#include <algorithm>
#include <cmath>

namespace dunno {
namespace {

constexpr double kTolerance = 1e-6;
constexpr int kRounds = 10;
constexpr double kRounding = 1e-15;

class Reconciler {
 public:
  Reconciler(const Problem& problem, const Incidence& edges, EventBeliefs& beliefs)
      : problem_(problem), edges_(edges), beliefs_(beliefs) {}

  void run() {
    std::vector<char> mother_awake(problem_.n_mothers, 1), daughter_awake(problem_.n_daughters, 1);
    bool settled = false;
    for (int round = 0; round < kRounds && !settled; ++round) {
      settled = true;
      for (std::int32_t i = 0; i < problem_.n_mothers; ++i) {
        if (!mother_awake[i]) continue;
        mother_awake[i] = 0;
        const double sum = sum_of_mother(i);
        if (std::abs(sum - 1.0) <= kTolerance) continue;
        settled = false;
        beliefs_.disappear[i] /= sum;
        for (std::int32_t k = edges_.first[i]; k < edges_.first[i + 1]; ++k) {
          scale(edges_.edge[k], 1.0 / sum);
          daughter_awake[edges_.daughter[edges_.edge[k]]] = 1;
        }
      }
      for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
        if (!daughter_awake[j]) continue;
        daughter_awake[j] = 0;
        const double sum = sum_of_daughter(j);
        if (std::abs(sum - 1.0) <= kTolerance) continue;
        settled = false;
        beliefs_.appear[j] /= sum;
        for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e) {
          scale(e, 1.0 / sum);
          mother_awake[problem_.mother[e]] = 1;
        }
      }
    }
    finish();
  }

 private:
  double sum_of_mother(std::int32_t i) const {
    double sum = beliefs_.disappear[i];
    for (std::int32_t k = edges_.first[i]; k < edges_.first[i + 1]; ++k)
      sum += beliefs_.single[edges_.edge[k]] + 0.5 * beliefs_.dividing[edges_.edge[k]];
    return sum;
  }

  double sum_of_daughter(std::int32_t j) const {
    double sum = beliefs_.appear[j];
    for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e)
      sum += beliefs_.single[e] + beliefs_.dividing[e];
    return sum;
  }

  void scale(std::int32_t e, double factor) {
    beliefs_.single[e] *= factor;
    beliefs_.dividing[e] *= factor;
  }

  // What is still missing goes to the events; where too much is left, the edges shrink.
  void finish() {
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
      const double sum = sum_of_daughter(j) - beliefs_.appear[j];
      if (sum > 1.0) {
        for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e) scale(e, (1.0 - beliefs_.appear[j]) / sum);
      }
    }
    for (std::int32_t i = 0; i < problem_.n_mothers; ++i) {
      const double over = sum_of_mother(i) - 1.0;
      if (std::abs(over) <= kRounding) continue;
      if (over <= 0.5 * beliefs_.disappear[i]) {
        beliefs_.disappear[i] -= over;
        continue;
      }
      const double factor = (1.0 - beliefs_.disappear[i]) / (1.0 + over - beliefs_.disappear[i]);
      for (std::int32_t k = edges_.first[i]; k < edges_.first[i + 1]; ++k) scale(edges_.edge[k], factor);
    }
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
      const double over = sum_of_daughter(j) - 1.0;
      if (std::abs(over) > kRounding) beliefs_.appear[j] = std::max(0.0, beliefs_.appear[j] - over);
    }
  }

  const Problem& problem_;
  const Incidence& edges_;
  EventBeliefs& beliefs_;
};

}  // namespace

void reconcile(const Problem& problem, const Incidence& edges, EventBeliefs& beliefs) {
  Reconciler(problem, edges, beliefs).run();
}

}  // namespace dunno
