// An assignment together with the prices that prove it the cheapest: the state that all searches work on.
//
// A mother is one node of capacity two: its first daughter saves `disappear`, its second costs `divide`, so the
// problem is a min-cost flow wherever divide >= -disappear. Duals u (daughters) and v (mothers), with the sink's
// at zero, prove that a flow is the cheapest:
//   every edge       u[j] <= cost - v[i], with equality where it is chosen
//   every daughter   u[j] <= appear, with equality where it appears
//   load 0: v = disappear;   load 1: -divide <= v <= disappear;   load 2: v <= -divide.
// What a daughter has chosen is tight, so u follows from v and is not stored.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "problem/problem.hpp"

namespace dunno {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int32_t kOpen = -2;     // in `chosen`: not assigned yet
constexpr std::int32_t kNobody = -1;   // in `held`: a free place
constexpr std::int32_t kPhantom = -2;  // in `held`: a place kept though nobody has it; counts as a daughter

struct Flow {
  std::vector<double> v;                          // (n_mothers)
  std::vector<std::int32_t> chosen;               // (n_daughters): edge, kAppears or kOpen
  std::vector<std::array<std::int32_t, 2>> held;  // each mother's daughters; the first place fills first

  std::int32_t load(std::int32_t mother) const {
    return (held[mother][0] != kNobody) + (held[mother][1] != kNobody);
  }
  bool has_phantom(std::int32_t mother) const {
    return held[mother][0] == kPhantom || held[mother][1] == kPhantom;
  }
  // Puts `arriving` in the place of `leaving`; either may be kNobody.
  void replace(std::int32_t mother, std::int32_t leaving, std::int32_t arriving) {
    auto& places = held[mother];
    places[places[0] == leaving ? 0 : 1] = arriving;
    if (places[0] == kNobody) std::swap(places[0], places[1]);
  }
};

// All daughters open, every mother's place worth what its disappearance costs.
Flow empty_flow(const Problem& problem);

// u[j]: what the place of a daughter who is assigned costs at the current prices.
inline double daughter_dual(const Problem& problem, const Flow& flow, std::int32_t daughter) {
  const std::int32_t e = flow.chosen[daughter];
  return e == kAppears ? problem.appear[daughter] : problem.cost[e] - flow.v[problem.mother[e]];
}

// The reduced cost of one daughter more; infinite where there is no room.
inline double room_cost(const Problem& problem, const Flow& flow, std::int32_t mother) {
  if (flow.held[mother][0] == kNobody) return std::max(0.0, flow.v[mother] - problem.disappear[mother]);
  if (flow.held[mother][1] == kNobody) return std::max(0.0, problem.divide[mother] + flow.v[mother]);
  return kInfinity;
}

// The reduced cost of one daughter fewer; infinite where there is none.
inline double release_cost(const Problem& problem, const Flow& flow, std::int32_t mother) {
  if (flow.held[mother][1] != kNobody) return std::max(0.0, -problem.divide[mother] - flow.v[mother]);
  if (flow.held[mother][0] != kNobody) return std::max(0.0, problem.disappear[mother] - flow.v[mother]);
  return kInfinity;
}

// What a mother with that many daughters costs.
inline double mother_cost(const Problem& problem, std::int32_t mother, std::int32_t load) {
  return load == 0 ? problem.disappear[mother] : load == 2 ? problem.divide[mother] : 0.0;
}

// The cost of the assignment, added up from its parts.
double total_cost(const Problem& problem, const Flow& flow);

// Which daughters a search may move, and where to: all of them anywhere, unless Murty's partition says otherwise.
struct Limits {
  std::int32_t first_free = 0;                        // daughters before it stay where they are
  std::int32_t daughter = kNobody;                    // this one may not choose ...
  const std::vector<std::int32_t>* banned = nullptr;  // ... any of these edges (kAppears: may not appear)

  bool may_move(std::int32_t j) const { return j >= first_free; }
  bool is_banned(std::int32_t j, std::int32_t edge) const {
    if (j != daughter) return false;
    for (const std::int32_t e : *banned)
      if (e == edge) return true;
    return false;
  }
};

// Throws std::logic_error if the duals do not prove that the assignment is the cheapest within the limits.
// Open daughters are skipped, phantoms count.
void check_flow(const Problem& problem, const Flow& flow, const Limits& limits = {});

}  // namespace dunno
