// Groups of cells whose edges are summed over together.
#pragma once

#include <vector>

#include "posterior/elimination.hpp"
#include "posterior/frontier.hpp"
#include "problem/incidence.hpp"
#include "posterior/messages.hpp"
#include "problem/problem.hpp"

namespace dunno {

// Disjoint groups of cells: mothers come first, then daughters.
class Groups {
 public:
  explicit Groups(const Problem& problem);

  std::int32_t of_mother(std::int32_t mother) { return find(mother); }
  std::int32_t of_daughter(std::int32_t daughter) { return find(n_mothers_ + daughter); }
  // Whether nobody has joined the mother.
  bool is_alone(std::int32_t mother) { return size_[of_mother(mother)] == 1; }
  // Joins the groups of an edge's mother and daughter unless that would make more than `most` cells of them.
  void join(std::int32_t mother, std::int32_t daughter, std::int32_t most);

  // The mothers of each group that has any, both in ascending order.
  std::vector<std::vector<std::int32_t>> mothers();

 private:
  std::int32_t find(std::int32_t cell);

  std::int32_t n_mothers_;
  std::vector<std::int32_t> leader_, size_;
};

Groups connected_components(const Problem& problem);

// One group's mothers and daughters with the edges between them.
struct Cluster {
  std::vector<std::int32_t> mothers, daughters;  // the problem's numbers
  std::vector<std::vector<std::int32_t>> edge;   // the problem's edges of each mother, as in graph.daughters
  ClusterGraph graph;
  Elimination plan;
};

class ClusterBuilder {
 public:
  ClusterBuilder(const Problem& problem, const Incidence& edges)
      : edges_(edges), number_(problem.n_daughters, 0) {}

  // Without a plan. Edges that are not eligible stay outside, and so do daughters with fewer than `fewest` edges into
  // the group: a message from a daughter with one edge says all there is to say, and saves a place in the frontier.
  Cluster build(Groups& groups, const std::vector<std::int32_t>& mothers, const std::vector<char>& eligible,
                std::int32_t fewest = 2);

 private:
  const Incidence& edges_;
  std::vector<std::int32_t> number_;  // scratch: edges into the group, then the daughter's number in the cluster
};

// Sums over a cluster, with the messages along its cut edges folded in, and tells its cells what came out.
template <typename Number>
class ClusterSolver {
 public:
  ClusterSolver(const Weights<Number>& weights, Messages<Number>& messages, Stop& stop)
      : weights_(weights), messages_(messages), frontier_(stop) {}

  // Returns the logarithm of the sum.
  double solve(const Cluster& cluster);

 private:
  void fold(const Cluster& cluster);
  void tell(const Cluster& cluster);
  void tell_twins(const Cluster& cluster);

  const Weights<Number>& weights_;
  Messages<Number>& messages_;
  Frontier<Number> frontier_;
  ClusterWeights<Number> folded_;
  ClusterBeliefs<Number> beliefs_;
};

extern template class ClusterSolver<double>;
extern template class ClusterSolver<Wide>;

}  // namespace dunno
