#include "flow/map.hpp"

namespace dunno {

Map::Map(const Problem& problem, Stop& stop)
    : problem_(problem), flow_(empty_flow(problem)), search_(problem, stop) {}

std::int32_t cheapest_option(const Problem& problem, const Flow& flow, std::int32_t daughter) {
  double best = problem.appear[daughter];
  std::int32_t option = kAppears;
  for (std::int32_t e = problem.row[daughter]; e < problem.row[daughter + 1]; ++e) {
    const double reduced = problem.cost[e] - flow.v[problem.mother[e]];
    if (reduced < best) {
      best = reduced;
      option = e;
    }
  }
  return option;
}

// A daughter's cheapest option is tight by the choice of its dual; where its mother is still free, take it.
void Map::solve() {
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
    const std::int32_t option = cheapest_option(problem_, flow_, j);
    if (option != kAppears) {
      auto& held = flow_.held[problem_.mother[option]];
      if (held[0] != kNobody) continue;
      held[0] = j;
    }
    flow_.chosen[j] = option;
  }
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
    if (flow_.chosen[j] == kOpen) search_.insert(flow_, j);
#ifdef DUNNO_CHECK
  check_flow(problem_, flow_);
#endif
}

std::vector<double> Map::daughter_duals() const {
  std::vector<double> u(problem_.n_daughters);
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j) u[j] = daughter_dual(problem_, flow_, j);
  return u;
}

}  // namespace dunno
