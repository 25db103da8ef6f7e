#include "k_best/k_best.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "k_best/gaps.hpp"
#include "flow/map.hpp"
#include "k_best/merge.hpp"
#include "k_best/pieces.hpp"

namespace dunno {
namespace {

// Bounds with some room for rounding, so that a second round accepts what the first one found.
class Slack {
 public:
  Slack(const Problem& problem, const Flow& map) {
    for (const double v : map.v) scale_ = std::max(scale_, std::abs(v));
    for (std::int32_t j = 0; j < problem.n_daughters; ++j)
      scale_ = std::max(scale_, std::abs(daughter_dual(problem, map, j)));
  }
  double above(double bound) const { return bound + 1e-9 * bound + 1e-12 * scale_; }

 private:
  double scale_ = 0.0;
};

// What daughters could choose instead, searched anew only for a bound larger than before.
class Alternatives {
 public:
  Alternatives(const Problem& problem, const Flow& map, Stop& stop) : finder_(problem, map, stop) {}

  std::vector<double> single_moves(std::int64_t n) const { return finder_.single_moves(n); }

  std::vector<Option> options(double bound) {
    if (bound > searched_) {
      options_ = finder_.find(bound);
      searched_ = bound;
    }
    std::vector<Option> within;
    for (const Option& option : options_)
      if (option.gap <= bound) within.push_back(option);
    return within;
  }

 private:
  GapFinder finder_;
  double searched_ = -1.0;
  std::vector<Option> options_;
};

class Finder {
 public:
  Finder(const Problem& problem, const Flow& map, std::int64_t k, Stop& stop)
      : problem_(problem), map_(map), k_(k), stop_(stop), slack_(problem, map) {}

  // All but the MAP.
  std::vector<Ranked> find(bool freeze) const {
    if (!freeze) return unfrozen();
    Alternatives alternatives(problem_, map_, stop_);
    double bound = slack_.above(guess(alternatives));
    while (bound < kInfinity) {
      std::vector<Ranked> found = within(alternatives.options(bound), bound);
      const bool enough = static_cast<std::int64_t>(found.size()) == k_ - 1;
      const double last = last_gap(found);
      if (enough && last <= bound) return found;
      bound = enough ? slack_.above(last) : wider(alternatives, bound);
    }
    return unfrozen();
  }

 private:
  // The k-th gap if the shortest cycles did not touch each other. Cycles are looked for in a small neighbourhood first:
  // what one daughter alone could do instead, which is easily found, is a bound that is much too large.
  double guess(Alternatives& alternatives) const {
    const double enough = kth_subset_sum(alternatives.single_moves(k_ - 1), k_, stop_);
    if (enough / 1024.0 == 0.0) return enough;
    for (double bound = enough / 1024.0; bound < enough; bound *= 4.0) {
      const double sum = kth_subset_sum(distinct_gaps(alternatives.options(bound)), k_, stop_);
      if (sum <= bound) return sum;
    }
    return enough;
  }

  // The daughters of one cycle share its gap; count it once.
  std::vector<double> distinct_gaps(const std::vector<Option>& options) const {
    std::vector<double> distinct;
    for (std::size_t at = 0; at < options.size(); ++at) {
      const bool same_daughter = at > 0 && options[at].daughter == options[at - 1].daughter;
      if (same_daughter)
        distinct.back() = std::min(distinct.back(), options[at].gap);
      else
        distinct.push_back(options[at].gap);
    }
    std::sort(distinct.begin(), distinct.end());
    const auto same = [&](double a, double b) { return b <= slack_.above(a); };
    distinct.erase(std::unique(distinct.begin(), distinct.end(), same), distinct.end());
    return distinct;
  }

  // After a round that found fewer than k: a larger bound, up to one that is sure to do.
  double wider(const Alternatives& alternatives, double bound) const {
    const std::vector<double> moves = alternatives.single_moves(k_ - 1);
    const bool enough = static_cast<std::int64_t>(moves.size()) == k_ - 1;
    const double sure = enough ? slack_.above(moves.back()) : kInfinity;
    const double largest = moves.empty() ? 0.0 : slack_.above(moves.back());
    const double next = 4.0 * bound;
    if (bound < next && next < largest) return next;  // zero does not grow
    return bound < sure ? sure : kInfinity;
  }

  static double last_gap(const std::vector<Ranked>& found) {
    double last = 0.0;
    for (const Ranked& ranked : found) last = std::max(last, ranked.gap);
    return last;
  }

  std::vector<Ranked> unfrozen() const {
    std::vector<Option> all;
    for (std::int32_t j = 0; j < problem_.n_daughters; ++j) {
      if (map_.chosen[j] != kAppears) all.push_back({j, kAppears, 0.0});
      for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e)
        if (e != map_.chosen[j]) all.push_back({j, e, 0.0});
    }
    return within(all, kInfinity);
  }

  std::vector<Ranked> within(const std::vector<Option>& options, double bound) const {
    const std::vector<Piece> pieces = split_into_pieces(problem_, map_, options);
    std::deque<Murty> lists;  // a list must not move: its searches point into it
    for (const Piece& piece : pieces) lists.emplace_back(piece.problem, piece.map, k_, bound, stop_);
    const std::vector<Combined> merged = merge(lists, k_ - 1, stop_);
    std::vector<Ranked> found;
    found.reserve(merged.size());
    for (const Combined& combined : merged) found.push_back(collect(combined, merged, pieces, lists));
    return found;
  }

  Ranked collect(const Combined& combined, const std::vector<Combined>& merged, const std::vector<Piece>& pieces,
                 std::deque<Murty>& lists) const {
    Ranked whole{combined.gap, {}};
    const Combined* part = &combined;
    while (true) {
      const Piece& piece = pieces[part->piece];
      for (const auto [j, e] : lists[part->piece].at(part->rank)->differences)
        whole.differences.push_back(
            {piece.daughter[j], e == kAppears ? kAppears : static_cast<std::int32_t>(piece.problem.given[e])});
      if (part->previous < 0) break;
      part = &merged[part->previous];
    }
    std::sort(whole.differences.begin(), whole.differences.end(),
              [](const Difference& a, const Difference& b) { return a.daughter < b.daughter; });
    return whole;
  }

  const Problem& problem_;
  const Flow& map_;
  const std::int64_t k_;
  Stop& stop_;
  const Slack slack_;
};

// Compares two assignments as the lists of their daughters' edges, in the caller's numbering.
class Lexicographic {
 public:
  Lexicographic(const Problem& problem, const std::vector<std::int32_t>& map) : problem_(problem), map_(map) {}

  bool operator()(const std::vector<Difference>& a, const std::vector<Difference>& b) const {
    auto x = a.begin();
    auto y = b.begin();
    while (x != a.end() && y != b.end() && x->daughter == y->daughter && x->edge == y->edge) ++x, ++y;
    if (x == a.end() && y == b.end()) return false;
    const std::int32_t at_x = x == a.end() ? problem_.n_daughters : x->daughter;
    const std::int32_t at_y = y == b.end() ? problem_.n_daughters : y->daughter;
    const std::int32_t j = std::min(at_x, at_y);
    return given(at_x == j ? x->edge : map_[j]) < given(at_y == j ? y->edge : map_[j]);
  }

 private:
  std::int64_t given(std::int32_t edge) const { return edge == kAppears ? kAppears : problem_.given[edge]; }

  const Problem& problem_;
  const std::vector<std::int32_t>& map_;
};

}  // namespace

KBest k_best(const Problem& problem, std::int64_t k, bool freeze, Stop& stop) {
  Map map(problem, stop);
  map.solve();
  const double map_cost = map.cost();
  std::vector<Ranked> others;
  if (k > 1) others = Finder(problem, map.flow(), k, stop).find(freeze);
  const Lexicographic before(problem, map.chosen());
  std::sort(others.begin(), others.end(), [&](const Ranked& a, const Ranked& b) {
    const double cost_a = map_cost + a.gap, cost_b = map_cost + b.gap;  // as reported: gaps may differ by less than that
    return cost_a != cost_b ? cost_a < cost_b : before(a.differences, b.differences);
  });

  KBest result{map.chosen(), {map_cost}, {0, 0}, {}};
  for (const Ranked& other : others) {
    result.cost.push_back(map_cost + other.gap);
    result.differences.insert(result.differences.end(), other.differences.begin(), other.differences.end());
    result.start.push_back(static_cast<std::int64_t>(result.differences.size()));
  }
  return result;
}

}  // namespace dunno
