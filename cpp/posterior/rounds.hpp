// Marginals again and again while costs change, as in the rounds of a fit.
//
// The edges stay, and so do components, clusters, orders of elimination and prices; messages begin with the last ones.
// Clusters are made anew where probabilities have moved far from those by which they were chosen.
#pragma once

#include <list>
#include <mutex>

#include "posterior/kept.hpp"
#include "posterior/marginals.hpp"
#include "problem/problem.hpp"
#include "problem/stop.hpp"

namespace dunno {

class Rounds {
 public:
  // The first call for a problem's edges is `marginals` to the bit.
  Marginals marginals(const Problem& problem, Method method, Stop& stop);

 private:
  // Edges, and what is kept about them.
  struct Known {
    explicit Known(const Problem& problem);
    bool is_about(const Problem& problem) const;

    Problem edges;  // without costs
    Kept kept;
  };
  static constexpr std::size_t kMost = 8;  // the last used ones

  Known& find(const Problem& problem);

  std::mutex lock_;
  std::list<Known> known_;
};

}  // namespace dunno
