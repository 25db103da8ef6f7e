#include "k_best/murty.hpp"

#include <algorithm>
#include <utility>

namespace dunno {
namespace {

std::vector<std::int32_t> banned_for(std::int32_t daughter, std::int32_t first_free,
                                     const std::vector<std::int32_t>& banned, std::int32_t chosen) {
  std::vector<std::int32_t> all;
  if (daughter == first_free) all = banned;
  all.push_back(chosen);
  return all;
}

}  // namespace

Murty::Murty(const Problem& problem, Flow best, std::int64_t k, double bound, Stop& stop)
    : problem_(problem), edges_(problem), k_(k), bound_(bound), stop_(stop),
      search_(problem, edges_, stop) {
  solved_.push_back({std::move(best), 0, {}});
  ranked_.push_back({0.0, {}});
#ifdef DUNNO_CHECK
  check_flow(problem_, solved_.back().flow);
#endif
}

const Ranked* Murty::at(std::size_t rank) {
  while (ranked_.size() <= rank)
    if (!solve_next()) return nullptr;
  return &ranked_[rank];
}

bool Murty::solve_next() {
  if (static_cast<std::int64_t>(ranked_.size()) >= k_) return false;
  while (n_split_ < solved_.size()) split(static_cast<std::int32_t>(n_split_++));
  if (waiting_.empty()) return false;
  const Subproblem next = waiting_.top();
  waiting_.pop();
  solved_.push_back(solve(next));
  ranked_.push_back(rank(solved_.back().flow));
  return true;
}

double Murty::bound() const {
  const bool all_known = static_cast<std::int64_t>(smallest_.size()) == k_ - 1;
  return all_known ? std::min(bound_, smallest_.top()) : bound_;
}

void Murty::note(double gap) {
  smallest_.push(gap);
  if (static_cast<std::int64_t>(smallest_.size()) == k_) smallest_.pop();
}

void Murty::split(std::int32_t solved) {
  Flow& flow = solved_[solved].flow;
  const double cost = ranked_[solved].gap;
  for (std::int32_t j = solved_[solved].first_free; j < problem_.n_daughters; ++j) {
    stop_.check();
    const std::vector<std::int32_t> banned =
        banned_for(j, solved_[solved].first_free, solved_[solved].banned, flow.chosen[j]);
    const double more = gap(flow, {j, j, &banned}, bound() - cost);
    if (cost + more >= bound()) continue;
    note(cost + more);
    waiting_.push({cost + more, solved, j});
  }
}

// How much the cheapest assignment within the limits costs above the flow's, if less than `bound`; else infinity.
double Murty::gap(Flow& flow, const Limits& limits, double bound) {
  const std::int32_t j = limits.daughter, chosen = flow.chosen[j];
  const double u = daughter_dual(problem_, flow, j);
  const std::int32_t i = chosen == kAppears ? kNobody : problem_.mother[chosen];
  flow.chosen[j] = kOpen;
  if (i != kNobody) flow.replace(i, j, kPhantom);
  const Ends ends = search_.forward(flow, j, limits, u + bound, i != kNobody);
  double best = std::max(0.0, ends.phantom.distance - u);
  const double to_sink = std::max(0.0, ends.sink.distance - u);
  if (i == kNobody)
    best = to_sink;
  else if (to_sink < std::min(best, bound))
    best = std::min(best, to_sink + search_.backward(flow, i, limits, std::min(best, bound) - to_sink).distance);
  if (i != kNobody) flow.replace(i, kPhantom, j);
  flow.chosen[j] = chosen;
  return best;
}

Murty::Solved Murty::solve(const Subproblem& subproblem) {
  const Solved& from = solved_[subproblem.solved];
  const std::int32_t j = subproblem.daughter, chosen = from.flow.chosen[j];
  Solved solved{from.flow, j, banned_for(j, from.first_free, from.banned, chosen)};
  const Limits limits{j, j, &solved.banned};
  solved.flow.chosen[j] = kOpen;
  const std::int32_t i = chosen == kAppears ? kNobody : problem_.mother[chosen];
  if (i != kNobody) solved.flow.replace(i, j, kPhantom);
  // Two steps even where the way leads to its old place past the sink: only so do the duals stay valid.
  search_.insert(solved.flow, j, limits);
  if (i != kNobody && solved.flow.has_phantom(i)) search_.remove_phantom(solved.flow, i, limits);
  return solved;
}

// The gap is added up anew from the costs, so that rounding does not pile up along the partition.
Ranked Murty::rank(const Flow& flow) const {
  const Flow& best = solved_.front().flow;
  const auto cost = [&](std::int32_t j, std::int32_t e) { return e == kAppears ? problem_.appear[j] : problem_.cost[e]; };
  Ranked ranked{0.0, {}};
  std::vector<std::int32_t> touched;
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
    if (flow.chosen[j] == best.chosen[j]) continue;
    ranked.differences.push_back({j, flow.chosen[j]});
    ranked.gap += cost(j, flow.chosen[j]) - cost(j, best.chosen[j]);
    for (const std::int32_t e : {flow.chosen[j], best.chosen[j]})
      if (e != kAppears) touched.push_back(problem_.mother[e]);
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (const std::int32_t i : touched)
    ranked.gap += mother_cost(problem_, i, flow.load(i)) - mother_cost(problem_, i, best.load(i));
  ranked.gap = std::max(0.0, ranked.gap);
  return ranked;
}

}  // namespace dunno
