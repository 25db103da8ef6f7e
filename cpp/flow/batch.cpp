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

constexpr std::int32_t kMostBids = 50;  // after one another, before a search is likelier to pay

double largest(const std::vector<double>& values) {
  double size = 0.0;
  for (const double value : values)
    if (std::isfinite(value)) size = std::max(size, std::abs(value));
  return size;
}

// A flow outlives a change of the edges' costs in this sense: keep every mother's price, and its load as phantoms. That is
// a valid state whatever the edges cost. Daughters whose cheapest option is a phantom's place take it, the others outbid
// each other for a while, who is open then is inserted, and the phantoms that are left are removed: as few searches as there are places that change.
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
    outbid();
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

  // An open daughter takes the place of another one, at a price at which its second best option is as good; the other one
  // looks for a place next (the "augmenting row reduction" of Jonker and Volgenant). Cheaper than a search; what is still
  // open after a while is left to one.
  void outbid() {
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
      if (flow_.chosen[j] == kOpen)
        for (std::int32_t bids = 0, bidder = j; bidder != kNobody && bids < kMostBids; ++bids) bidder = bid(bidder);
  }

  // Returns who lost its place; nobody if the daughter found a free one or does not bid.
  std::int32_t bid(std::int32_t daughter) {
    double best = problem_.appear[daughter], second = kInfinity;
    std::int32_t option = kAppears;
    for (std::int32_t e = problem_.row[daughter]; e < problem_.row[daughter + 1]; ++e) {
      const double reduced = problem_.cost[e] - flow_.v[problem_.mother[e]];
      if (reduced < best) {
        second = best;
        best = reduced;
        option = e;
      } else {
        second = std::min(second, reduced);
      }
    }
    const std::int32_t i = option == kAppears ? kNobody : problem_.mother[option];
    if (i == kNobody || take(i, daughter)) {
      flow_.chosen[daughter] = option;
      return kNobody;
    }
    if (flow_.load(i) != 1 || second == kInfinity) return kNobody;
    const double lowered = flow_.v[i] - (second - best);
    if (!(lowered < flow_.v[i]) || lowered < -problem_.divide[i]) return kNobody;
    const std::int32_t loser = flow_.held[i][0];
    flow_.v[i] = lowered;
    flow_.replace(i, loser, daughter);
    flow_.chosen[daughter] = option;
    flow_.chosen[loser] = kOpen;
    return loser;
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
