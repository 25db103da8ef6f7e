// The cheapest assignment (MAP), by successive shortest paths with dual potentials.
//
// A mother is one node of capacity two: her first daughter saves `disappear`, her second costs `divide`, so the
// problem is a min-cost flow wherever divide >= -disappear. Duals u (daughters) and v (mothers), with the
// sink's at zero, prove that a flow is the cheapest:
//   every edge       u[j] <= cost - v[i], with equality where it is chosen
//   every daughter   u[j] <= appear, with equality where she appears
//   load 0: v = disappear;   load 1: -divide <= v <= disappear;   load 2: v <= -divide.
#pragma once

#include <array>
#include <vector>

#include "problem.hpp"
#include "stop.hpp"

namespace dunno {

class Map {
 public:
  Map(const Problem& problem, Stop& stop);

  // Finds the cheapest assignment.
  void solve();

  // The cost of the assignment, added up from its parts.
  double cost() const;

  // (n_daughters): index into the problem's edges, or kAppears.
  const std::vector<std::int32_t>& chosen() const { return chosen_; }
  const std::vector<double>& daughter_duals() const { return u_; }
  const std::vector<double>& mother_duals() const { return v_; }

  // Throws std::logic_error if the duals do not prove that the assignment is the cheapest.
  void check_duals() const;

 private:
  static constexpr std::int32_t kOpen = -2;  // not assigned yet
  static constexpr std::int32_t kNobody = -1;

  struct Reached {
    double distance;
    std::int32_t mother;
    bool operator<(const Reached& other) const { return distance > other.distance; }  // std heaps keep the largest on top
  };

  // Where the shortest path from a daughter ends: a mother with room, or a daughter who appears instead.
  struct End {
    double distance;
    std::int32_t mother;
    std::int32_t appearing;
  };

  void take_tight_edges();
  void insert(std::int32_t daughter);
  End shortest_path(std::int32_t daughter);
  void relax(std::int32_t daughter, double distance, double bound);
  void shift_duals(double distance);
  void augment(const End& end);
  std::int32_t load(std::int32_t mother) const {
    return (held_[mother][0] != kNobody) + (held_[mother][1] != kNobody);
  }

  const Problem& problem_;
  Stop& stop_;
  std::vector<double> u_, v_;
  std::vector<std::int32_t> chosen_;
  std::vector<std::array<std::int32_t, 2>> held_;  // each mother's daughters; the first place fills first

  // The state of one search; `stamp_` tells which entries belong to it, so that nothing needs clearing.
  std::vector<double> distance_;
  std::vector<std::int32_t> via_edge_, via_daughter_, seen_at_;
  std::vector<Reached> heap_;
  std::vector<std::int32_t> settled_;
  std::int32_t stamp_ = 0;
};

}  // namespace dunno
