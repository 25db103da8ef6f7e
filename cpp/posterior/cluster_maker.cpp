#include "posterior/cluster_maker.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace dunno {
namespace {

// Larger clusters are more accurate, but their sums grow exponentially.
constexpr std::int32_t kFewestCells = 4;
constexpr double kMostWork = 2e5;

// Belief propagation is overconfident: what it gives a thousandth may have a tenth. What it gives this has not.
constexpr double kNegligible = 1e-5;

struct Keyed {
  std::uint64_t key;
  std::int32_t edge;
  bool operator<(const Keyed& other) const { return key != other.key ? key < other.key : edge < other.edge; }
};

// Whole numbers in the order of numbers that are not negative, and as far apart as their logarithms, roughly.
std::uint64_t ordered_bits(double number) {
  std::uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

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

// Edges fall into about as many buckets as there are edges, and hardly any is left to sort within them.
void ClusterMaker::prefer(const std::vector<double>& priority) {
  if (order_.empty()) return;
  std::vector<Keyed> keyed, sorted(order_.size());
  keyed.reserve(order_.size());
  for (const std::int32_t e : order_) keyed.push_back({~ordered_bits(priority[e]), e});
  const auto by_key = [](const Keyed& a, const Keyed& b) { return a.key < b.key; };
  const auto ends = std::minmax_element(keyed.begin(), keyed.end(), by_key);
  const std::uint64_t least = ends.first->key, range = ends.second->key - least;
  int shift = 0;
  while (range >> shift > keyed.size()) ++shift;
  std::vector<std::int32_t> next((range >> shift) + 2, 0);
  for (const Keyed& each : keyed) ++next[((each.key - least) >> shift) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (const Keyed& each : keyed) sorted[next[(each.key - least) >> shift]++] = each;
  std::int32_t first = 0;
  for (std::size_t bucket = 0; bucket + 1 < next.size(); first = next[bucket++])
    if (next[bucket] - first > 1) std::sort(sorted.begin() + first, sorted.begin() + next[bucket]);
  for (std::size_t k = 0; k < sorted.size(); ++k) order_[k] = sorted[k].edge;
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
