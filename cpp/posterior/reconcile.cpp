#include "posterior/reconcile.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace dunno {
namespace {

constexpr double kTolerance = 1e-6;
constexpr double kRounding = 1e-15;
constexpr double kNothing = 1e-100;  // both sides may deny all of a cell's options where messages did not settle

double sum_of_mother(const Incidence& edges, const EventBeliefs& beliefs, std::int32_t i) {
  double sum = beliefs.disappear[i];
  for (std::int32_t k = edges.first[i]; k < edges.first[i + 1]; ++k)
    sum += beliefs.single[edges.edge[k]] + 0.5 * beliefs.dividing[edges.edge[k]];
  return sum;
}

double sum_of_daughter(const Problem& problem, const EventBeliefs& beliefs, std::int32_t j) {
  double sum = beliefs.appear[j];
  for (std::int32_t e = problem.row[j]; e < problem.row[j + 1]; ++e) sum += beliefs.single[e] + beliefs.dividing[e];
  return sum;
}

// Edges stay as they are while cells are scaled; each cell keeps the factor of its edges.
class Reconciler {
 public:
  Reconciler(const Problem& problem, const Incidence& edges, EventBeliefs& beliefs)
      : problem_(problem),
        edges_(edges),
        beliefs_(beliefs),
        mother_factor_(problem.n_mothers, 1.0),
        daughter_factor_(problem.n_daughters, 1.0),
        mother_awake_(problem.n_mothers, 1),
        daughter_awake_(problem.n_daughters, 1) {
    whole_.reserve(problem.n_edges());
    load_.reserve(problem.n_edges());
    for (std::int32_t e = 0; e < problem.n_edges(); ++e) whole_.push_back(beliefs.single[e] + beliefs.dividing[e]);
    for (const std::int32_t e : edges.edge) load_.push_back(beliefs.single[e] + 0.5 * beliefs.dividing[e]);
  }

  void run(int rounds) {
    bool settled = false;
    for (int round = 0; round < rounds && !settled; ++round) {
      settled = true;
      for (std::int32_t i = 0; i < problem_.n_mothers; ++i) settled &= scale_mother(i);
      for (std::int32_t j = 0; j < problem_.n_daughters; ++j) settled &= scale_daughter(j);
    }
    apply_factors();
    // Edges only shrink from here on, so that what one side has settled the other leaves settled.
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j) shrink_daughter(j);
    for (std::int32_t i = 0; i < problem_.n_mothers; ++i) finish_mother(i);
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j) finish_daughter(j);
  }

 private:
  void scale(std::int32_t e, double factor) {
    beliefs_.single[e] *= factor;
    beliefs_.dividing[e] *= factor;
  }

  // Both return whether there was nothing to do, and wake the other side where there was.
  bool scale_mother(std::int32_t i) {
    if (!mother_awake_[i]) return true;
    mother_awake_[i] = 0;
    const std::int32_t first = edges_.first[i], last = edges_.first[i + 1];
    double sum = 0.0;
    for (std::int32_t k = first; k < last; ++k) sum += load_[k] * daughter_factor_[edges_.daughter[edges_.edge[k]]];
    sum = beliefs_.disappear[i] + mother_factor_[i] * sum;
    if (std::abs(sum - 1.0) <= kTolerance) return true;
    if (sum < kNothing) sum = beliefs_.disappear[i] = 1.0;
    beliefs_.disappear[i] /= sum;
    mother_factor_[i] /= sum;
    for (std::int32_t k = first; k < last; ++k) daughter_awake_[edges_.daughter[edges_.edge[k]]] = 1;
    return false;
  }

  bool scale_daughter(std::int32_t j) {
    if (!daughter_awake_[j]) return true;
    daughter_awake_[j] = 0;
    double sum = 0.0;
    for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e)
      sum += whole_[e] * mother_factor_[problem_.mother[e]];
    sum = beliefs_.appear[j] + daughter_factor_[j] * sum;
    if (std::abs(sum - 1.0) <= kTolerance) return true;
    if (sum < kNothing) sum = beliefs_.appear[j] = 1.0;
    beliefs_.appear[j] /= sum;
    daughter_factor_[j] /= sum;
    for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e) mother_awake_[problem_.mother[e]] = 1;
    return false;
  }

  void apply_factors() {
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
      for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e)
        scale(e, daughter_factor_[j] * mother_factor_[problem_.mother[e]]);
  }

  void shrink_daughter(std::int32_t j) {
    const double edges = sum_of_daughter(problem_, beliefs_, j) - beliefs_.appear[j];
    if (edges <= 1.0) return;
    for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e)
      scale(e, (1.0 - beliefs_.appear[j]) / edges);
  }

  void finish_mother(std::int32_t i) {
    const double over = sum_of_mother(edges_, beliefs_, i) - 1.0;
    if (std::abs(over) <= kRounding) return;
    if (over <= 0.5 * beliefs_.disappear[i]) {
      beliefs_.disappear[i] -= over;
      return;
    }
    const double factor = (1.0 - beliefs_.disappear[i]) / (1.0 + over - beliefs_.disappear[i]);
    for (std::int32_t k = edges_.first[i]; k < edges_.first[i + 1]; ++k) scale(edges_.edge[k], factor);
  }

  void finish_daughter(std::int32_t j) {
    const double over = sum_of_daughter(problem_, beliefs_, j) - 1.0;
    if (std::abs(over) > kRounding) beliefs_.appear[j] = std::max(0.0, beliefs_.appear[j] - over);
  }

  const Problem& problem_;
  const Incidence& edges_;
  EventBeliefs& beliefs_;
  std::vector<double> whole_, load_;  // (edges) what one counts for its daughter; for its mother, in the mothers' order
  std::vector<double> mother_factor_, daughter_factor_;
  std::vector<char> mother_awake_, daughter_awake_;
};

}  // namespace

void reconcile(const Problem& problem, const Incidence& edges, EventBeliefs& beliefs, int rounds) {
  Reconciler(problem, edges, beliefs).run(rounds);
}

void check_sums(const Problem& problem, const Incidence& edges, const EventBeliefs& beliefs) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw std::logic_error(std::string("marginals: ") + what);
  };
  for (const auto* values : {&beliefs.single, &beliefs.dividing, &beliefs.appear, &beliefs.disappear})
    for (const double p : *values) require(p >= 0.0 && p <= 1.0 + 1e-12, "a belief is no probability");
  for (std::int32_t i = 0; i < problem.n_mothers; ++i)
    require(std::abs(sum_of_mother(edges, beliefs, i) - 1.0) < 1e-9, "a mother's loads do not sum to one");
  for (std::int32_t j = 0; j < problem.n_daughters; ++j)
    require(std::abs(sum_of_daughter(problem, beliefs, j) - 1.0) < 1e-9, "a daughter's options do not sum to one");
}

}  // namespace dunno
