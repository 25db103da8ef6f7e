#include "posterior/belief_propagation.hpp"

namespace dunno {

template <typename Number>
BeliefPropagation<Number>::BeliefPropagation(const Problem& problem, const Incidence& edges,
                                             Messages<Number>& messages, ClusterSolver<Number>& solver, Stop& stop)
    : problem_(problem),
      edges_(edges),
      messages_(messages),
      solver_(solver),
      stop_(stop),
      mother_awake_(problem.n_mothers, 0),
      daughter_awake_(problem.n_daughters, 0) {}

template <typename Number>
bool BeliefPropagation<Number>::run(const std::vector<std::int32_t>& mothers,
                                    const std::vector<std::int32_t>& daughters, const std::vector<Cluster>& clusters,
                                    const Pace& pace) {
  std::vector<char> clustered_mother(problem_.n_mothers, 0), clustered_daughter(problem_.n_daughters, 0);
  for (const Cluster& cluster : clusters) {
    for (const std::int32_t i : cluster.mothers) clustered_mother[i] = 1;
    for (const std::int32_t j : cluster.daughters) clustered_daughter[j] = 1;
  }
  for (const std::int32_t i : mothers) mother_awake_[i] = 1;
  for (const std::int32_t j : daughters) daughter_awake_[j] = 1;
  bool settled = false;
  log_sums_.assign(clusters.size(), 0.0);
  for (std::int32_t round = 0; round < pace.rounds && !settled; ++round) {
    settled = true;
    messages_.kept_share = round < kUndamped ? 0.0 : 0.5;
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      if (!wake(clusters[c])) continue;
      log_sums_[c] = solver_.solve(clusters[c]);
      send(clusters[c], pace.tolerance);
      settled = false;
    }
    for (const std::int32_t j : daughters) {
      if (!daughter_awake_[j] || clustered_daughter[j]) continue;
      stop_.check();
      daughter_awake_[j] = 0;
      messages_.send_from_daughter(j, pace.tolerance, mother_awake_);
      settled = false;
    }
    for (const std::int32_t i : mothers) {
      if (!mother_awake_[i] || clustered_mother[i]) continue;
      stop_.check();
      mother_awake_[i] = 0;
      messages_.send_from_mother(i, pace.tolerance, daughter_awake_);
      settled = false;
    }
  }
  messages_.kept_share = 0.0;
  return settled;
}

template <typename Number>
double BeliefPropagation<Number>::settle(const std::vector<Cluster>& clusters) {
  double sum = 0.0;
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    if (wake(clusters[c])) log_sums_[c] = solver_.solve(clusters[c]);
    sum += log_sums_[c];
  }
  return sum;
}

// A cluster sleeps as one.
template <typename Number>
bool BeliefPropagation<Number>::wake(const Cluster& cluster) {
  bool awake = false;
  for (const std::int32_t i : cluster.mothers) {
    awake |= mother_awake_[i] != 0;
    mother_awake_[i] = 0;
  }
  for (const std::int32_t j : cluster.daughters) {
    awake |= daughter_awake_[j] != 0;
    daughter_awake_[j] = 0;
  }
  return awake;
}

template <typename Number>
void BeliefPropagation<Number>::send(const Cluster& cluster, double tolerance) {
  for (const std::int32_t i : cluster.mothers) messages_.send_from_mother(i, tolerance, daughter_awake_);
  for (const std::int32_t j : cluster.daughters) messages_.send_from_daughter(j, tolerance, mother_awake_);
}

template class BeliefPropagation<double>;
template class BeliefPropagation<Wide>;

}  // namespace dunno
