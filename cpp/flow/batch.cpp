#include "flow/batch.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "problem/incidence.hpp"
#include "flow/flow.hpp"
#include "k_best/gaps.hpp"
#include "flow/map.hpp"
#include "flow/search.hpp"

namespace dunno {
namespace {

double largest(const std::vector<double>& values) {
  double size = 0.0;
  for (const double value : values)
    if (std::isfinite(value)) size = std::max(size, std::abs(value));
  return size;
}

// A flow outlives a change of the edges' costs in this sense: keep every mother's price, and her load as phantoms. That is
// a valid state whatever the edges cost. Daughters whose cheapest option is a phantom's place take it, the others are
// inserted, and the phantoms that are left are removed: as few searches as there are places that change.
class WarmStart {
 public:
  WarmStart(const Problem& problem, Stop& stop)
      : problem_(problem),
        edges_(problem),
        search_(problem_, edges_, stop),
        start_(find_start(problem, stop)),
        start_size_(largest(start_.v)),
        event_size_(std::max({largest(problem.appear), largest(problem.disappear), largest(problem.divide)})) {}

  void solve(const double* costs) {
    set_costs(costs);
    flow_ = start_is_too_large() ? empty_flow(problem_) : start_;
    take_tight_options();
#ifdef DUNNO_CHECK
    check_flow(problem_, flow_);
#endif
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
      if (flow_.chosen[j] == kOpen) search_.insert(flow_, j);
    for (std::int32_t i = 0; i < problem_.n_mothers; ++i)
      while (flow_.has_phantom(i)) search_.remove_phantom(flow_, i);
  }

  double cost() const { return total_cost(problem_, flow_); }
  std::int64_t edge(std::int32_t j) const {
    return flow_.chosen[j] == kAppears ? kAppears : problem_.given[flow_.chosen[j]];
  }

 private:
  // The MAP of the problem itself, at central prices: at extreme ones, which the MAP ends with, many edges are tight that
  // are not chosen, and the least change of the costs would tip them over.
  static Flow find_start(const Problem& problem, Stop& stop) {
    Map map(problem, stop);
    map.solve();
    Flow start = map.flow();
    start.v = GapFinder(problem, map.flow(), stop).central_prices();
#ifdef DUNNO_CHECK
    check_flow(problem, start);
#endif
    std::fill(start.chosen.begin(), start.chosen.end(), kOpen);
    for (auto& held : start.held)
      for (std::int32_t& k : held)
        if (k != kNobody) k = kPhantom;
    return start;
  }

  void set_costs(const double* costs) {
    bool good = true;
    for (std::int32_t e = 0; e < problem_.n_edges(); ++e) {
      problem_.cost[e] = costs[problem_.given[e]];
      good &= problem_.cost[e] > -kInfinity;  // neither is NaN
    }
    if (!good) throw std::invalid_argument("a cost is NaN or -inf");
  }

  // Prices from costs that were larger by orders of magnitude lack the digits that matter now.
  bool start_is_too_large() const {
    return start_size_ > 100.0 * event_size_ && start_size_ > 100.0 * std::max(event_size_, largest(problem_.cost));
  }

  void take_tight_options() {
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
      const std::int32_t option = cheapest_option(problem_, flow_, j);
      if (option == kAppears || take(problem_.mother[option], j)) flow_.chosen[j] = option;
    }
  }

  // A phantom's place costs nothing at the current prices; nor does an empty mother's first.
  bool take(std::int32_t mother, std::int32_t daughter) {
    const bool phantom = flow_.has_phantom(mother);
    if (!phantom && flow_.load(mother) > 0) return false;
    flow_.replace(mother, phantom ? kPhantom : kNobody, daughter);
    return true;
  }

  Problem problem_;
  const Incidence edges_;
  Search search_;
  const Flow start_;
  const double start_size_, event_size_;
  Flow flow_;
};

}  // namespace

Batch solve_batch(const Problem& problem, const double* costs, std::int64_t n, Stop& stop) {
  Batch batch;
  batch.cost.reserve(n);
  batch.edge.reserve(n * problem.n_daughters);
  WarmStart warm(problem, stop);
  for (std::int64_t row = 0; row < n; ++row) {
    stop.check();
    warm.solve(costs + row * problem.n_given);
    batch.cost.push_back(warm.cost());
    for (std::int32_t j = 0; j < problem.n_daughters; ++j) batch.edge.push_back(warm.edge(j));
  }
  return batch;
}

}  // namespace dunno
