// The exact sum over all assignments inside a cluster, one mother after the other (a frontier DP).
//
// Between two mothers the state is the set of open daughters who have a mother already, a bitmask. A mother takes
// none, one or two of its free daughters; then daughters of whom it was the last close: those without a mother
// appear. The forward pass keeps the sums over everything that leads to a state, the backward pass over everything
// that follows; their products are the marginals, and walking back through the forward sums draws samples.
#pragma once

#include <vector>

#include "posterior/elimination.hpp"
#include "sampling/random.hpp"
#include "posterior/taking.hpp"
#include "problem/stop.hpp"
#include "posterior/weights.hpp"

namespace dunno {

// The cluster's weights, with what lies outside the cluster already folded in.
template <typename Number>
struct ClusterWeights {
  std::vector<Number> none, pair;                     // (mothers)
  std::vector<std::vector<Number>> single, dividing;  // of each mother's edges
  std::vector<std::vector<Number>> triple;            // of each two of them, a table; empty: all are one
  std::vector<Number> appear;                         // (daughters)

  void resize(const ClusterGraph& graph);
};

// Probabilities within the cluster; what `single` and the others mean is up to what was folded in.
template <typename Number>
struct ClusterBeliefs {
  std::vector<Number> none;                       // (mothers)
  std::vector<std::vector<Number>> single, pair;  // of each mother's edges: alone, or one of two
  std::vector<std::vector<Number>> twins;         // of each two of them, a table; empty: not asked for
  std::vector<Number> appear;                     // (daughters)

  void resize(const ClusterGraph& graph);
};

template <typename Number>
class Frontier {
 public:
  explicit Frontier(Stop& stop) : stop_(stop) {}

  // Both throw Underflow if doubles did not suffice.
  void forward(const Elimination& plan, const ClusterWeights<Number>& weights);
  void backward(ClusterBeliefs<Number>& beliefs);

  // After forward(): sets taken[i][k] = 1 for the edges of a posterior sample, 0 for the others.
  void sample(Random& random, std::vector<std::vector<char>>& taken) const;

  double log_sum() const { return log_sum_; }

 private:
  using Sums = std::vector<Number>;

  void take(const EliminationStep& step, const Sums& before, Sums& partial, Sums& after);
  void untake(const EliminationStep& step, const Sums& before, const Sums& partial, const Sums& follow, Sums& result,
              ClusterBeliefs<Number>& beliefs);
  Number untake_with_triples(const EliminationStep& step, const Sums& before, const Sums& follow, Sums& result,
                             ClusterBeliefs<Number>& beliefs) const;
  void believe_twins(const EliminationStep& step, const Sums& before, const Sums& follow, Sums& twins) const;
  void close(const EliminationStep& step, Sums& sums) const;
  void reopen(const EliminationStep& step, Sums& sums) const;
  void believe_closing(const EliminationStep& step, const Sums& after, const Sums& follow,
                       ClusterBeliefs<Number>& beliefs) const;
  std::uint32_t sample_closing(const EliminationStep& step, const Sums& after, std::uint32_t mask,
                               Random& random) const;
  std::uint32_t sample_taking(const EliminationStep& step, const Sums& before, std::uint32_t mask, Random& random,
                              std::vector<char>& taken) const;

  Stop& stop_;
  const Elimination* plan_ = nullptr;
  const ClusterWeights<Number>* weights_ = nullptr;
  Taking<Number> taking_;             // for mothers without triples
  std::vector<Sums> before_, after_;  // (steps) before a mother takes, and after, before anybody closes
  std::vector<Sums> partial_;         // (steps) see Taking
  Sums sums_, follow_, scratch_;
  double log_sum_ = 0.0;
};

extern template struct ClusterWeights<double>;
extern template struct ClusterWeights<Wide>;
extern template struct ClusterBeliefs<double>;
extern template struct ClusterBeliefs<Wide>;
extern template class Frontier<double>;
extern template class Frontier<Wide>;

}  // namespace dunno
