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
// A mother with triples has triple[e, f] in the place of each product dividing[e] dividing[f].
// Nothing is subtracted (the sums over "the others" come from both ends), so small odds keep their digits.
#pragma once

#include <vector>

#include "problem/incidence.hpp"
#include "problem/problem.hpp"
#include "posterior/pair_sums.hpp"
#include "posterior/weights.hpp"

namespace dunno {

template <typename Number>
class Messages {
 public:
  Messages(const Problem& problem, const Incidence& edges, const Weights<Number>& weights);

  // Declares that the edge's mother and daughter are in one cluster.
  void put_inside(std::int32_t edge) {
    is_inside[edge] = is_clustered_mother_[problem_.mother[edge]] = is_clustered_daughter_[edges_.daughter[edge]] = 1;
  }

  bool is_clustered_mother(std::int32_t mother) const { return is_clustered_mother_[mother]; }
  bool is_clustered_daughter(std::int32_t daughter) const { return is_clustered_daughter_[daughter]; }

  // A mother's message in proportion to its weight of the edge: what stays nearly the same when costs change.
  double reply(std::int32_t edge) const { return static_cast<double>(to_daughter[edge] / weights_.single[edge]); }
  void begin_with(const std::vector<double>& reply) {
    for (std::size_t e = 0; e < reply.size(); ++e) to_daughter[e] = weights_.single[e] * Number(reply[e]);
  }

  // What a mother's cut edges add up to.
  struct Outside {
    Number single, dividing, pairs;  // sum X, sum Y (not with triples), e2(Y)
    const Number* partners;          // with triples, of each of its edges: sum triple n; until the next call
  };
  Outside outside_of_mother(std::int32_t mother);
  // Dividing into an inside edge and any of the cut ones: pair dividing[e] sum Y.
  Number dividing_outside(std::int32_t edge, const Outside& outside) const {
    const std::int32_t i = problem_.mother[edge];
    return weights_.pair[i] * (outside.partners ? outside.partners[weights_.triples->place[edge]]
                                                : weights_.dividing[edge] * outside.dividing);
  }
  // `appear` and the messages along a daughter's cut edges.
  Number outside_of_daughter(std::int32_t daughter) const;

  // Both set awake[receiver] where the edge's probability changes by more than the tolerance.
  void send_from_mother(std::int32_t mother, double tolerance, std::vector<char>& daughter_awake);
  void send_from_daughter(std::int32_t daughter, double tolerance, std::vector<char>& mother_awake);

  // The probabilities of a daughter's options, which sum to one: writes those of its edges, returns that of appearing.
  double believe_daughter(std::int32_t daughter, std::vector<double>& edge) const;
  // The same of a mother's: writes those of its edges alone and as one of two, returns that of disappearing.
  double believe_mother(std::int32_t mother, std::vector<double>& single, std::vector<double>& pair);
  // The same of all pairs of its edges, for mothers with listed triples: writes its table, degree x degree.
  void believe_pairs(std::int32_t mother, std::vector<double>& both);

  // The Bethe estimate's factor of a single cell (a daughter's is `outside_of_daughter`), and of a cut edge.
  Number factor_of_mother(std::int32_t mother);
  Number factor_of_cut(std::int32_t edge) const { return Number(1.0) + to_mother[edge] * to_daughter[edge]; }

  std::vector<Number> to_mother, to_daughter;  // (edges) n and m
  std::vector<char> is_inside;                 // (edges) whether mother and daughter are in one cluster
  double kept_share = 0.0;                     // of a mother's last message, in the next one (damping)

  std::vector<Number> out;           // (n_daughters)
  std::vector<Number> in;            // (edges) the share of the daughter's `in` that is this inside edge
  std::vector<Number> none;          // (n_mothers) none'
  std::vector<Number> alone, twin;   // (edges) alone[k]; the probability to be one of two inside edges
  std::vector<Number> twins;         // the probability of two inside edges, laid out as Triples::cost; empty: nobody has any

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
  // The sum over all that the mother may do.
  Number sum_of_mother(std::int32_t mother, const Outside& outside, const Inside& inside) const;
  void tell_daughter(std::int32_t edge, Number message, double tolerance, std::vector<char>& daughter_awake);

  // The same for cells that are no part of a cluster, where nothing has to be told apart.
  void send_from_single_mother(std::int32_t mother, double tolerance, std::vector<char>& daughter_awake);
  void send_from_single_daughter(std::int32_t daughter, double tolerance, std::vector<char>& mother_awake);
  // The same for mothers with triples.
  Outside outside_with_triples(std::int32_t mother);
  void send_with_triples(std::int32_t mother, double tolerance, std::vector<char>& daughter_awake);
  double believe_with_triples(std::int32_t mother, std::vector<double>& single, std::vector<double>& pair);
  // Sets cut_ and kept_; returns whether it has any cut edges.
  bool look_at_edges(std::int32_t mother);
  // Of each of its edges: sum over the others of triple * messages.
  void add_partners(std::int32_t mother, const std::vector<Number>& messages, std::vector<Number>& sums) const;

  // The message along a cut edge, and `alone` of an inside edge; zero of the others.
  Number cut(std::int32_t edge) const { return is_inside[edge] ? Number(0.0) : to_mother[edge]; }
  Number kept(std::int32_t edge) const { return is_inside[edge] ? alone[edge] : Number(0.0); }

  const Problem& problem_;
  const Incidence& edges_;
  const Weights<Number>& weights_;
  std::vector<char> is_clustered_mother_, is_clustered_daughter_;  // (n_mothers), (n_daughters) whether it has inside edges
  std::vector<Number> single_, dividing_;  // (edges) the weights in the mothers' order, as most of the time goes there ...
  std::vector<std::int32_t> daughter_;     // ... and the daughters
  std::vector<Number> sums_;      // scratch: one row's partial sums
  std::vector<Partial> partial_;  // scratch: one mother's
  std::vector<Number> x_, y_;     // scratch: what each of its daughters adds to them
  PairSums<Number> pair_sums_;    // scratch: over the cut edges of a mother with triples ...
  std::vector<Number> cut_, kept_;           // ... the messages along them; `alone` of its inside edges
  std::vector<Number> partners_, beside_;    // ... each edge's partners among the ones and among the others
};

extern template class Messages<double>;
extern template class Messages<Wide>;

}  // namespace dunno
