#include "k_best/gaps.hpp"

#include <algorithm>
#include <limits>
#include <queue>

namespace dunno {

void Distances::begin(double bound) {
  for (const std::int32_t mother : touched_) value_[mother] = kInfinity;
  touched_.clear();
  heap_.clear();
  bound_ = bound;
}

void Distances::offer(std::int32_t mother, double distance) {
  if (distance > bound_ || distance >= value_[mother]) return;
  if (value_[mother] == kInfinity) touched_.push_back(mother);
  value_[mother] = distance;
  heap_.push_back({distance, mother});
  std::push_heap(heap_.begin(), heap_.end());
}

bool Distances::take(std::int32_t& mother, double& distance) {
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Reached reached = heap_.back();
    heap_.pop_back();
    if (reached.distance > value_[reached.mother]) continue;  // reached on a shorter way since
    mother = reached.mother;
    distance = reached.distance;
    return true;
  }
  return false;
}

GapFinder::GapFinder(const Problem& problem, const Flow& map, Stop& stop)
    : problem_(problem),
      map_(map),
      stop_(stop),
      to_sink_(problem.n_mothers),
      from_sink_(problem.n_mothers),
      home_(problem.n_mothers) {
  reduce();
}

void GapFinder::reduce() {
  reduced_.resize(problem_.n_edges());
  reduced_appear_.resize(problem_.n_daughters);
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
    const double u = daughter_dual(problem_, map_, j);
    for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e)
      reduced_[e] = std::max(0.0, problem_.cost[e] - map_.v[problem_.mother[e]] - u);
    reduced_appear_[j] = std::max(0.0, problem_.appear[j] - u);
    (map_.chosen[j] == kAppears ? reduced_appear_[j] : reduced_[map_.chosen[j]]) = kInfinity;
  }
}

std::vector<Option> GapFinder::find(double bound) {
  bound_ = bound;
  collect_near();
  peel();
  find_to_sink();
  find_from_sink();
  std::vector<Option> options;
  std::size_t at = 0;
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
    if (map_.chosen[j] != kAppears) {
      const double gap = from_sink_[mother_of(j)] + reduced_appear_[j];
      if (gap <= bound_) options.push_back({j, kAppears, gap});
    }
    if (at < near_.size() && near_[at].daughter == j) at = add_options(at, options);
  }
  return options;
}

void GapFinder::collect_near() {
  near_.clear();
  first_.assign(problem_.n_mothers + 1, 0);
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
    for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e)
      if (reduced_[e] <= bound_) {
        near_.push_back({e, j});
        ++first_[problem_.mother[e]];
      }
  // Filled from the last to the first, so that each of `first_` ends up where its mother's edges begin.
  for (std::int32_t i = 0; i < problem_.n_mothers; ++i) first_[i + 1] += first_[i];
  near_by_mother_.resize(near_.size());
  for (auto near = near_.rbegin(); near != near_.rend(); ++near)
    near_by_mother_[--first_[problem_.mother[near->edge]]] = *near;
}

template <typename Offer>
void GapFinder::spread_back(std::int32_t mother, double distance, Offer offer) const {
  stop_.check();
  for (std::int32_t at = first_[mother]; at < first_[mother + 1]; ++at) {
    const auto [e, j] = near_by_mother_[at];
    if (map_.chosen[j] != kAppears) offer(mother_of(j), distance + reduced_[e]);
  }
}

// Strips the mothers that lie on no cycle of near edges: again and again those that no arc enters or none leaves. Most
// go, for the edges of reduced cost zero form trees.
void GapFinder::peel() {
  n_in_.assign(problem_.n_mothers, 0);
  n_out_.assign(problem_.n_mothers, 0);
  on_cycle_.assign(problem_.n_mothers, true);
  for (const auto [e, j] : near_)
    if (map_.chosen[j] != kAppears) {
      ++n_out_[mother_of(j)];
      ++n_in_[problem_.mother[e]];
    }
  std::vector<std::int32_t> loose;
  const auto strip = [&](std::int32_t i) {
    on_cycle_[i] = false;
    loose.push_back(i);
  };
  for (std::int32_t i = 0; i < problem_.n_mothers; ++i)
    if (n_in_[i] == 0 || n_out_[i] == 0) strip(i);
  while (!loose.empty()) {
    const std::int32_t i = loose.back();
    loose.pop_back();
    spread_back(i, 0.0, [&](std::int32_t before, double) {
      if (on_cycle_[before] && --n_out_[before] == 0) strip(before);
    });
    for (const std::int32_t k : map_.held[i]) {
      if (k == kNobody) continue;
      for (std::int32_t e = problem_.row[k]; e < problem_.row[k + 1]; ++e) {
        const std::int32_t after = problem_.mother[e];
        if (reduced_[e] <= bound_ && on_cycle_[after] && --n_in_[after] == 0) strip(after);
      }
    }
  }
}

// From each mother to the sink: it has room, or a daughter of its own appears or finds another mother.
void GapFinder::find_to_sink() {
  to_sink_.begin(bound_);
  for (std::int32_t i = 0; i < problem_.n_mothers; ++i) to_sink_.offer(i, room_cost(problem_, map_, i));
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
    if (reduced_appear_[j] <= bound_) to_sink_.offer(mother_of(j), reduced_appear_[j]);
  double distance;
  const auto offer = [&](std::int32_t mother, double reached) { to_sink_.offer(mother, reached); };
  for (std::int32_t i; to_sink_.take(i, distance);) spread_back(i, distance, offer);
}

// From the sink to each mother: one daughter fewer for it, or one who appeared or left another mother comes. Only where
// there is a way on to the sink again; that leaves few of the many who could release a daughter.
void GapFinder::find_from_sink() {
  from_sink_.begin(bound_);
  for (std::int32_t i = 0; i < problem_.n_mothers; ++i)
    if (to_sink_[i] <= bound_) from_sink_.offer(i, release_cost(problem_, map_, i));
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j)
    if (map_.chosen[j] == kAppears) spread(j, 0.0);
  double distance;
  for (std::int32_t i; from_sink_.take(i, distance);)
    for (const std::int32_t k : map_.held[i])
      if (k != kNobody) spread(k, distance);
}

void GapFinder::spread(std::int32_t daughter, double distance) {
  stop_.check();
  for (std::int32_t e = problem_.row[daughter]; e < problem_.row[daughter + 1]; ++e) {
    const double reached = distance + reduced_[e];
    if (reached + to_sink_[problem_.mother[e]] <= bound_) from_sink_.offer(problem_.mother[e], reached);
  }
}

// The options of one daughter, whose near edges begin at `at`; returns where they end. A cycle goes through the sink,
// or it returns to its mother directly, which takes a search of its own: a short one, for it is cut at the bound.
std::size_t GapFinder::add_options(std::size_t at, std::vector<Option>& options) {
  const std::int32_t j = near_[at].daughter;
  const bool appears = map_.chosen[j] == kAppears;
  std::size_t end = at;
  double least = kInfinity;
  for (; end < near_.size() && near_[end].daughter == j; ++end) least = std::min(least, reduced_[near_[end].edge]);
  const bool on_cycle = !appears && on_cycle_[mother_of(j)];
  if (on_cycle) find_way_home(mother_of(j), bound_ - least);
  const double leaving = appears ? 0.0 : from_sink_[mother_of(j)];
  for (; at < end; ++at) {
    const std::int32_t e = near_[at].edge, i = problem_.mother[e];
    double onward = leaving + to_sink_[i];
    if (on_cycle) onward = std::min(onward, home_[i]);
    if (reduced_[e] + onward <= bound_) options.push_back({j, e, reduced_[e] + onward});
  }
  return end;
}

void GapFinder::find_way_home(std::int32_t mother, double bound) {
  home_.begin(bound);
  home_.offer(mother, 0.0);
  double distance;
  const auto offer = [&](std::int32_t i, double reached) {
    if (on_cycle_[i]) home_.offer(i, reached);
  };
  for (std::int32_t i; home_.take(i, distance);) spread_back(i, distance, offer);
}

std::vector<double> GapFinder::central_prices() {
  bound_ = std::numeric_limits<double>::max();
  collect_near();
  find_to_sink();
  find_from_sink();
  std::vector<double> prices = map_.v;
  for (std::int32_t i = 0; i < problem_.n_mothers; ++i)
    if (map_.load(i) > 0) prices[i] += 0.5 * (from_sink_[i] - to_sink_[i]);
  return prices;
}

std::vector<double> GapFinder::single_moves(std::int64_t n) const {
  std::vector<double> moves;
  for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
    double least = reduced_appear_[j];
    for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e)
      if (reduced_[e] < least) least = std::min(least, reduced_[e] + room_cost(problem_, map_, problem_.mother[e]));
    const double leaving = map_.chosen[j] == kAppears ? 0.0 : release_cost(problem_, map_, mother_of(j));
    if (least < kInfinity) moves.push_back(leaving + least);
  }
  if (static_cast<std::int64_t>(moves.size()) > n) {
    std::nth_element(moves.begin(), moves.begin() + n, moves.end());
    moves.resize(n);
  }
  std::sort(moves.begin(), moves.end());
  return moves;
}

// The subsets that end in value p grow from those that end before it: add the next value, or exchange p for it.
double kth_subset_sum(const std::vector<double>& values, std::int64_t k, Stop& stop) {
  struct Subset {
    double sum;
    std::size_t last;
    bool operator<(const Subset& other) const { return sum > other.sum; }
  };
  if (k <= 1) return 0.0;
  std::priority_queue<Subset> queue;
  if (!values.empty()) queue.push({values[0], 0});
  for (std::int64_t found = 1; !queue.empty();) {
    stop.check();
    const auto [sum, last] = queue.top();
    if (++found == k) return sum;
    queue.pop();
    if (last + 1 == values.size()) continue;
    queue.push({sum + values[last + 1], last + 1});
    queue.push({sum - values[last] + values[last + 1], last + 1});
  }
  return kInfinity;
}

}  // namespace dunno
