// Belief propagation: single cells and clusters send messages until nothing changes any more.
//
// Most messages settle within a few rounds. A cell rests until a message to it changes, so that later rounds only
// cost what still moves.
#pragma once

#include <vector>

#include "posterior/clusters.hpp"
#include "posterior/messages.hpp"
#include "problem/stop.hpp"

namespace dunno {

struct Pace {
  double tolerance;     // changes of an edge's probability that wake nobody
  std::int32_t rounds;  // at most
};

template <typename Number>
class BeliefPropagation {
 public:
  BeliefPropagation(const Problem& problem, const Incidence& edges, Messages<Number>& messages,
                    ClusterSolver<Number>& solver, Stop& stop);

  // Passes messages among the given cells, all of whose edges must lead to each other; clusters stand in the place of
  // the cells that they hold. Returns whether the messages settled.
  bool run(const std::vector<std::int32_t>& mothers, const std::vector<std::int32_t>& daughters,
           const std::vector<Cluster>& clusters, const Pace& pace);

  // Sums once more over the clusters that messages have changed for since their last turn, without sending any: what
  // clusters and cut edges add up to must be about the same messages. Returns the logarithm of all clusters' sums.
  double settle(const std::vector<Cluster>& clusters);

 private:
  static constexpr std::int32_t kUndamped = 50;  // rounds; later messages move only half of the way

  bool wake(const Cluster& cluster);
  void send(const Cluster& cluster, double tolerance);

  const Problem& problem_;
  const Incidence& edges_;
  Messages<Number>& messages_;
  ClusterSolver<Number>& solver_;
  Stop& stop_;
  std::vector<char> mother_awake_, daughter_awake_;
  std::vector<double> log_sums_;  // of each cluster, when it had its last turn
};

extern template class BeliefPropagation<double>;
extern template class BeliefPropagation<Wide>;

}  // namespace dunno
