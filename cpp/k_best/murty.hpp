// The assignments of one problem in ascending order of cost, one at a time, by Murty's partition.
//
// All assignments but a known one fall into n subproblems: in the k-th, the daughters before k stay as they are and
// k may not choose what it has. The cheapest of a subproblem is found from the known one by two short searches:
// k goes elsewhere (to its old place by a detour, or to the sink), and in the latter case its old place is filled
// from the sink. Only the cost of that is computed when a subproblem is made; the assignment itself when its turn comes.
#pragma once

#include <queue>
#include <vector>

#include "problem/incidence.hpp"
#include "flow/flow.hpp"
#include "flow/search.hpp"

namespace dunno {

// What a daughter has chosen instead of what it has in the MAP.
struct Difference {
  std::int32_t daughter;
  std::int32_t edge;  // or kAppears
};

// An assignment by its distance from the cheapest one.
struct Ranked {
  double gap;                           // its cost above the cheapest
  std::vector<Difference> differences;  // ascending by daughter
};

class Murty {
 public:
  // `best` is the problem's cheapest assignment. No more than `k` assignments, and none whose gap is `bound` or
  // more, need to be found; some may be.
  Murty(const Problem& problem, Flow best, std::int64_t k, double bound, Stop& stop);

  // The assignment of that rank (0: the cheapest), or null if there is none.
  const Ranked* at(std::size_t rank);

 private:
  // A subproblem waiting for its turn.
  struct Subproblem {
    double gap;
    std::int32_t solved;    // the solution it was split from
    std::int32_t daughter;  // who must choose otherwise
    bool operator<(const Subproblem& other) const {  // std heaps keep the largest on top
      if (gap != other.gap) return gap > other.gap;
      if (solved != other.solved) return solved > other.solved;
      return daughter > other.daughter;
    }
  };
  struct Solved {
    Flow flow;
    std::int32_t first_free;           // daughters before it are settled in this subproblem
    std::vector<std::int32_t> banned;  // what first_free may not choose
  };

  bool solve_next();
  void split(std::int32_t solved);
  double gap(Flow& flow, const Limits& limits, double bound);
  Solved solve(const Subproblem& subproblem);
  Ranked rank(const Flow& flow) const;
  double bound() const;
  void note(double gap);

  const Problem& problem_;
  const Incidence edges_;
  const std::int64_t k_;
  const double bound_;
  Stop& stop_;
  Search search_;
  std::vector<Solved> solved_;
  std::vector<Ranked> ranked_;
  std::size_t n_split_ = 0;
  std::priority_queue<Subproblem> waiting_;
  std::priority_queue<double> smallest_;  // the k - 1 smallest gaps known: what is not below them all is not needed
};

}  // namespace dunno
