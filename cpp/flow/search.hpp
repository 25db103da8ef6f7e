// Shortest paths through a flow, forward from a daughter who needs a mother and backward from a mother who has a
// place to fill, and the steps that change the flow along them.
//
// The nodes are the mothers: a path enters a mother along an edge and leaves it with a daughter it holds. The
// sink is never expanded, so a search stays near where it began. Distances are reduced costs, which the duals keep
// from being negative: Dijkstra's algorithm applies, and every step keeps the duals valid for the next.
#pragma once

#include <vector>

#include "problem/incidence.hpp"
#include "flow/flow.hpp"
#include "problem/problem.hpp"
#include "problem/stop.hpp"

namespace dunno {

// Where a path from a daughter ends.
struct End {
  double distance = kInfinity;
  std::int32_t mother = kNobody;   // kNobody: the daughter itself appears
  std::int32_t leaving = kNobody;  // who makes room there: a daughter who appears, kPhantom, or nobody
};

// The two kinds of ends: in a phantom's place, or at the sink (room at a mother, or somebody appears).
struct Ends {
  End phantom;
  End sink;
};

// Where a path to a mother's place comes from: a mother with one daughter fewer, or one who appeared.
struct Origin {
  double distance = kInfinity;
  std::int32_t mother = kNobody;
  std::int32_t edge = kAppears;  // the edge by which `appearing` comes to `mother`
  std::int32_t appearing = kNobody;
};

class Search {
 public:
  Search(const Problem& problem, Stop& stop);
  Search(const Problem& problem, const Incidence& edges, Stop& stop);

  // Ways to place an open daughter for less than `bound`; distances include its dual, so the nearest end's is the
  // u it will have. Ends at the first phantom, and at the sink unless it is to look `past_sink` for a phantom.
  Ends forward(const Flow& flow, std::int32_t daughter, const Limits& limits, double bound, bool past_sink);

  // The cheapest way, below `bound`, to give a phantom's place at a mother to somebody or to nobody.
  Origin backward(const Flow& flow, std::int32_t mother, const Limits& limits, double bound);

  // Places an open daughter at the least cost, in a phantom's place or elsewhere.
  void insert(Flow& flow, std::int32_t daughter, const Limits& limits = {});

  // Ends a phantom, at the least cost.
  void remove_phantom(Flow& flow, std::int32_t mother, const Limits& limits = {});

 private:
  struct Reached {
    double distance;
    std::int32_t mother;
    bool operator<(const Reached& other) const { return distance > other.distance; }  // std heaps keep the largest on top
  };

  void begin();
  bool pop(Reached& reached);
  bool push(std::int32_t mother, double distance, std::int32_t edge, std::int32_t daughter);
  void reach(const Flow& flow, double distance, std::int32_t edge, std::int32_t daughter, Ends& ends);
  void relax_back(const Flow& flow, std::int32_t mother, double distance, const Limits& limits, Origin& best);
  void check(const Flow& flow, const Limits& limits) const;  // in a build with DUNNO_CHECK
  void augment(Flow& flow, const End& end);
  void pull(Flow& flow, const Origin& origin, std::int32_t mother);

  const Problem& problem_;
  const Incidence* edges_;
  Stop& stop_;

  // The state of one search; `stamp_` tells which entries belong to it, so that nothing needs clearing.
  std::vector<double> distance_;
  std::vector<std::int32_t> via_edge_, via_daughter_;
  std::vector<std::uint32_t> seen_at_;
  std::vector<Reached> heap_;
  std::vector<std::int32_t> settled_;
  std::uint32_t stamp_ = 0;
};

}  // namespace dunno
