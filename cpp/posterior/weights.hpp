// The posterior as a product of weights, scaled so that the likely assignments weigh about one.
//
// P(A) is proportional to the product, over daughters, of `appear` where she appears and, over mothers, of
//   none                                   without daughters (she disappears),
//   single[e]                              with the one daughter of edge e,
//   pair * dividing[e] * dividing[f]       with the two daughters of edges e and f.
// Any price u[j] of a daughter and v[i] of a mother's place may be moved from the edges to the events without
// changing P. The duals of the cheapest assignment are the best prices: with them it weighs one and no weight is
// above one.
#pragma once

#include <exception>
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
  double scale = 0.0;                    // log of the factor divided out of the sum over all assignments
  std::vector<std::int32_t> likely;      // (n_daughters) a possible assignment, the cheapest where that is a flow
};

LogWeights make_log_weights(const Problem& problem, Stop& stop);

template <typename Number>
struct Weights {
  explicit Weights(const LogWeights& logs);

  std::vector<Number> single, dividing, appear, none, pair;
};

// Doubles do not go below exp(kFloor): products of a few such weights then stay in range. An assignment that
// stands on a raised weight is about as improbable; `on_the_floor` says which weights were raised, for a check.
constexpr double kFloor = -207.0;
inline bool on_the_floor(double log) { return log < kFloor; }

inline double log_of(double number) { return std::log(number); }
inline double log_of(const Wide& number) { return number.log(); }

extern template struct Weights<double>;
extern template struct Weights<Wide>;

}  // namespace dunno
