// What mothers and daughters tell each other along their edges.
//
// The cells fall into clusters, most of them of a single cell; inside a cluster the sum is exact, between clusters
// messages pass along the cut edges. Both are odds of the edge being chosen to its not being chosen:
//   from daughter j:  n[e] = out / (out (appear + sum of the other m) + in),
//   from mother i:    m[e] = W(chosen) / W(not chosen),
// where, over the other cut edges with X = single n and Y = dividing n,
//   W(chosen)     = none' (single[e] + pair dividing[e] sum Y) + pair dividing[e] sum_k alone[k] dividing[k]
//   W(not chosen) = none' (none + sum X + pair e2(Y)) + sum_k alone[k] (single[k] + pair dividing[k] sum Y) + two.
// `out`, `in` (daughters) and `none'`, `alone`, `two` (mothers) sum up what the rest of the cluster makes of its own
// edges k; for a single cell out = none' = 1 and the others are zero, which is plain belief propagation.
// Nothing is subtracted (the sums over "the others" come from both ends), so small odds keep their digits.
#pragma once

#include <vector>

#include "problem/incidence.hpp"
#include "problem/problem.hpp"
#include "posterior/weights.hpp"

namespace dunno {

template <typename Number>
class Messages {
 public:
  Messages(const Problem& problem, const Incidence& edges, const Weights<Number>& weights);

  // Declares that the edge's mother and daughter are in one cluster.
  void put_inside(std::int32_t edge) { is_inside[edge] = is_clustered_[problem_.mother[edge]] = 1; }

  // What a mother's cut edges add up to.
  struct Outside {
    Number single, dividing, pairs;  // sum X, sum Y, e2(Y)
  };
  Outside outside_of_mother(std::int32_t mother) const;
  // `appear` and the messages along a daughter's cut edges.
  Number outside_of_daughter(std::int32_t daughter) const;

  // Both set awake[receiver] where the edge's probability changes by more than the tolerance.
  void send_from_mother(std::int32_t mother, double tolerance, std::vector<char>& daughter_awake);
  void send_from_daughter(std::int32_t daughter, double tolerance, std::vector<char>& mother_awake);

  // The probabilities of a daughter's options, which sum to one: writes those of her edges, returns that of appearing.
  double believe_daughter(std::int32_t daughter, std::vector<double>& edge) const;
  // The same of a mother's: writes those of her edges alone and as one of two, returns that of disappearing.
  double believe_mother(std::int32_t mother, std::vector<double>& single, std::vector<double>& pair);

  // The Bethe estimate's share of a single cell, and of a cut edge.
  double log_sum_of_daughter(std::int32_t daughter) const { return log_of(outside_of_daughter(daughter)); }
  double log_sum_of_mother(std::int32_t mother) const;
  double log_sum_of_cut(std::int32_t edge) const { return log_of(Number(1.0) + to_mother[edge] * to_daughter[edge]); }

  std::vector<Number> to_mother, to_daughter;  // (edges) n and m
  std::vector<char> is_inside;                 // (edges) whether mother and daughter are in one cluster
  double kept_share = 0.0;                     // of a mother's last message, in the next one (damping)

  std::vector<Number> out;           // (n_daughters)
  std::vector<Number> in;            // (edges) the share of the daughter's `in` that is this inside edge
  std::vector<Number> none;          // (n_mothers) none'
  std::vector<Number> alone, twin;   // (edges) alone[k]; the probability to be one of two inside edges

 private:
  // Sums over a mother's cut edges before or after one of them.
  struct Partial {
    Number single, dividing, pairs;
    void add(const Number& x, const Number& y) {
      pairs += dividing * y;
      single += x;
      dividing += y;
    }
  };
  struct Inside {
    Number single, dividing, two;  // sum alone single, sum alone dividing, probability of two inside edges
  };
  Inside inside_of_mother(std::int32_t mother) const;

  const Problem& problem_;
  const Incidence& edges_;
  const Weights<Number>& weights_;
  std::vector<char> is_clustered_;  // (n_mothers) whether she has inside edges
  std::vector<Number> sums_;      // scratch: one row's partial sums
  std::vector<Partial> partial_;  // scratch: one mother's
};

extern template class Messages<double>;
extern template class Messages<Wide>;

}  // namespace dunno
