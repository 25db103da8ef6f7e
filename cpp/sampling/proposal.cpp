#include "sampling/proposal.hpp"

#include <algorithm>

namespace dunno {
namespace {

constexpr int kRounds = 20;
// What is probable is tried, even where the weights of the commoner case do not know it: in problems that are not linear
// a place weighs something else when its mother divides. In the others the less the better: marginals may be a little off.
constexpr double kShareIfLinear = 0.1, kShareOtherwise = 0.5;
// Daughters who hardly ever move begin a chain at least this often.
constexpr double kLeastStart = 1e-3;
constexpr double kLeastLoad = 1e-9;
// Joining a mother who seldom divides ends a chain for nothing.
constexpr double kLeastJoining = 0.02, kMostJoining = 0.2;

// What a daughter's place at a mother weighs: depends on whether the mother has another one, so the commoner case.
template <typename Number>
std::vector<Number> place_weights(const Problem& problem, const Weights<Number>& weights, const Marginals& found) {
  std::vector<double> in_pairs(problem.n_mothers, 0.0);  // expected daughters who are one of two, less the others
  for (std::int32_t e = 0; e < problem.n_edges(); ++e)
    in_pairs[problem.mother[e]] += 2.0 * found.dividing[e] - found.edge[e];
  std::vector<Number> place = weights.single;
  for (std::int32_t e = 0; e < problem.n_edges(); ++e) {
    const std::int32_t i = problem.mother[e];
    if (in_pairs[i] > 0.0 && !weights.has_triples(i)) place[e] = weights.dividing[e];
  }
  return place;
}

// The mothers' factors: expected loads as the marginals have them, every daughter's options summing to one.
template <typename Number>
std::vector<Number> fit_factors(const Problem& problem, const Incidence& edges, const std::vector<Number>& place,
                                const std::vector<Number>& appear, const std::vector<double>& probability) {
  std::vector<double> load(problem.n_mothers, kLeastLoad);
  for (std::int32_t e = 0; e < problem.n_edges(); ++e) load[problem.mother[e]] += probability[e];
  std::vector<Number> factor(problem.n_mothers, Number(1.0)), scale(problem.n_daughters);
  for (int round = 0; round < kRounds; ++round) {
    for (std::int32_t j = 0; j < problem.n_daughters; ++j) {
      Number sum = appear[j];
      for (std::int32_t e = problem.row[j]; e < problem.row[j + 1]; ++e)
        sum += place[e] * factor[problem.mother[e]];
      scale[j] = sum == Number(0.0) ? sum : Number(1.0) / sum;
    }
    for (std::int32_t i = 0; i < problem.n_mothers; ++i) {
      Number sum(0.0);
      for (std::int32_t k = edges.first[i]; k < edges.first[i + 1]; ++k)
        sum += place[edges.edge[k]] * scale[edges.daughter[edges.edge[k]]];
      if (!(sum == Number(0.0))) factor[i] = Number(load[i]) / sum;
    }
  }
  return factor;
}

}  // namespace

double Proposal::away_from(const Problem& problem, std::int32_t daughter, std::int32_t option) const {
  double sum = option == kAppears ? 0.0 : appear[daughter];
  for (std::int32_t e = problem.row[daughter]; e < problem.row[daughter + 1]; ++e)
    if (e != option) sum += edge[e];
  return sum;
}

std::int32_t Proposal::draw(const Problem& problem, std::int32_t daughter, Random& random) const {
  double left = random.uniform();
  for (std::int32_t e = problem.row[daughter]; e < problem.row[daughter + 1]; ++e)
    if ((left -= edge[e]) < 0.0) return e;
  return kAppears;
}

std::int32_t Proposal::draw_other(const Problem& problem, std::int32_t daughter, std::int32_t barred,
                                  Random& random) const {
  double left = random.uniform() * away_from(problem, daughter, barred);
  std::int32_t last = barred;  // where rounding leaves something over
  for (std::int32_t e = problem.row[daughter]; e < problem.row[daughter + 1]; ++e) {
    if (e == barred || edge[e] == 0.0) continue;
    last = e;
    if ((left -= edge[e]) < 0.0) return e;
  }
  return barred == kAppears ? last : kAppears;
}

template <typename Number>
Proposal make_proposal(const Problem& problem, const Incidence& edges, const Weights<Number>& weights,
                       const Marginals& found) {
  const std::vector<double>& probability = found.edge;
  const std::vector<Number> place = place_weights(problem, weights, found);
  const std::vector<Number> factor = fit_factors(problem, edges, place, weights.appear, probability);
  const double least = problem.is_linear() ? kShareIfLinear : kShareOtherwise;
  Proposal proposal{std::vector<double>(problem.n_edges()), std::vector<double>(problem.n_daughters),
                    std::vector<double>(problem.n_daughters), found.divide};
  for (double& join : proposal.join) join = std::min(std::max(join, kLeastJoining), kMostJoining);
  for (std::int32_t j = 0; j < problem.n_daughters; ++j) {
    const std::int32_t first = problem.row[j], last = problem.row[j + 1];
    Number sum = weights.appear[j];
    for (std::int32_t e = first; e < last; ++e) sum += place[e] * factor[problem.mother[e]];
    const Number scale = sum == Number(0.0) ? sum : Number(1.0) / sum;
    double appears = 1.0, total = 0.0;
    for (std::int32_t e = first; e < last; ++e) {
      const double share = static_cast<double>(place[e] * factor[problem.mother[e]] * scale);
      total += proposal.edge[e] = std::max(share, least * probability[e]);
      appears -= probability[e];
    }
    total += proposal.appear[j] =
        std::max(static_cast<double>(weights.appear[j] * scale), least * std::max(0.0, appears));
    double usual = proposal.appear[j] /= total;
    for (std::int32_t e = first; e < last; ++e) usual = std::max(usual, proposal.edge[e] /= total);
    proposal.start[j] = std::max(kLeastStart, 1.0 - usual);
  }
  return proposal;
}

template Proposal make_proposal(const Problem&, const Incidence&, const Weights<double>&, const Marginals&);
template Proposal make_proposal(const Problem&, const Incidence&, const Weights<Wide>&, const Marginals&);

}  // namespace dunno
