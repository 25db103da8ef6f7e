#include "segments/messages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace dunno::segments {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kFine = 0.1;           // of the tolerance: messages that change by less are no news
constexpr std::int64_t kUndamped = 8;   // sweeps before messages are damped,
constexpr std::int64_t kSlowly = 40;    // and before they are damped strongly: what swings until then swings on otherwise
constexpr double kDamping = 0.5, kStrong = 0.75;
constexpr double kLeast = 1e-300;       // of a probability: less is not told from none

// What was impossible stays so; not a number is a use that is impossible where nothing else is possible either.
double limited(double message) {
  return message == kNever || std::isnan(message) ? kNever : std::clamp(message, -kFarthest, kFarthest);
}

// Where some of an end's uses say more than can be told, all are told less: what they weigh beside each other stays.
double too_much(const double* messages, std::int64_t n, double none = 0.0) {
  double largest = kNever;
  for (std::int64_t u = 0; u < n; ++u) largest = std::max(largest, messages[u]);
  return std::max(largest - none - kFarthest, 0.0);
}

double probability(double log_odds) { return 1.0 / (1.0 + std::exp(-log_odds)); }

// log(exp(a) + ...) of what was added, at one look.
class LogSum {
 public:
  void add(double a) {
    if (a == kNever) return;
    if (a > largest_) {
      sum_ = sum_ * std::exp(largest_ - a) + 1.0;
      largest_ = a;
    } else {
      sum_ += std::exp(a - largest_);
    }
  }
  double value() const { return sum_ > 0.0 ? largest_ + std::log(sum_) : kNever; }

 private:
  double largest_ = kNever, sum_ = 0.0;
};

class Propagation {
 public:
  Propagation(const Graph& graph, const Weights& weights, std::vector<double> messages)
      : graph_(graph), weights_(weights), told_(std::move(messages)), in_(graph, graph.in), out_(graph, graph.out) {
    n_uses_ = static_cast<std::int64_t>(graph.use_state.size());
    if (told_.empty()) told_.assign(n_uses_ + 2 * graph.n_unions, 0.0);
    heard_.assign(n_uses_, 0.0);
    said_.assign(n_uses_, kNever);
    news_.assign(graph.n_masks, 1);
    belief_.assign(graph.n_states, 0.0);
  }

  Beliefs run(const Limits& limits, Stop& stop) {
    Beliefs found;
    const auto& order = graph_.order;
    fine_ = kFine * limits.tolerance;
    do {
      damping_ = found.sweeps < kUndamped ? 0.0 : found.sweeps < kSlowly ? kDamping : kStrong;
      change_ = 0.0;
      const bool forwards = found.sweeps % 2 == 0;
      for (std::int64_t k = 0; k < graph_.n_masks; ++k) {
        const std::int32_t mask = order[forwards ? k : graph_.n_masks - 1 - k];
        if (!std::exchange(news_[mask], 0)) continue;
        stop.check();
        look(mask);
        tell(mask, in_, graph_.in, out_);
        tell(mask, out_, graph_.out, in_);
        tell_unions(mask);
      }
      ++found.sweeps;
    } while (change_ > limits.tolerance && found.sweeps < limits.sweeps);
    found.change = change_;
    found.log_evidence = masks_evidence() + edges_evidence(found.way) + unions_evidence();
    found.state = std::move(belief_);
    found.messages = std::move(told_);
    return found;
  }

 private:
  // What a mask hears, and what that makes of its states.
  void look(std::int32_t mask) {
    hear(mask, graph_.in);
    hear(mask, graph_.out);
    in_.look(mask, heard_, weights_.appear);
    out_.look(mask, heard_, weights_.disappear);
    const std::int64_t first = graph_.state_begin[mask], n = graph_.states_of(mask);
    prior_.assign(weights_.state.begin() + first, weights_.state.begin() + first + n);
    for (std::int64_t k = graph_.union_begin[mask]; k < graph_.union_begin[mask + 1]; ++k) {
      const std::int32_t end = graph_.union_ends[k];
      prior_[graph_.union_state[end]] += told_[n_uses_ + (end ^ 1)];
    }
    LogSum sum;
    log_state_.resize(n);
    for (std::int64_t s = 0; s < n; ++s) sum.add(log_state_[s] = prior_[s] + in_.total(s) + out_.total(s));
    log_sum_ = sum.value();
    if (log_sum_ == kNever) throw std::invalid_argument("a mask has no state that is possible");
    for (std::int64_t s = 0; s < n; ++s) {
      const double belief = std::exp(log_state_[s] - log_sum_);
      change_ = std::max(change_, std::abs(belief - belief_[first + s]));
      belief_[first + s] = belief;
    }
  }

  void hear(std::int32_t mask, const Side& side) {
    for (std::int64_t q = side.begin[mask]; q < side.begin[mask + 1]; ++q) hear_end(side.ends[q]);
  }

  // What an edge says at one of its ends: for each use, the ways that take it, with what the masks at the other ends say.
  void hear_end(std::int32_t end) {
    const std::int32_t edge = graph_.end_edge[end];
    const auto& ends = graph_.edge_ends[edge];
    int own = 0;
    while (ends[own] != end) ++own;
    const std::int64_t first = graph_.use_begin[end], n = graph_.use_begin[end + 1] - first;
    sums_.assign(n, LogSum());
    for (std::int64_t w = graph_.way_begin[edge]; w < graph_.way_begin[edge + 1]; ++w) {
      double weight = weights_.way[graph_.ways[w]];
      for (int e = 0; e < kEnds; ++e) {
        if (e != own && graph_.way_uses[w][e] >= 0) weight += told_[graph_.way_uses[w][e]];
      }
      sums_[graph_.way_uses[w][own] - first].add(weight);
    }
    for (std::int64_t u = 0; u < n; ++u) heard_[first + u] = sums_[u].value();
    const double less = too_much(&heard_[first], n);
    for (std::int64_t u = 0; u < n; ++u) heard_[first + u] = limited(heard_[first + u] - less);
  }

  // What a mask says to the ends on one side: the uses of each, and that none is taken, are summed over all else.
  void tell(std::int32_t mask, const Sums& sums, const Side& side, const Sums& other) {
    const std::int64_t n = graph_.states_of(mask), n_ends = side.begin[mask + 1] - side.begin[mask];
    none_.assign(n_ends, 0.0);
    for (std::int64_t s = 0; s < n; ++s) {
      const double full = std::exp(log_state_[s] - log_sum_), rest = prior_[s] + other.total(s) - log_sum_;
      std::int64_t q = 0;
      for (std::int64_t l = 0; l < sums.n_lanes(s); ++l) {
        for (; q < sums.lane(s, l).end; ++q) none_[q] += full;
        none_[q++] += std::exp(rest + sums.without(s, l, 0));
      }
      for (; q < n_ends; ++q) none_[q] += full;
    }
    for (std::int64_t s = 0; s < n; ++s) {
      const double rest = prior_[s] + other.total(s) - log_sum_;
      for (std::int64_t l = 0; l < sums.n_lanes(s); ++l) {
        const Lane& lane = sums.lane(s, l);
        for (std::int32_t u = lane.first_use; u < lane.first_use + lane.n_uses; ++u)
          said_[u] = rest + sums.without(s, l, graph_.use_objects[u]);
      }
    }
    for (std::int64_t q = 0; q < n_ends; ++q) {
      const std::int32_t end = side.ends[side.begin[mask] + q];
      const std::int64_t first = graph_.use_begin[end], n_uses = graph_.use_begin[end + 1] - first;
      const double none = std::log(std::max(none_[q], kLeast));
      const double less = none + too_much(&said_[first], n_uses, none);
      for (std::int64_t u = first; u < first + n_uses; ++u) say(mask, static_cast<std::int32_t>(u), said_[u] - less, end);
    }
  }

  void say(std::int32_t mask, std::int32_t use, double message, std::int32_t end) {
    if (!replace(told_[use], message, heard_[use])) return;
    for (const std::int32_t other : graph_.edge_ends[graph_.end_edge[end]]) {
      if (other >= 0 && other != end) news_[graph_.end_mask[other]] = 1;
    }
    if (damping_ > 0.0) news_[mask] = 1;
  }

  void tell_unions(std::int32_t mask) {
    for (std::int64_t k = graph_.union_begin[mask]; k < graph_.union_begin[mask + 1]; ++k) {
      const std::int32_t end = graph_.union_ends[k], own = graph_.union_state[end];
      LogSum others;
      for (std::int64_t s = 0; s < graph_.states_of(mask); ++s) {
        if (s != own) others.add(log_state_[s]);
      }
      const double alone = weights_.state[graph_.state_begin[mask] + own] + in_.total(own) + out_.total(own);
      if (!replace(told_[n_uses_ + end], alone - others.value(), told_[n_uses_ + (end ^ 1)])) continue;
      news_[graph_.union_mask[end ^ 1]] = 1;
      if (damping_ > 0.0) news_[mask] = 1;
    }
  }

  // Returns whether that is news.
  bool replace(double& told, double message, double heard) {
    message = limited(message);
    if (message == told) return false;
    const double difference = std::abs(message - told);
    if (difference > fine_) change_ = std::max(change_, std::abs(probability(message + heard) - probability(told + heard)));
    told = std::isfinite(difference) ? damping_ * told + (1.0 - damping_) * message : message;
    return difference > fine_;
  }

  double masks_evidence() {
    double sum = 0.0;
    for (std::int32_t mask = 0; mask < graph_.n_masks; ++mask) {
      look(mask);
      sum += log_sum_;
    }
    return sum;
  }

  // Takes what edges were heard to say from the masks' own look; fills in what is believed of ways.
  double edges_evidence(std::vector<double>& belief) const {
    double sum = 0.0;
    belief.resize(graph_.n_ways);
    for (std::int64_t edge = 0; edge < graph_.n_edges; ++edge) {
      LogSum all;
      all.add(0.0);
      for (std::int64_t w = graph_.way_begin[edge]; w < graph_.way_begin[edge + 1]; ++w) all.add(way_weight(w));
      for (std::int64_t w = graph_.way_begin[edge]; w < graph_.way_begin[edge + 1]; ++w)
        belief[graph_.ways[w]] = std::exp(way_weight(w) - all.value());
      sum += all.value();
    }
    for (std::size_t end = 0; end < graph_.end_mask.size(); ++end) {
      LogSum all;
      all.add(0.0);
      for (std::int64_t u = graph_.use_begin[end]; u < graph_.use_begin[end + 1]; ++u) all.add(told_[u] + heard_[u]);
      sum -= all.value();
    }
    return sum;
  }

  double way_weight(std::int64_t w) const {
    double weight = weights_.way[graph_.ways[w]];
    for (const std::int32_t use : graph_.way_uses[w]) weight += use >= 0 ? told_[use] : 0.0;
    return weight;
  }

  double unions_evidence() const {
    double sum = 0.0;
    for (std::int64_t k = 0; k < graph_.n_unions; ++k) {
      const double both = told_[n_uses_ + 2 * k] + told_[n_uses_ + 2 * k + 1];
      sum -= std::max(both, 0.0) + std::log1p(std::exp(-std::abs(both)));
    }
    return sum;
  }

  const Graph& graph_;
  const Weights& weights_;
  std::vector<double> told_;   // by masks: of each use, then of each end of a union
  std::vector<double> heard_;  // by masks: of each use
  std::vector<double> said_;   // of each use, by its mask, before it is set beside none
  std::vector<char> news_;     // whether a mask has something new to look at
  std::vector<double> belief_;
  Sums in_, out_;
  std::int64_t n_uses_ = 0;
  double damping_ = 0.0, change_ = 0.0, fine_ = 0.0;
  // Of the mask that is looked at: states without, and with what both sides say; what none of an end's uses weighs.
  std::vector<double> prior_, log_state_, none_;
  double log_sum_ = 0.0;
  std::vector<LogSum> sums_;
};

void check_weights(const Graph& graph, const Weights& weights, const std::vector<double>& messages) {
  const auto fits = [](const std::vector<double>& values, std::int64_t n) {
    return static_cast<std::int64_t>(values.size()) == n &&
           std::none_of(values.begin(), values.end(), [](double x) { return std::isnan(x) || x == -kNever; });
  };
  if (!fits(weights.state, graph.n_states) || !fits(weights.appear, graph.n_objects) ||
      !fits(weights.disappear, graph.n_objects) || !fits(weights.way, graph.n_ways))
    throw std::invalid_argument("every state, object and way has a weight, none of them infinite or not a number");
  if (!messages.empty() && messages.size() != graph.use_state.size() + 2 * static_cast<std::size_t>(graph.n_unions))
    throw std::invalid_argument("the messages are of another problem");
}

}  // namespace

Beliefs propagate(const Graph& graph, const Weights& weights, const Limits& limits, std::vector<double> messages, Stop& stop) {
  check_weights(graph, weights, messages);
  return Propagation(graph, weights, std::move(messages)).run(limits, stop);
}

}  // namespace dunno::segments
