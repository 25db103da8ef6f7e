#include "flow/search.hpp"

#include <algorithm>
#include <stdexcept>

namespace dunno {

Search::Search(const Problem& problem, Stop& stop)
    : problem_(problem),
      edges_(nullptr),
      stop_(stop),
      distance_(problem.n_mothers),
      via_edge_(problem.n_mothers),
      via_daughter_(problem.n_mothers),
      seen_at_(problem.n_mothers, 0) {}

Search::Search(const Problem& problem, const Incidence& edges, Stop& stop) : Search(problem, stop) {
  edges_ = &edges;
}

void Search::begin() {
  if (++stamp_ == 0) {  // after 2^32 searches
    std::fill(seen_at_.begin(), seen_at_.end(), 0);
    stamp_ = 1;
  }
  heap_.clear();
  settled_.clear();
}

bool Search::pop(Reached& reached) {
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    reached = heap_.back();
    heap_.pop_back();
    if (reached.distance <= distance_[reached.mother]) return true;  // else reached on a shorter way since
  }
  return false;
}

bool Search::push(std::int32_t mother, double distance, std::int32_t edge, std::int32_t daughter) {
  if (seen_at_[mother] == stamp_ && distance >= distance_[mother]) return false;
  seen_at_[mother] = stamp_;
  distance_[mother] = distance;
  via_edge_[mother] = edge;
  via_daughter_[mother] = daughter;
  heap_.push_back({distance, mother});
  std::push_heap(heap_.begin(), heap_.end());
  return true;
}

Ends Search::forward(const Flow& flow, std::int32_t daughter, const Limits& limits, double bound, bool past_sink) {
  begin();
  Ends ends;
  if (!limits.is_banned(daughter, kAppears)) ends.sink = {problem_.appear[daughter], kNobody, daughter};
  const auto cut = [&] {
    return std::min(past_sink ? bound : std::min(bound, ends.sink.distance), ends.phantom.distance);
  };
  for (std::int32_t e = problem_.row[daughter]; e < problem_.row[daughter + 1]; ++e) {
    const double reached = problem_.cost[e] - flow.v[problem_.mother[e]];
    if (reached < cut() && !limits.is_banned(daughter, e)) reach(flow, reached, e, daughter, ends);
  }
  for (Reached next; pop(next);) {
    const auto [distance, i] = next;
    if (distance >= cut()) break;
    stop_.check();
    settled_.push_back(i);
    for (const std::int32_t k : flow.held[i]) {
      if (k < 0 || !limits.may_move(k)) continue;
      const double u = problem_.cost[flow.chosen[k]] - flow.v[i];
      const double appearing = distance + std::max(0.0, problem_.appear[k] - u);
      if (appearing < ends.sink.distance) ends.sink = {appearing, i, k};
      for (std::int32_t e = problem_.row[k]; e < problem_.row[k + 1]; ++e) {
        const double step = problem_.cost[e] - flow.v[problem_.mother[e]] - u;
        const double reached = distance + std::max(0.0, step);  // max: rounding
        if (reached < cut()) reach(flow, reached, e, k, ends);
      }
    }
  }
  return ends;
}

// Looking for an end as soon as a mother is reached, not when its turn comes, keeps most others out of the heap.
void Search::reach(const Flow& flow, double distance, std::int32_t edge, std::int32_t daughter, Ends& ends) {
  const std::int32_t i = problem_.mother[edge];
  if (!push(i, distance, edge, daughter)) return;
  if (flow.has_phantom(i)) {
    if (distance < ends.phantom.distance) ends.phantom = {distance, i, kPhantom};
  } else {
    const double with_room = distance + room_cost(problem_, flow, i);
    if (with_room < ends.sink.distance) ends.sink = {with_room, i, kNobody};
  }
}

void Search::check(const Flow& flow, const Limits& limits) const {
#ifdef DUNNO_CHECK
  check_flow(problem_, flow, limits);
#else
  (void)flow, (void)limits;
#endif
}

void Search::insert(Flow& flow, std::int32_t daughter, const Limits& limits) {
  const Ends ends = forward(flow, daughter, limits, kInfinity, false);
  const End& end = ends.phantom.distance <= ends.sink.distance ? ends.phantom : ends.sink;
  if (end.distance == kInfinity) throw std::logic_error("a daughter cannot be placed");
  for (const std::int32_t i : settled_)
    if (distance_[i] < end.distance) flow.v[i] -= end.distance - distance_[i];
  augment(flow, end);
  check(flow, limits);
}

// Walks the path back from its end: each mother on it takes the daughter that reached it, in the place of the one
// who leaves; the daughter taken leaves its own mother, who is next.
void Search::augment(Flow& flow, const End& end) {
  std::int32_t leaving = end.leaving;
  if (leaving >= 0) flow.chosen[leaving] = kAppears;
  for (std::int32_t i = end.mother; i != kNobody;) {
    const std::int32_t arriving = via_daughter_[i];
    flow.replace(i, leaving, arriving);
    const std::int32_t left = flow.chosen[arriving] < 0 ? kNobody : problem_.mother[flow.chosen[arriving]];
    flow.chosen[arriving] = via_edge_[i];
    leaving = arriving;
    i = left;
  }
}

Origin Search::backward(const Flow& flow, std::int32_t mother, const Limits& limits, double bound) {
  begin();
  Origin best;
  best.distance = bound;
  push(mother, 0.0, kAppears, kNobody);
  for (Reached reached; pop(reached);) {
    const auto [distance, i] = reached;
    if (distance >= best.distance) break;
    stop_.check();
    settled_.push_back(i);
    const double released = distance + release_cost(problem_, flow, i);
    if (released < best.distance) best = {released, i, kAppears, kNobody};
    relax_back(flow, i, distance, limits, best);
  }
  if (best.mother == kNobody) best.distance = kInfinity;
  return best;
}

void Search::relax_back(const Flow& flow, std::int32_t mother, double distance, const Limits& limits, Origin& best) {
  for (std::int32_t at = edges_->first[mother]; at < edges_->first[mother + 1]; ++at) {
    const std::int32_t e = edges_->edge[at], j = edges_->daughter[e];
    if (flow.chosen[j] == e || flow.chosen[j] == kOpen || !limits.may_move(j)) continue;
    const double reduced = problem_.cost[e] - flow.v[mother] - daughter_dual(problem_, flow, j);
    const double reached = distance + std::max(0.0, reduced);
    if (reached >= best.distance || limits.is_banned(j, e)) continue;
    if (flow.chosen[j] == kAppears)
      best = {reached, mother, e, j};
    else
      push(problem_.mother[flow.chosen[j]], reached, e, j);
  }
}

void Search::remove_phantom(Flow& flow, std::int32_t mother, const Limits& limits) {
  const Origin origin = backward(flow, mother, limits, kInfinity);
  for (const std::int32_t i : settled_)
    if (distance_[i] < origin.distance) flow.v[i] += origin.distance - distance_[i];
  pull(flow, origin, mother);
  check(flow, limits);
}

// Walks the path from its origin: each mother on it sends one daughter on and takes the one sent by the mother before.
void Search::pull(Flow& flow, const Origin& origin, std::int32_t mother) {
  std::int32_t arriving = origin.appearing;
  if (arriving != kNobody) flow.chosen[arriving] = origin.edge;
  std::int32_t i = origin.mother;
  while (i != mother) {
    const std::int32_t sent = via_daughter_[i];
    flow.replace(i, sent, arriving);
    flow.chosen[sent] = via_edge_[i];
    arriving = sent;
    i = problem_.mother[via_edge_[i]];
  }
  flow.replace(mother, kPhantom, arriving);
}

}  // namespace dunno
