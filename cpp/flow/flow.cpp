#include "flow/flow.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace dunno {

Flow empty_flow(const Problem& problem) {
  return {problem.disappear, std::vector<std::int32_t>(problem.n_daughters, kOpen),
          std::vector<std::array<std::int32_t, 2>>(problem.n_mothers, {kNobody, kNobody})};
}

double total_cost(const Problem& problem, const Flow& flow) {
  double total = 0.0;
  for (std::int32_t j = 0; j < problem.n_daughters; ++j)
    total += flow.chosen[j] == kAppears ? problem.appear[j] : problem.cost[flow.chosen[j]];
  for (std::int32_t i = 0; i < problem.n_mothers; ++i) total += mother_cost(problem, i, flow.load(i));
  return total;
}

namespace {

class Checker {
 public:
  Checker(const Problem& problem, const Flow& flow, const Limits& limits)
      : problem_(problem), flow_(flow), limits_(limits) {}

  void check_daughter(std::int32_t j) const {
    const std::int32_t chosen = flow_.chosen[j];
    if (chosen == kOpen) return;
    if (chosen != kAppears) {
      const auto& held = flow_.held[problem_.mother[chosen]];
      if (held[0] != j && held[1] != j) fail("a mother does not hold a daughter who chose it");
    }
    if (!limits_.may_move(j)) return;
    if (limits_.is_banned(j, chosen)) fail("a banned edge is chosen");
    const double u = daughter_dual(problem_, flow_, j);
    if (!limits_.is_banned(j, kAppears) && !below(u, problem_.appear[j])) fail("u > appear");
    for (std::int32_t e = problem_.row[j]; e < problem_.row[j + 1]; ++e)
      if (!limits_.is_banned(j, e) && !below(u, problem_.cost[e] - flow_.v[problem_.mother[e]])) fail("u > cost - v");
  }

  void check_mother(std::int32_t i) const {
    for (const std::int32_t k : flow_.held[i])
      if (k >= 0 && (flow_.chosen[k] < 0 || problem_.mother[flow_.chosen[k]] != i))
        fail("a mother holds a daughter who did not choose it");
    const double v = flow_.v[i], disappear = problem_.disappear[i], divide = problem_.divide[i];
    const std::int32_t load = flow_.load(i);
    if (load == 0 && !near(v, disappear)) fail("load 0: v != disappear");
    if (load == 1 && !(below(-divide, v) && below(v, disappear))) fail("load 1: v out of range");
    if (load == 2 && !below(v, -divide)) fail("load 2: v > -divide");
  }

  // Rounding is relative to the largest number that went into a sum, which need not be in its result.
  void measure_scale() {
    for (const double cost : problem_.cost)
      if (std::isfinite(cost)) scale_ = std::max(scale_, std::abs(cost));
    for (const auto* costs : {&problem_.appear, &problem_.disappear, &problem_.divide})
      for (const double cost : *costs)
        if (std::isfinite(cost)) scale_ = std::max(scale_, std::abs(cost));
  }

 private:
  [[noreturn]] static void fail(const std::string& what) { throw std::logic_error("duals: " + what); }
  bool near(double a, double b) const { return std::abs(a - b) <= 1e-9 * scale_; }
  bool below(double a, double b) const { return a <= b || near(a, b); }

  const Problem& problem_;
  const Flow& flow_;
  const Limits& limits_;
  double scale_ = 0.0;
};

}  // namespace

void check_flow(const Problem& problem, const Flow& flow, const Limits& limits) {
  Checker checker(problem, flow, limits);
  checker.measure_scale();
  for (std::int32_t j = 0; j < problem.n_daughters; ++j) checker.check_daughter(j);
  for (std::int32_t i = 0; i < problem.n_mothers; ++i) checker.check_mother(i);
}

}  // namespace dunno
