// Which cells to sum over together? Those that probably belong together.
//
// The ends of the most probable edges are joined first (Kruskal), as long as the groups stay small. A group whose sum
// would cost too much is taken apart and joined again into smaller ones.
#pragma once

#include <vector>

#include "posterior/clusters.hpp"
#include "problem/incidence.hpp"
#include "problem/problem.hpp"
#include "problem/stop.hpp"

namespace dunno {

class ClusterMaker {
 public:
  // `probability` (edges) by a first estimate; edges of which it is negligible stay outside of all clusters. For the
  // daughters with `fewest` edges see ClusterBuilder.
  ClusterMaker(const Problem& problem, const Incidence& edges, const std::vector<double>& probability, Stop& stop,
               std::int32_t fewest = 2);

  // Makes clusters of at most this many cells.
  std::vector<Cluster> make(std::int32_t most_cells = 20);
  // Lets other edges come first from now on: `priority` (edges), not negative, in the place of the probability.
  void prefer(const std::vector<double>& priority);

 private:
  void join(std::int32_t most_cells, std::vector<Cluster>& clusters);

  const Problem& problem_;
  const Incidence& edges_;
  Stop& stop_;
  ClusterBuilder builder_;
  std::int32_t fewest_;
  std::vector<char> eligible_;       // (edges)
  std::vector<std::int32_t> order_;  // the eligible edges, the most probable first
  std::vector<std::int32_t> left_;   // those still to be joined
};

}  // namespace dunno
