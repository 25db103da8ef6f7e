#include "sampling/sample.hpp"

#include <algorithm>
#include <utility>

#include "sampling/chain.hpp"
#include "sampling/proposal.hpp"
#include "posterior/cluster_maker.hpp"
#include "posterior/clusters.hpp"
#include "posterior/frontier.hpp"
#include "problem/incidence.hpp"
#include "posterior/marginals.hpp"
#include "posterior/weights.hpp"

namespace dunno {
namespace {

// A compromise by measurement. Displacements mix most; clusters are a third of the time and help where cells barely
// move, so that changes are divisions; exchanges cost next to nothing.
constexpr std::int32_t kMostCells = 12;
constexpr std::int32_t kPartitions = 16;
constexpr std::int32_t kExchanges = 3;
constexpr std::int32_t kDisplacements = 3;
constexpr std::int64_t kBurnIn = 50;

template <typename Number>
class Sampler {
 public:
  Sampler(const Problem& problem, const Incidence& edges, const LogWeights& logs, std::int64_t n, Random& random,
          Stop& stop)
      : problem_(problem),
        edges_(edges),
        logs_(logs),
        n_(n),
        random_(random),
        stop_(stop),
        weights_(logs),
        samples_{std::vector<std::int32_t>(n * problem.n_daughters, kAppears), true} {}

  // The marginals say which cells probably belong together.
  Samples run(const Marginals& found) {
    Groups components = connected_components(problem_);
    ClusterBuilder builder(problem_, edges_);
    const std::vector<char> all(problem_.n_edges(), 1);
    for (const auto& mothers : components.mothers()) {
      Cluster cluster = builder.build(components, mothers, all, 1);
      cluster.plan = plan_elimination(cluster.graph, auto_limits(cluster), stop_);
      if (cluster.plan.fits) {
        sample_exactly(cluster);
      } else {
        pending_.insert(pending_.end(), mothers.begin(), mothers.end());
      }
    }
    if (!pending_.empty()) run_chain(found);
    return std::move(samples_);
  }

 private:
  std::int32_t& sample_of(std::int64_t s, std::int32_t daughter) {
    return samples_.edge[s * problem_.n_daughters + daughter];
  }

  void sample_exactly(const Cluster& component) {
    if (component.mothers.empty()) return;
    ClusterWeights<Number> weights;
    weights.resize(component.graph);
    std::vector<std::vector<char>> taken;
    for (std::size_t i = 0; i < component.mothers.size(); ++i) {
      weights.none[i] = weights_.none[component.mothers[i]];
      weights.pair[i] = weights_.pair[component.mothers[i]];
      weights_.triples_among(component.mothers[i], component.edge[i], weights.triple[i]);
      taken.emplace_back(component.edge[i].size());
      for (std::size_t k = 0; k < component.edge[i].size(); ++k) {
        weights.single[i][k] = weights_.single[component.edge[i][k]];
        weights.dividing[i][k] = weights_.dividing[component.edge[i][k]];
      }
    }
    for (std::size_t j = 0; j < component.daughters.size(); ++j)
      weights.appear[j] = weights_.appear[component.daughters[j]];
    Frontier<Number> frontier(stop_);
    frontier.forward(component.plan, weights);
    for (std::int64_t s = 0; s < n_; ++s) {
      stop_.check();
      frontier.sample(random_, taken);
      for (std::size_t i = 0; i < taken.size(); ++i)
        for (std::size_t k = 0; k < taken[i].size(); ++k)
          if (taken[i][k]) sample_of(s, edges_.daughter[component.edge[i][k]]) = component.edge[i][k];
    }
  }

  void run_chain(const Marginals& found) {
    samples_.exact = false;
    proposal_ = make_proposal(problem_, edges_, weights_, found);
    find_pending_daughters();
    const std::vector<std::vector<Cluster>> partitions = make_partitions(found.edge);
    Chain<Number> chain(problem_, edges_, weights_, likely(), random_, stop_);
    for (std::int64_t s = -kBurnIn; s < n_; ++s) {
      sweep(chain, partitions[(s + kBurnIn) % kPartitions]);
      if (s < 0) continue;
      for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
        if (chain.chosen()[j] != kAppears) sample_of(s, j) = chain.chosen()[j];
    }
  }

  void sweep(Chain<Number>& chain, const std::vector<Cluster>& clusters) const {
    for (const Cluster& cluster : clusters) chain.redraw(cluster);
    for (const std::int32_t i : pending_) chain.redraw(i);
    for (std::int32_t round = 0; round < kExchanges; ++round)
      for (std::int32_t j = 0; j < problem_.n_daughters; ++j) chain.exchange(j);
    for (std::size_t k = 0; k < kDisplacements * pending_daughters_.size(); ++k) chain.displace(draw_start(), proposal_);
  }

  // Who begins a chain of displacements: any pending daughter, on the way back another one.
  void find_pending_daughters() {
    std::vector<char> is_pending(problem_.n_mothers, 0);
    for (const std::int32_t i : pending_) is_pending[i] = 1;
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
      if (problem_.row[j] == problem_.row[j + 1] || !is_pending[problem_.mother[problem_.row[j]]]) continue;
      pending_daughters_.push_back(j);
      starts_.push_back((starts_.empty() ? 0.0 : starts_.back()) + proposal_.start[j]);
    }
  }

  std::int32_t draw_start() const {
    const auto at = std::upper_bound(starts_.begin(), starts_.end() - 1, random_.uniform() * starts_.back());
    return pending_daughters_[at - starts_.begin()];
  }

  // Random ways to divide the pending cells into clusters: every edge is joined early in one or another.
  std::vector<std::vector<Cluster>> make_partitions(const std::vector<double>& probability) {
    std::vector<double> pending(problem_.n_edges(), 0.0), priority(problem_.n_edges(), 0.0);
    for (const std::int32_t i : pending_)
      for (std::int32_t k = edges_.first[i]; k < edges_.first[i + 1]; ++k)
        pending[edges_.edge[k]] = probability[edges_.edge[k]];
    ClusterMaker maker(problem_, edges_, pending, stop_, 1);
    std::vector<std::vector<Cluster>> partitions;
    for (std::int32_t p = 0; p < kPartitions; ++p) {
      for (std::size_t e = 0; e < pending.size(); ++e) priority[e] = pending[e] * random_.uniform();
      maker.prefer(priority);
      partitions.push_back(maker.make(kMostCells));
    }
    return partitions;
  }

  // The start, without the components that are sampled exactly.
  std::vector<std::int32_t> likely() const {
    std::vector<char> is_pending(problem_.n_mothers, 0);
    for (const std::int32_t i : pending_) is_pending[i] = 1;
    std::vector<std::int32_t> chosen = logs_.likely;
    for (std::int32_t& e : chosen)
      if (e != kAppears && !is_pending[problem_.mother[e]]) e = kAppears;
    return chosen;
  }

  const Problem& problem_;
  const Incidence& edges_;
  const LogWeights& logs_;
  std::int64_t n_;
  Random& random_;
  Stop& stop_;
  Weights<Number> weights_;
  std::vector<std::int32_t> pending_, pending_daughters_;  // of components that do not fit
  Proposal proposal_;
  std::vector<double> starts_;  // how often chains begin with the pending daughters, added up
  Samples samples_;
};

}  // namespace

Samples sample(const Problem& problem, std::int64_t n, Random random, Stop& stop) {
  const Incidence edges(problem);
  const LogWeights logs = make_log_weights(problem, stop);
  const Marginals found = marginals(problem, logs, Method::kAuto, stop);
  const Random start = random;
  if (!found.wide) {
    try {
      return Sampler<double>(problem, edges, logs, n, random, stop).run(found);
    } catch (const Underflow&) {
      random = start;
    }
  }
  return Sampler<Wide>(problem, edges, logs, n, random, stop).run(found);
}

}  // namespace dunno
