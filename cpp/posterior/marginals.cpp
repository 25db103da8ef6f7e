#include "posterior/marginals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "posterior/belief_propagation.hpp"
#include "posterior/cluster_maker.hpp"
#include "posterior/clusters.hpp"
#include "problem/incidence.hpp"
#include "posterior/messages.hpp"
#include "posterior/reconcile.hpp"
#include "posterior/weights.hpp"

namespace dunno {
namespace {

// Before clusters are made, messages need only tell the probable edges from the others; afterwards the first round
// changes most of what there is to change, and a cluster whose messages change by less than a fiftieth is as far off as
// it was before: cutting edges costs more.
constexpr Pace kRoughPace{1e-3, 20};
constexpr Pace kClusterPace{2e-2, 1};
constexpr Pace kFinePace{1e-10, 1000};
constexpr int kReconcileRounds = 10;

// `auto` sums over a whole component where that costs about as much per edge as clusters would.
constexpr std::int32_t kAutoWidth = 18;
constexpr double kAutoWorkPerEdge = 5000.0;

// How far a daughter's options may have moved, in sum and on average, before clusters are chosen anew.
constexpr double kFar = 0.1;

// Beyond this width nobody cares how wide exactly a component is.
constexpr EliminationLimits kPlanningLimits{64, 1e300, 1e300};

template <typename Number>
class Inference {
 public:
  Inference(const Problem& problem, const LogWeights& logs, Kept& kept, Stop& stop)
      : problem_(problem),
        edges_(kept.edges),
        logs_(logs),
        kept_(kept),
        stop_(stop),
        weights_(logs),
        messages_(problem, edges_, weights_),
        builder_(problem, edges_),
        solver_(weights_, messages_, stop),
        propagation_(problem, edges_, messages_, solver_, stop),
        nobody_(std::max(problem.n_mothers, problem.n_daughters), 0) {
    if (!kept.reply.empty()) messages_.begin_with(kept.reply);
  }

  Marginals run(Method method) {
    Components found;
    if (method == Method::kPropagation || method == Method::kRough) {
      leave_all(found);
    } else if (method == Method::kExact) {
      find_components(method, found);
    } else if (!kept_.has_components) {
      find_components(method, kept_.components);
      kept_.has_components = true;
    }
    const Components& components = method == Method::kAuto ? kept_.components : found;
    for (const auto& [mothers, cluster] : components.fitting) solve_component(mothers, cluster);
    if (!components.mothers.empty()) {
      is_exact_ = false;
      propagation_.run(components.mothers, components.daughters, {}, method == Method::kPropagation ? kFinePace : kRoughPace);
      keep_replies(components.daughters);
      if (method == Method::kAuto) solve_clusters(components);
    }
    return finish(method);
  }

 private:
  void leave_all(Components& components) const {
    components.mothers.resize(problem_.n_mothers);
    components.daughters.resize(problem_.n_daughters);
    std::iota(components.mothers.begin(), components.mothers.end(), 0);
    std::iota(components.daughters.begin(), components.daughters.end(), 0);
  }

  // The connected components that fit, and the cells of the others.
  void find_components(Method method, Components& components) {
    Groups groups = connected_components(problem_);
    const std::vector<char> all(problem_.n_edges(), 1);
    std::vector<char> is_pending(problem_.n_mothers, 0);
    for (auto& mothers : groups.mothers()) {
      Cluster cluster;  // stays empty for one mother: each of its daughters has one edge
      if (mothers.size() > 1) {
        cluster = builder_.build(groups, mothers, all);
        cluster.plan = plan_elimination(
            cluster.graph, method == Method::kExact ? kPlanningLimits : auto_limits(cluster), stop_);
      }
      if (mothers.size() == 1 || fits(cluster.plan, method)) {
        components.fitting.push_back({std::move(mothers), std::move(cluster)});
      } else {
        for (const std::int32_t i : mothers) is_pending[i] = 1;
      }
    }
    for (std::int32_t i = 0; i < problem_.n_mothers; ++i)
      if (is_pending[i]) components.mothers.push_back(i);
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
      if (problem_.row[j] < problem_.row[j + 1] && is_pending[problem_.mother[problem_.row[j]]])
        components.daughters.push_back(j);
  }

  bool fits(const Elimination& plan, Method method) const {
    if (method != Method::kExact) return plan.fits;
    if (plan.fits && plan.width <= kFeasible.width && plan.states <= kFeasible.states) return true;
    throw std::invalid_argument(
        "the exact sum does not fit: its frontier is " + std::string(plan.fits ? "" : "at least ") +
        std::to_string(plan.width) + " daughters wide with " + std::to_string(static_cast<long long>(plan.states)) +
        " states, and at most " + std::to_string(kFeasible.width) + " and " +
        std::to_string(static_cast<long long>(kFeasible.states)) + " fit; use method=\"auto\", or fewer candidates");
  }

  // The daughters left out of the cluster have one mother each: one message there and one back make it exact.
  void solve_component(const std::vector<std::int32_t>& mothers, const Cluster& cluster) {
    put_inside(cluster);
    for (const std::int32_t i : mothers)
      for (std::int32_t k = edges_.first[i]; k < edges_.first[i + 1]; ++k)
        if (!messages_.is_inside[edges_.edge[k]])
          messages_.send_from_daughter(edges_.daughter[edges_.edge[k]], 1.0, nobody_);
    if (!cluster.mothers.empty()) log_sum_ += solver_.solve(cluster);
    for (const std::int32_t i : mothers) messages_.send_from_mother(i, 1.0, nobody_);
  }

  void put_inside(const Cluster& cluster) {
    for (const auto& inside : cluster.edge)
      for (const std::int32_t e : inside) messages_.put_inside(e);
  }

  void solve_clusters(const Components& components) {
    std::vector<double> probability(problem_.n_edges(), 0.0);
    for (const std::int32_t j : components.daughters) messages_.believe_daughter(j, probability);
    if (kept_.clusters.empty() || distance(probability, kept_.probability) > kFar * components.daughters.size()) {
      kept_.clusters = ClusterMaker(problem_, edges_, probability, stop_).make();
      kept_.probability = std::move(probability);
    }
    for (const Cluster& cluster : kept_.clusters) put_inside(cluster);
    propagation_.run(components.mothers, components.daughters, kept_.clusters, kClusterPace);
    log_sum_ += propagation_.settle(kept_.clusters);
  }

  static double distance(const std::vector<double>& one, const std::vector<double>& other) {
    double sum = 0.0;
    for (std::size_t e = 0; e < one.size(); ++e) sum += std::abs(one[e] - other[e]);
    return sum;
  }

  void keep_replies(const std::vector<std::int32_t>& daughters) {
    if (!kept_.is_asked_again) return;
    kept_.reply.resize(problem_.n_edges(), 1.0);
    for (const std::int32_t j : daughters)
      for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e)
        if (const double reply = messages_.reply(e); std::isfinite(reply)) kept_.reply[e] = reply;
  }

  Marginals finish(Method method) {
    EventBeliefs beliefs;
    std::vector<double> single(problem_.n_edges()), dividing(problem_.n_edges()), edge(problem_.n_edges());
    beliefs.disappear.resize(problem_.n_mothers);
    beliefs.appear.resize(problem_.n_daughters);
    for (std::int32_t i = 0; i < problem_.n_mothers; ++i)
      beliefs.disappear[i] = messages_.believe_mother(i, single, dividing);
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j) beliefs.appear[j] = messages_.believe_daughter(j, edge);
    require_firm_ground(single, dividing, beliefs);
    const PairBeliefs pairs = problem_.triples ? believe_pairs(dividing) : PairBeliefs{};

    // The daughter says how probable the edge is, the mother in which part of the cases it divides.
    beliefs.single.resize(problem_.n_edges());
    beliefs.dividing.resize(problem_.n_edges());
    for (std::int32_t e = 0; e < problem_.n_edges(); ++e) {
      const double sum = single[e] + dividing[e];
      const bool is_told = sum > 1e-290;  // and the quotient cannot overflow
      const double factor = is_told ? edge[e] / sum : 0.0;
      beliefs.dividing[e] = factor * dividing[e];
      beliefs.single[e] = is_told ? factor * single[e] : edge[e];
    }
    reconcile(problem_, edges_, beliefs, method == Method::kRough ? 1 : kReconcileRounds);
#ifdef DUNNO_CHECK
    check_sums(problem_, edges_, beliefs);
#endif
    Marginals result = collect(beliefs);
    if (problem_.triples) result.triple = triple_beliefs(pairs, result.divide);
    return result;
  }

  // A double's weights are raised to a floor; the result stands only where nothing rests on them.
  void require_firm_ground(const std::vector<double>& single, const std::vector<double>& dividing,
                           const EventBeliefs& beliefs) const {
    if (std::is_same_v<Number, Wide>) return;
    double mass = 0.0;
    for (std::int32_t e = 0; e < problem_.n_edges(); ++e) {
      if (on_the_floor(logs_.single[e])) mass += single[e];
      if (on_the_floor(logs_.dividing[e]) || on_the_floor(logs_.pair[problem_.mother[e]])) mass += dividing[e];
    }
    for (std::int32_t i = 0; i < problem_.n_mothers; ++i)
      if (on_the_floor(logs_.none[i])) mass += beliefs.disappear[i];
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
      if (on_the_floor(logs_.appear[j])) mass += beliefs.appear[j];
    if (!(mass < 1e-20)) throw Underflow();
  }

  struct PairBeliefs {
    std::vector<double> triple;  // (listed) as its mother says
    std::vector<double> twice;   // (n_mothers) the sum of a mother's table
  };

  // Mother after mother, as the tables of all of them would be large.
  PairBeliefs believe_pairs(const std::vector<double>& dividing) {
    const Triples& triples = *problem_.triples;
    PairBeliefs beliefs{std::vector<double>(triples.first.size(), 0.0), std::vector<double>(problem_.n_mothers, 0.0)};
    const std::vector<std::vector<std::size_t>> listed = listed_of_mothers();
    std::vector<double> both;
    double mass = 0.0;
    for (std::int32_t i = 0; i < problem_.n_mothers; ++i) {
      if (!weights_.is_listed(i)) continue;
      messages_.believe_pairs(i, both);
      mass += mass_on_the_floor(i, both);
      check_pairs(i, dividing, both);
      beliefs.twice[i] = std::accumulate(both.begin(), both.end(), 0.0);
      for (const std::size_t t : listed[i])
        beliefs.triple[t] = both[triples.at(i, triples.first[t], triples.second[t]) - triples.table[i]];
    }
    if (!std::is_same_v<Number, Wide> && !(mass < 1e-20)) throw Underflow();
    return beliefs;
  }

  std::vector<std::vector<std::size_t>> listed_of_mothers() const {
    const Triples& triples = *problem_.triples;
    std::vector<std::vector<std::size_t>> listed(problem_.n_mothers);
    for (std::size_t t = 0; t < triples.first.size(); ++t)
      if (triples.first[t] != Triples::kDropped) listed[problem_.mother[triples.first[t]]].push_back(t);
    return listed;
  }

  double mass_on_the_floor(std::int32_t mother, const std::vector<double>& both) const {
    if (std::is_same_v<Number, Wide>) return 0.0;
    const double* log = logs_.triple.data() + problem_.triples->table[mother];
    double mass = 0.0;
    for (std::size_t k = 0; k < both.size(); ++k)
      if (on_the_floor(log[k])) mass += both[k];
    return mass;
  }

  // The mother says how a division falls on its pairs; how probable it is has been agreed on.
  std::vector<double> triple_beliefs(const PairBeliefs& pairs, const std::vector<double>& divide) const {
    const Triples& triples = *problem_.triples;
    std::vector<double> result(triples.first.size(), 0.0);
    for (std::size_t t = 0; t < result.size(); ++t) {
      if (triples.first[t] == Triples::kDropped) continue;
      const std::int32_t i = problem_.mother[triples.first[t]];
      const double factor = pairs.twice[i] > 0.0 ? 2.0 * divide[i] / pairs.twice[i] : 0.0;
      result[t] = factor * pairs.triple[t];
    }
    return result;
  }

  // Throws std::logic_error if a mother's beliefs about its edges and about pairs of them differ.
  void check_pairs([[maybe_unused]] std::int32_t mother, [[maybe_unused]] const std::vector<double>& dividing,
                   [[maybe_unused]] const std::vector<double>& both) const {
#ifdef DUNNO_CHECK
    const std::size_t n = edges_.first[mother + 1] - edges_.first[mother];
    for (std::size_t k = 0; k < n; ++k) {
      const double sum = std::accumulate(both.begin() + k * n, both.begin() + (k + 1) * n, 0.0);
      if (!(std::abs(sum - dividing[edges_.edge[edges_.first[mother] + k]]) < 1e-9))
        throw std::logic_error("marginals: pairs do not add up to their edges");
    }
#endif
  }

  Marginals collect(const EventBeliefs& beliefs) {
    Marginals result;
    result.appear = beliefs.appear;
    result.disappear = beliefs.disappear;
    result.dividing = beliefs.dividing;
    result.edge.resize(problem_.n_edges());
    result.divide.assign(problem_.n_mothers, 0.0);
    for (std::int32_t e = 0; e < problem_.n_edges(); ++e) {
      result.edge[e] = beliefs.single[e] + beliefs.dividing[e];
      result.divide[problem_.mother[e]] += 0.5 * beliefs.dividing[e];
    }
    result.log_evidence = logs_.scale + log_sum();
    result.exact = is_exact_;
    return result;
  }

  // Clusters and single cells, minus what both ends of a cut edge have counted.
  double log_sum() {
    LogProduct<Number> cells, cuts;
    for (std::int32_t e = 0; e < problem_.n_edges(); ++e)
      if (!messages_.is_inside[e]) cuts.multiply(messages_.factor_of_cut(e));
    for (std::int32_t i = 0; i < problem_.n_mothers; ++i)
      if (!messages_.is_clustered_mother(i)) cells.multiply(messages_.factor_of_mother(i));
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
      if (!messages_.is_clustered_daughter(j)) cells.multiply(messages_.outside_of_daughter(j));
    return log_sum_ + cells.log() - cuts.log();
  }

  const Problem& problem_;
  const Incidence& edges_;
  const LogWeights& logs_;
  Kept& kept_;
  Stop& stop_;
  Weights<Number> weights_;
  Messages<Number> messages_;
  ClusterBuilder builder_;
  ClusterSolver<Number> solver_;
  BeliefPropagation<Number> propagation_;
  std::vector<char> nobody_;  // awake after messages that nobody waits for
  double log_sum_ = 0.0;  // of the clusters
  bool is_exact_ = true;
};

}  // namespace

EliminationLimits auto_limits(const Cluster& component) {
  std::size_t n_edges = 0;
  for (const auto& inside : component.edge) n_edges += inside.size();
  return {kAutoWidth, kAutoWorkPerEdge * static_cast<double>(n_edges), kFeasible.states};
}

Marginals marginals_with(const Problem& problem, const LogWeights& logs, Method method, Kept& kept, Stop& stop) {
  return Inference<double>(problem, logs, kept, stop).run(method);
}

Marginals marginals(const Problem& problem, const LogWeights& logs, Method method, Stop& stop) {
  Kept kept(problem);
  try {
    return marginals_with(problem, logs, method, kept, stop);
  } catch (const Underflow&) {
    Kept anew(problem);
    Marginals result = Inference<Wide>(problem, logs, anew, stop).run(method);
    result.wide = true;
    return result;
  }
}

}  // namespace dunno
