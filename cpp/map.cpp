#include "map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace dunno {

Map::Map(const Problem& problem, Stop& stop)
    : problem_(problem),
      stop_(stop),
      u_(problem.n_daughters, 0.0),
      v_(problem.disappear),
      chosen_(problem.n_daughters, kOpen),
      held_(problem.n_mothers, {kNobody, kNobody}),
      distance_(problem.n_mothers),
      via_edge_(problem.n_mothers),
      via_daughter_(problem.n_mothers),
      seen_at_(problem.n_mothers, 0) {}

void Map::solve() {
  take_tight_edges();
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
    if (chosen_[j] == kOpen) insert(j);
#ifdef DUNNO_CHECK
  check_duals();
#endif
}

// Every daughter's cheapest option is tight by the choice of her dual; where its mother is still free, take it.
void Map::take_tight_edges() {
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
    double best = problem_.appear[j];
    std::int32_t edge = kAppears;
    for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e) {
      const double reduced = problem_.cost[e] - v_[problem_.mother[e]];
      if (reduced < best) {
        best = reduced;
        edge = e;
      }
    }
    u_[j] = best;
    if (edge == kAppears) {
      chosen_[j] = kAppears;
    } else if (held_[problem_.mother[edge]][0] == kNobody) {
      chosen_[j] = edge;
      held_[problem_.mother[edge]][0] = j;
    }
  }
}

void Map::insert(std::int32_t daughter) {
  const End end = shortest_path(daughter);
  shift_duals(end.distance);
  augment(end);
}

// Dijkstra over mothers: from a daughter along her edges, from a mother along those of the daughters she holds.
Map::End Map::shortest_path(std::int32_t daughter) {
  ++stamp_;
  heap_.clear();
  settled_.clear();
  End end{std::max(0.0, problem_.appear[daughter] - u_[daughter]), kNobody, daughter};
  relax(daughter, 0.0, end.distance);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    const auto [distance, i] = heap_.back();
    heap_.pop_back();
    if (distance >= end.distance) break;
    if (distance > distance_[i]) continue;  // reached again on a shorter way since
    stop_.check();
    settled_.push_back(i);
    if (held_[i][0] == kNobody) return {distance, i, kNobody};  // v = disappear: the way to the sink is free
    if (held_[i][1] == kNobody) {
      const double to_sink = distance + std::max(0.0, problem_.divide[i] + v_[i]);
      if (to_sink < end.distance) end = {to_sink, i, kNobody};
    }
    for (const std::int32_t k : held_[i]) {
      if (k == kNobody) continue;
      const double to_sink = distance + std::max(0.0, problem_.appear[k] - u_[k]);
      if (to_sink < end.distance) end = {to_sink, i, k};
      relax(k, distance, end.distance);
    }
  }
  return end;
}

void Map::relax(std::int32_t daughter, double distance, double bound) {
  const double offset = distance - u_[daughter];
  for (std::int32_t e = problem_.row[daughter]; e < problem_.row[daughter + 1]; ++e) {
    const std::int32_t i = problem_.mother[e];
    const double reached = std::max(distance, problem_.cost[e] - v_[i] + offset);  // max: rounding
    if (reached >= bound || (seen_at_[i] == stamp_ && reached >= distance_[i])) continue;
    seen_at_[i] = stamp_;
    distance_[i] = reached;
    via_edge_[i] = e;
    via_daughter_[i] = daughter;
    heap_.push_back({reached, i});
    std::push_heap(heap_.begin(), heap_.end());
  }
}

void Map::shift_duals(double distance) {
  for (const std::int32_t i : settled_)
    if (distance_[i] < distance) v_[i] -= distance - distance_[i];
}

// Walks the path back from its end: each mother on it takes the daughter that reached her, in the place of the one
// who leaves; the daughter taken leaves her own mother, who is next.
void Map::augment(const End& end) {
  std::int32_t leaving = end.appearing;
  if (leaving != kNobody) {
    chosen_[leaving] = kAppears;
    u_[leaving] = problem_.appear[leaving];
  }
  for (std::int32_t i = end.mother; i != kNobody;) {
    const std::int32_t arriving = via_daughter_[i];
    held_[i][held_[i][0] == leaving ? 0 : 1] = arriving;  // nobody leaves: kNobody finds the free place
    const std::int32_t left = chosen_[arriving] == kOpen ? kNobody : problem_.mother[chosen_[arriving]];
    chosen_[arriving] = via_edge_[i];
    leaving = arriving;
    i = left;
  }
  for (const std::int32_t i : settled_)
    for (const std::int32_t k : held_[i])
      if (k != kNobody) u_[k] = problem_.cost[chosen_[k]] - v_[i];
}

double Map::cost() const {
  double total = 0.0;
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
    total += chosen_[j] == kAppears ? problem_.appear[j] : problem_.cost[chosen_[j]];
  for (std::int32_t i = 0; i < problem_.n_mothers; ++i) {
    if (load(i) == 0) total += problem_.disappear[i];
    if (load(i) == 2) total += problem_.divide[i];
  }
  return total;
}

void Map::check_duals() const {
  const auto fail = [](const std::string& what) { throw std::logic_error("duals: " + what); };
  const auto near = [](double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
  };
  const auto below = [&](double a, double b) { return a <= b || near(a, b); };
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
    if (chosen_[j] == kOpen) fail("a daughter is not assigned");
    if (!below(u_[j], problem_.appear[j])) fail("u > appear");
    if (chosen_[j] == kAppears && !near(u_[j], problem_.appear[j])) fail("an appearing daughter is not tight");
    for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e) {
      const double reduced = problem_.cost[e] - v_[problem_.mother[e]];
      if (!below(u_[j], reduced)) fail("u > cost - v");
      if (e == chosen_[j] && !near(u_[j], reduced)) fail("a chosen edge is not tight");
    }
  }
  for (std::int32_t i = 0; i < problem_.n_mothers; ++i) {
    if (load(i) == 0 && !near(v_[i], problem_.disappear[i])) fail("load 0: v != disappear");
    if (load(i) == 1 && !(below(-problem_.divide[i], v_[i]) && below(v_[i], problem_.disappear[i])))
      fail("load 1: v out of range");
    if (load(i) == 2 && !below(v_[i], -problem_.divide[i])) fail("load 2: v > -divide");
  }
}

}  // namespace dunno
