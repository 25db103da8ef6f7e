// The posterior as a product of weights, scaled so that the likely assignments weigh about one.
//
// P(A) is proportional to the product, over daughters, of `appear` where it appears and, over mothers, of
//   none                                   without daughters (it disappears),
//   single[e]                              with the one daughter of edge e,
//   pair * dividing[e] * dividing[f]       with the two daughters of edges e and f, or
//   pair * triple[e, f]                    where the mother's triples cost something; it `dividing` are one then.
// Any price u[j] of a daughter and v[i] of a mother's place may be moved from the edges to the events without
// changing P. The duals of the cheapest assignment are the best prices: with them it weighs one and no weight is
// above one.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "problem/problem.hpp"
#include "problem/stop.hpp"
#include "posterior/wide.hpp"

namespace dunno {

// A sum of doubles came too close to underflow to be relied on; the same sum of Wide numbers can be.
struct Underflow : std::exception {
  const char* what() const noexcept override { return "underflow"; }
};

struct LogWeights {
  std::vector<double> single, dividing;  // (edges); -inf: impossible
  std::vector<double> appear;            // (n_daughters)
  std::vector<double> none, pair;        // (n_mothers)
  std::vector<double> triple;            // as Triples::cost below the diagonal, of mothers whose triples cost something
  double scale = 0.0;                    // log of the factor divided out of the sum over all assignments
  std::vector<std::int32_t> likely;      // (n_daughters) a possible assignment, the cheapest where that is a flow; or empty
  std::vector<double> price;             // (n_mothers) v
  std::shared_ptr<const Triples> triples;  // or null
};

LogWeights make_log_weights(const Problem& problem, Stop& stop);
// The same at prices of mothers' places that are known already, maybe of other costs: no assignment is looked for. No
// weight is above one; the likely assignments may weigh less.
LogWeights make_log_weights(const Problem& problem, const std::vector<double>& price);

template <typename Number>
struct Weights {
  explicit Weights(const LogWeights& logs);

  std::vector<Number> single, dividing, appear, none, pair, triple;
  std::shared_ptr<const Triples> triples;  // or null

  // Whether the mother's pairs have weights of their own.
  bool has_triples(std::int32_t mother) const { return triples && triples->has_cost[mother]; }
  // Whether the probabilities of its pairs are asked for.
  bool is_listed(std::int32_t mother) const { return triples && triples->is_listed(mother); }
  // Its table of triples, degree x degree.
  const Number* table(std::int32_t mother) const { return triple.data() + triples->table[mother]; }
  const Number& of_triple(std::int32_t mother, std::int32_t first, std::int32_t second) const {
    return triple[triples->at(mother, first, second)];
  }
  // The part of its table for some of its edges; empty without triples.
  void triples_among(std::int32_t mother, const std::vector<std::int32_t>& edges, std::vector<Number>& among) const;
};

// Doubles do not go below exp(kFloor): products of a few such weights then stay in range. An assignment that
// stands on a raised weight is about as improbable; `on_the_floor` says which weights were raised, for a check.
constexpr double kFloor = -207.0;
inline bool on_the_floor(double log) { return log < kFloor; }

inline double log_of(double number) { return std::log(number); }
inline double log_of(const Wide& number) { return number.log(); }

// The logarithm of a product of many numbers, by few logarithms.
template <typename Number>
class LogProduct {
 public:
  void multiply(const Number& number) {
    if (!is_moderate(number)) {
      sum_ += log_of(number);
      return;
    }
    product_ *= number;
    if (is_moderate(product_)) return;
    sum_ += log_of(product_);
    product_ = Number(1.0);
  }
  double log() const { return sum_ + log_of(product_); }

 private:
  static bool is_moderate(double number) { return number > 1e-140 && number < 1e140; }
  static bool is_moderate(const Wide&) { return true; }

  Number product_ = Number(1.0);
  double sum_ = 0.0;
};

extern template struct Weights<double>;
extern template struct Weights<Wide>;

}  // namespace dunno
