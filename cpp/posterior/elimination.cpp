#include "posterior/elimination.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dunno {
namespace {

class Planner {
 public:
  Planner(const ClusterGraph& graph, const EliminationLimits& limits, Stop& stop)
      : graph_(graph), limits_(limits), stop_(stop), first_(graph.n_daughters + 1, 0) {
    for (const auto& daughters : graph.daughters)
      for (const std::int32_t j : daughters) ++first_[j + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    mothers_.resize(first_.back());
    std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
    for (std::int32_t i = 0; i < n_mothers(); ++i)
      for (const std::int32_t j : graph.daughters[i]) mothers_[next[j]++] = i;
  }

  Elimination plan(std::int32_t start) {
    begin();
    Elimination plan;
    while (static_cast<std::int32_t>(plan.steps.size()) < n_mothers()) {
      stop_.check();
      const std::int32_t next = plan.steps.empty() ? start : best_candidate();
      add_step(next, plan);
      if (is_beyond(plan)) return plan;
    }
    plan.fits = true;
    return plan;
  }

  // Follows an order given beforehand.
  Elimination plan(const std::vector<std::int32_t>& order) {
    begin();
    Elimination plan;
    for (const std::int32_t i : order) {
      stop_.check();
      add_step(i, plan);
      if (is_beyond(plan)) return plan;
    }
    plan.fits = true;
    return plan;
  }

  // From one end of a long graph to the other: mothers by how much nearer they are to the one than to the other.
  // Distances are whole numbers; averaging over neighbours, a few times, tells equals apart.
  std::vector<std::int32_t> sweep(const std::vector<double>& from_one, const std::vector<double>& from_other) const {
    std::vector<double> place(n_mothers()), middle(graph_.n_daughters);
    for (std::int32_t i = 0; i < n_mothers(); ++i) place[i] = from_one[i] - from_other[i];
    for (int round = 0; round < kAverages; ++round) {
      for (std::int32_t j = 0; j < graph_.n_daughters; ++j) middle[j] = mean(place, mothers_of(j));
      for (std::int32_t i = 0; i < n_mothers(); ++i) place[i] = mean(middle, graph_.daughters[i]);
    }
    std::vector<std::int32_t> order(n_mothers());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return place[a] < place[b]; });
    return order;
  }

  std::int32_t fewest_daughters() const {
    std::int32_t best = 0;
    for (std::int32_t i = 1; i < n_mothers(); ++i)
      if (graph_.daughters[i].size() < graph_.daughters[best].size()) best = i;
    return best;
  }

  // Of all mothers from one, in steps over a daughter; zero for those out of reach.
  std::vector<double> distances(std::int32_t start) const {
    std::vector<double> distance(n_mothers(), -1.0);
    std::vector<char> seen(graph_.n_daughters, 0);
    std::vector<std::int32_t> walk{start};
    distance[start] = 0.0;
    for (std::size_t k = 0; k < walk.size(); ++k)
      for (const std::int32_t j : graph_.daughters[walk[k]]) {
        if (seen[j]) continue;
        seen[j] = 1;
        for (const std::int32_t i : mothers_of(j))
          if (distance[i] < 0.0) {
            distance[i] = distance[walk[k]] + 1.0;
            walk.push_back(i);
          }
      }
    for (double& d : distance) d = std::max(d, 0.0);
    return distance;
  }

 private:
  static constexpr int kAverages = 4;

  // The mothers of one daughter.
  struct Row {
    const std::int32_t *first, *last;
    const std::int32_t* begin() const { return first; }
    const std::int32_t* end() const { return last; }
    std::size_t size() const { return static_cast<std::size_t>(last - first); }
  };
  Row mothers_of(std::int32_t daughter) const {
    return {mothers_.data() + first_[daughter], mothers_.data() + first_[daughter + 1]};
  }

  std::int32_t n_mothers() const { return static_cast<std::int32_t>(graph_.daughters.size()); }

  bool is_beyond(const Elimination& plan) const {
    return plan.width > limits_.width || plan.work > limits_.work || plan.states > limits_.states;
  }

  template <typename Cells>
  static double mean(const std::vector<double>& values, const Cells& of) {
    double sum = 0.0;
    for (const std::int32_t k : of) sum += values[k];
    return of.size() == 0 ? 0.0 : sum / static_cast<double>(of.size());
  }

  void begin() {
    left_.resize(graph_.n_daughters);
    for (std::int32_t j = 0; j < graph_.n_daughters; ++j) left_[j] = first_[j + 1] - first_[j];
    is_open_.assign(graph_.n_daughters, 0);
    is_candidate_.assign(n_mothers(), 0);
    is_done_.assign(n_mothers(), 0);
    open_.clear();
    candidates_.clear();
  }

  // The mother who adds least to the number of open daughters; of equals, the one reached first.
  std::int32_t best_candidate() {
    std::int32_t best = -1, best_growth = std::numeric_limits<std::int32_t>::max();
    for (const std::int32_t i : candidates_) {
      std::int32_t growth = 0;
      for (const std::int32_t j : graph_.daughters[i]) growth += (is_open_[j] ? 0 : 1) - (left_[j] == 1 ? 1 : 0);
      if (growth < best_growth) {
        best = i;
        best_growth = growth;
      }
    }
    if (best >= 0) return best;
    for (std::int32_t i = 0; i < n_mothers(); ++i)  // the cluster falls into pieces: start the next one
      if (!is_done_[i] && (best < 0 || graph_.daughters[i].size() < graph_.daughters[best].size())) best = i;
    return best;
  }

  void add_step(std::int32_t mother, Elimination& plan) {
    EliminationStep step;
    step.mother = mother;
    step.width_before = static_cast<std::int32_t>(open_.size());
    is_done_[mother] = 1;
    candidates_.erase(std::remove(candidates_.begin(), candidates_.end(), mother), candidates_.end());
    for (const std::int32_t j : graph_.daughters[mother]) {
      if (!is_open_[j]) open(j);
      --left_[j];
    }
    step.width_after = static_cast<std::int32_t>(open_.size());
    step.place.reserve(graph_.daughters[mother].size());
    for (const std::int32_t j : graph_.daughters[mother])
      step.place.push_back(static_cast<std::int32_t>(std::find(open_.begin(), open_.end(), j) - open_.begin()));
    for (std::int32_t p = step.width_after - 1; p >= 0; --p)
      if (left_[open_[p]] == 0) {
        step.closing.push_back(open_[p]);
        step.closing_place.push_back(p);
        open_.erase(open_.begin() + p);
      }
    count(step, plan);
    plan.steps.push_back(std::move(step));
  }

  void open(std::int32_t daughter) {
    is_open_[daughter] = 1;
    open_.push_back(daughter);
    for (const std::int32_t i : mothers_of(daughter))
      if (!is_done_[i] && !is_candidate_[i]) {
        is_candidate_[i] = 1;
        candidates_.push_back(i);
      }
  }

  // A transition runs over the subsets that leave its daughters free: a half for one open daughter, a quarter for two.
  static void count(const EliminationStep& step, Elimination& plan) {
    const double before = std::ldexp(1.0, step.width_before), after = std::ldexp(1.0, step.width_after);
    double singles = 0.0, squares = 0.0;
    for (const std::int32_t p : step.place) {
      const double share = p < step.width_before ? 0.5 : 1.0;
      singles += share;
      squares += share * share;
    }
    plan.width = std::max(plan.width, step.width_after);
    plan.work += before * (1.0 + singles + 0.5 * (singles * singles - squares)) + after * (2.0 + step.closing.size());
    plan.states += before + after;
  }

  const ClusterGraph& graph_;
  const EliminationLimits& limits_;
  Stop& stop_;
  std::vector<std::int32_t> first_, mothers_;  // daughter j has the mothers first_[j] .. first_[j + 1] of `mothers_`
  std::vector<std::int32_t> left_;  // mothers of each daughter who are still to come
  std::vector<char> is_open_, is_candidate_, is_done_;
  std::vector<std::int32_t> open_, candidates_;
};

// Below this a better order saves less than it costs to find.
constexpr std::int32_t kNarrow = 6;
constexpr double kLittleWork = 5e4;

std::int32_t farthest(const std::vector<double>& distance) {
  return static_cast<std::int32_t>(std::max_element(distance.begin(), distance.end()) - distance.begin());
}

bool is_better(const Elimination& a, const Elimination& b) {
  return a.fits != b.fits ? a.fits : a.fits ? a.work < b.work : a.width < b.width;
}

}  // namespace

Elimination plan_elimination(const ClusterGraph& graph, const EliminationLimits& limits, Stop& stop) {
  Planner planner(graph, limits, stop);
  if (graph.daughters.empty()) return planner.plan(std::vector<std::int32_t>());
  const std::int32_t one_end = farthest(planner.distances(planner.fewest_daughters()));
  Elimination greedy = planner.plan(one_end);
  if (greedy.fits && (greedy.width <= kNarrow || greedy.work <= kLittleWork)) return greedy;
  const std::vector<double> from_one = planner.distances(one_end);
  const std::vector<double> from_other = planner.distances(farthest(from_one));
  Elimination sweep = planner.plan(planner.sweep(from_one, from_other));
  return is_better(sweep, greedy) ? sweep : greedy;
}

}  // namespace dunno
