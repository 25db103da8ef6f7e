#include "posterior/cluster_maker.hpp"

#include <algorithm>
#include <utility>

namespace dunno {
namespace {

// Larger clusters are more accurate, but their sums grow exponentially.
constexpr std::int32_t kFewestCells = 4;
constexpr double kMostWork = 2e5;

// Belief propagation is overconfident: what it gives a thousandth may have a tenth. What it gives this has not.
constexpr double kNegligible = 1e-5;

}  // namespace

ClusterMaker::ClusterMaker(const Problem& problem, const Incidence& edges, const std::vector<double>& probability,
                           Stop& stop, std::int32_t fewest)
    : problem_(problem),
      edges_(edges),
      stop_(stop),
      builder_(problem, edges),
      fewest_(fewest),
      eligible_(problem.n_edges(), 0) {
  for (std::int32_t e = 0; e < problem.n_edges(); ++e)
    if (probability[e] >= kNegligible) {
      order_.push_back(e);
      eligible_[e] = 1;
    }
  prefer(probability);
}

// Sorting pairs takes half as long as sorting edges that have to be looked up.
void ClusterMaker::prefer(const std::vector<double>& priority) {
  std::vector<std::pair<double, std::int32_t>> keyed;
  keyed.reserve(order_.size());
  for (const std::int32_t e : order_) keyed.emplace_back(-priority[e], e);
  std::sort(keyed.begin(), keyed.end());
  for (std::size_t k = 0; k < keyed.size(); ++k) order_[k] = keyed[k].second;
}

std::vector<Cluster> ClusterMaker::make(std::int32_t most_cells) {
  std::vector<Cluster> clusters;
  left_ = order_;
  for (; most_cells >= kFewestCells && !left_.empty(); most_cells = most_cells * 3 / 4) join(most_cells, clusters);
  return clusters;
}

void ClusterMaker::join(std::int32_t most_cells, std::vector<Cluster>& clusters) {
  Groups groups(problem_);
  for (const std::int32_t e : left_) groups.join(problem_.mother[e], edges_.daughter[e], most_cells);
  std::vector<char> too_large(problem_.n_mothers, 0);
  for (const auto& mothers : groups.mothers()) {
    if (groups.is_alone(mothers.front())) continue;
    Cluster cluster = builder_.build(groups, mothers, eligible_, fewest_);
    if (cluster.mothers.empty()) continue;
    cluster.plan = plan_elimination(cluster.graph, {kFeasible.width, kMostWork, kFeasible.states}, stop_);
    if (cluster.plan.fits) {
      clusters.push_back(std::move(cluster));
    } else {
      for (const std::int32_t i : mothers) too_large[i] = 1;
    }
  }
  const auto is_settled = [&](std::int32_t e) {
    const std::int32_t i = problem_.mother[e];
    return !too_large[i] || groups.of_mother(i) != groups.of_daughter(edges_.daughter[e]);
  };
  left_.erase(std::remove_if(left_.begin(), left_.end(), is_settled), left_.end());
}

}  // namespace dunno
