#include "batch.hpp"

#include <algorithm>
#include <cmath>

#include "columns.hpp"
#include "flow.hpp"
#include "map.hpp"
#include "search.hpp"

namespace dunno {
namespace {

// A flow and its duals outlive a change of the costs in this sense: keep every mother's price and load, the load as
// phantoms. That is a valid state whatever the edges cost. Daughters whose cheapest option is a phantom's place take it,
// the others are inserted, and the phantoms that are left are removed: as few searches as places that change.
class WarmStart {
 public:
  WarmStart(const Problem& problem, Stop& stop)
      : problem_(problem), columns_(make_columns(problem)), search_(problem_, columns_, stop), flow_(empty_flow(problem)) {}

  void solve(const double* costs) {
    set_costs(costs);
    leave_phantoms();
    take_tight_options();
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
      if (flow_.chosen[j] == kOpen) {
        search_.insert(flow_, j);
        check();
      }
    for (std::int32_t i = 0; i < problem_.n_mothers; ++i)
      while (flow_.has_phantom(i)) {
        search_.remove_phantom(flow_, i);
        check();
      }
  }

  double cost() const { return total_cost(problem_, flow_); }
  std::int64_t edge(std::int32_t j) const {
    return flow_.chosen[j] == kAppears ? kAppears : problem_.given[flow_.chosen[j]];
  }

 private:
  void set_costs(const double* costs) {
    for (std::int32_t e = 0; e < problem_.n_edges(); ++e) problem_.cost[e] = costs[problem_.given[e]];
    if (prices_are_too_large()) flow_ = empty_flow(problem_);
  }

  // Prices left over from costs that were larger by orders of magnitude have lost the digits that matter now.
  bool prices_are_too_large() const {
    double price = 0.0, scale = 0.0;
    for (const double v : flow_.v) price = std::max(price, std::abs(v));
    for (const double cost : problem_.cost)
      if (std::isfinite(cost)) scale = std::max(scale, std::abs(cost));
    for (const auto* costs : {&problem_.appear, &problem_.disappear, &problem_.divide})
      for (const double cost : *costs) scale = std::max(scale, std::abs(cost));
    return price > 100.0 * scale;
  }

  void leave_phantoms() {
    for (auto& held : flow_.held)
      for (std::int32_t& k : held)
        if (k != kNobody) k = kPhantom;
    std::fill(flow_.chosen.begin(), flow_.chosen.end(), kOpen);
  }

  void take_tight_options() {
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
      const std::int32_t option = cheapest_option(problem_, flow_, j);
      if (option != kAppears && !take(problem_.mother[option], j)) continue;
      flow_.chosen[j] = option;
    }
    check();
  }

  // A phantom's place costs nothing at the current prices; nor does an empty mother's first.
  bool take(std::int32_t mother, std::int32_t daughter) {
    if (flow_.has_phantom(mother))
      flow_.replace(mother, kPhantom, daughter);
    else if (flow_.held[mother][0] == kNobody)
      flow_.held[mother][0] = daughter;
    else
      return false;
    return true;
  }

  void check() const {
#ifdef DUNNO_CHECK
    check_flow(problem_, flow_);
#endif
  }

  Problem problem_;
  const Columns columns_;
  Search search_;
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
