#include "posterior/messages.hpp"

#include <algorithm>
#include <cmath>

namespace dunno {
namespace {

// Whether two probabilities, given as odds, differ by more than the tolerance.
bool differ(double odds, double before, double tolerance) {
  return std::abs(odds - before) > tolerance * (1.0 + odds) * (1.0 + before);
}
bool differ(const Wide& odds, const Wide& before, double tolerance) {
  const Wide one(1.0);
  const double p = static_cast<double>(odds / (one + odds)), q = static_cast<double>(before / (one + before));
  return std::abs(p - q) > tolerance;
}

}  // namespace

template <typename Number>
Messages<Number>::Messages(const Problem& problem, const Incidence& edges, const Weights<Number>& weights)
    : to_mother(problem.n_edges(), Number(0.0)),
      to_daughter(weights.single),
      is_inside(problem.n_edges(), 0),
      out(problem.n_daughters, Number(1.0)),
      in(problem.n_edges(), Number(0.0)),
      none(problem.n_mothers, Number(1.0)),
      alone(problem.n_edges(), Number(0.0)),
      twin(problem.n_edges(), Number(0.0)),
      twins(weights.triple.size(), Number(0.0)),
      problem_(problem),
      edges_(edges),
      weights_(weights),
      is_clustered_(problem.n_mothers, 0) {
  std::int32_t most = 0;
  for (std::int32_t i = 0; i < problem.n_mothers; ++i) most = std::max(most, edges.first[i + 1] - edges.first[i]);
  for (std::int32_t j = 0; j < problem.n_daughters; ++j) most = std::max(most, problem.row[j + 1] - problem.row[j]);
  sums_.resize(most + 1);
  partial_.resize(most + 1);
  x_.resize(most + 1);
  y_.resize(most + 1);
  single_.reserve(problem.n_edges());
  dividing_.reserve(problem.n_edges());
  for (const std::int32_t e : edges.edge) {
    single_.push_back(weights.single[e]);
    dividing_.push_back(weights.dividing[e]);
  }
}

template <typename Number>
typename Messages<Number>::Outside Messages<Number>::outside_of_mother(std::int32_t mother) const {
  if (weights_.has_triples(mother)) return outside_with_triples(mother);
  Partial sum{};
  for (std::int32_t k = edges_.first[mother]; k < edges_.first[mother + 1]; ++k) {
    const std::int32_t e = edges_.edge[k];
    if (!is_inside[e]) sum.add(weights_.single[e] * to_mother[e], weights_.dividing[e] * to_mother[e]);
  }
  return {sum.single, sum.dividing, sum.pairs};
}

template <typename Number>
Number Messages<Number>::outside_of_daughter(std::int32_t daughter) const {
  Number sum = weights_.appear[daughter];
  for (std::int32_t e = problem_.row[daughter]; e < problem_.row[daughter + 1]; ++e)
    if (!is_inside[e]) sum += to_daughter[e];
  return sum;
}

template <typename Number>
typename Messages<Number>::Inside Messages<Number>::inside_of_mother(std::int32_t mother) const {
  Inside sum{};
  if (!is_clustered_[mother]) return sum;
  for (std::int32_t k = edges_.first[mother]; k < edges_.first[mother + 1]; ++k) {
    const std::int32_t e = edges_.edge[k];
    if (!is_inside[e]) continue;
    sum.single += alone[e] * weights_.single[e];
    sum.dividing += alone[e] * weights_.dividing[e];
    sum.two += Number(0.5) * twin[e];
  }
  return sum;
}

template <typename Number>
Number Messages<Number>::sum_of_mother(std::int32_t mother, const Outside& outside, const Inside& inside) const {
  const Number rest = none[mother], twice = weights_.pair[mother];
  const Number sum = rest * (weights_.none[mother] + outside.single + twice * outside.pairs) + inside.single;
  if (!weights_.has_triples(mother)) return sum + twice * inside.dividing * outside.dividing + inside.two;
  Number across(0.0);
  for (std::int32_t k = edges_.first[mother]; k < edges_.first[mother + 1]; ++k)
    if (is_inside[edges_.edge[k]]) across += alone[edges_.edge[k]] * dividing_outside(edges_.edge[k], outside);
  return sum + across + inside.two;
}

template <typename Number>
inline void Messages<Number>::tell_daughter(std::int32_t edge, Number message, double tolerance,
                                            std::vector<char>& daughter_awake) {
  const Number before = to_daughter[edge];
  if (kept_share > 0.0) message = Number(kept_share) * before + Number(1.0 - kept_share) * message;
  to_daughter[edge] = message;
  daughter_awake[edges_.daughter[edge]] |= differ(message * to_mother[edge], before * to_mother[edge], tolerance);
}

template <typename Number>
void Messages<Number>::send_from_mother(std::int32_t mother, double tolerance, std::vector<char>& daughter_awake) {
  if (weights_.has_triples(mother)) return send_with_triples(mother, tolerance, daughter_awake);
  if (!is_clustered_[mother]) return send_from_single_mother(mother, tolerance, daughter_awake);
  const std::int32_t first = edges_.first[mother], last = edges_.first[mother + 1];
  const Inside inside = inside_of_mother(mother);
  const Number rest = none[mother], pair = weights_.pair[mother];
  Partial sum{};
  for (std::int32_t k = last; k-- > first;) {
    partial_[k - first] = sum;
    const std::int32_t e = edges_.edge[k];
    if (!is_inside[e]) sum.add(weights_.single[e] * to_mother[e], weights_.dividing[e] * to_mother[e]);
  }
  const Number base = rest * weights_.none[mother] + inside.single + inside.two;
  sum = Partial{};
  for (std::int32_t k = first; k < last; ++k) {
    const std::int32_t e = edges_.edge[k];
    if (is_inside[e]) continue;
    const Partial& later = partial_[k - first];
    const Number x = sum.single + later.single, y = sum.dividing + later.dividing;
    const Number pairs = sum.pairs + later.pairs + sum.dividing * later.dividing;
    const Number dividing = pair * weights_.dividing[e];
    const Number chosen = rest * (weights_.single[e] + dividing * y) + dividing * inside.dividing;
    tell_daughter(e, chosen / (base + rest * (x + pair * pairs) + pair * inside.dividing * y), tolerance,
                  daughter_awake);
    sum.add(weights_.single[e] * to_mother[e], weights_.dividing[e] * to_mother[e]);
  }
}

// First all sums and quotients, then who hears of them: nothing waits for a guess which way an `if` goes.
template <typename Number>
void Messages<Number>::send_from_single_mother(std::int32_t mother, double tolerance,
                                               std::vector<char>& daughter_awake) {
  const std::int32_t first = edges_.first[mother], n = edges_.first[mother + 1] - first;
  const std::int32_t* edge = edges_.edge.data() + first;
  const Number *single = single_.data() + first, *dividing = dividing_.data() + first, *heard = to_mother.data();
  const Number none_weight = weights_.none[mother], pair = weights_.pair[mother];
  Number *x = x_.data(), *y = y_.data();
  Partial* partial = partial_.data();
  Partial sum{};
  for (std::int32_t k = n; k-- > 0;) {
    partial[k] = sum;
    const Number message = heard[edge[k]];
    x[k] = single[k] * message;
    y[k] = dividing[k] * message;
    sum.add(x[k], y[k]);
  }
  sum = Partial{};
  for (std::int32_t k = 0; k < n; ++k) {
    const Partial& later = partial[k];
    const Number singles = sum.single + later.single, others = sum.dividing + later.dividing;
    const Number pairs = sum.pairs + later.pairs + sum.dividing * later.dividing;
    sum.add(x[k], y[k]);
    x[k] = (single[k] + pair * dividing[k] * others) / (none_weight + (singles + pair * pairs));
  }
  for (std::int32_t k = 0; k < n; ++k) tell_daughter(edge[k], x[k], tolerance, daughter_awake);
}

template <typename Number>
void Messages<Number>::send_from_daughter(std::int32_t daughter, double tolerance, std::vector<char>& mother_awake) {
  const std::int32_t first = problem_.row[daughter], last = problem_.row[daughter + 1];
  Number sum(0.0), held(0.0);
  for (std::int32_t e = last; e-- > first;) {
    sums_[e - first] = sum;
    if (is_inside[e]) {
      held += in[e];
    } else {
      sum += to_daughter[e];
    }
  }
  sum = weights_.appear[daughter];
  for (std::int32_t e = first; e < last; ++e) {
    if (is_inside[e]) continue;
    const Number before = to_mother[e], other = to_daughter[e];
    const Number message = out[daughter] / (out[daughter] * (sum + sums_[e - first]) + held);
    to_mother[e] = message;
    sum += other;
    mother_awake[problem_.mother[e]] |= differ(message * other, before * other, tolerance);
  }
}

template <typename Number>
double Messages<Number>::believe_daughter(std::int32_t daughter, std::vector<double>& edge) const {
  Number total = out[daughter] * weights_.appear[daughter];
  for (std::int32_t e = problem_.row[daughter]; e < problem_.row[daughter + 1]; ++e)
    total += is_inside[e] ? in[e] : out[daughter] * to_daughter[e];
  for (std::int32_t e = problem_.row[daughter]; e < problem_.row[daughter + 1]; ++e)
    edge[e] = static_cast<double>((is_inside[e] ? in[e] : out[daughter] * to_daughter[e]) / total);
  return static_cast<double>(out[daughter] * weights_.appear[daughter] / total);
}

template <typename Number>
double Messages<Number>::believe_mother(std::int32_t mother, std::vector<double>& single,
                                        std::vector<double>& pair) {
  if (weights_.has_triples(mother)) return believe_with_triples(mother, single, pair);
  const std::int32_t first = edges_.first[mother], last = edges_.first[mother + 1];
  const Outside outside = outside_of_mother(mother);
  const Inside inside = inside_of_mother(mother);
  const Number rest = none[mother], twice = weights_.pair[mother];
  const Number total = sum_of_mother(mother, outside, inside);
  Number before(0.0);
  sums_[last - first] = Number(0.0);
  for (std::int32_t k = last; k-- > first;) {
    const std::int32_t e = edges_.edge[k];
    sums_[k - first] = sums_[k - first + 1];
    if (!is_inside[e]) sums_[k - first] += weights_.dividing[e] * to_mother[e];
  }
  for (std::int32_t k = first; k < last; ++k) {
    const std::int32_t e = edges_.edge[k];
    Number one, two;
    if (is_inside[e]) {
      one = alone[e] * weights_.single[e];
      two = twin[e] + twice * alone[e] * weights_.dividing[e] * outside.dividing;
    } else {
      const Number y = weights_.dividing[e] * to_mother[e];
      one = rest * weights_.single[e] * to_mother[e];
      two = twice * y * (rest * (before + sums_[k - first + 1]) + inside.dividing);
      before += y;
    }
    single[e] = static_cast<double>(one / total);
    pair[e] = static_cast<double>(two / total);
  }
  return static_cast<double>(rest * weights_.none[mother] / total);
}

template <typename Number>
double Messages<Number>::log_sum_of_mother(std::int32_t mother) const {
  const Outside outside = outside_of_mother(mother);
  return log_of(weights_.none[mother] + outside.single + weights_.pair[mother] * outside.pairs);
}

// Every pair has its own weight, so sums over pairs go over the mother's table of them.
template <typename Number>
typename Messages<Number>::Outside Messages<Number>::outside_with_triples(std::int32_t mother) const {
  Outside sum{};
  const std::int32_t first = edges_.first[mother], n = edges_.first[mother + 1] - first;
  const Number* table = weights_.table(mother);
  for (std::int32_t k = 0; k < n; ++k) {
    const std::int32_t e = edges_.edge[first + k];
    if (is_inside[e]) continue;
    sum.single += weights_.single[e] * to_mother[e];
    Number partners(0.0);
    for (std::int32_t l = 0; l < k; ++l) partners += table[k * n + l] * cut(edges_.edge[first + l]);
    sum.pairs += to_mother[e] * partners;
  }
  return sum;
}

template <typename Number>
Number Messages<Number>::partners_outside(std::int32_t edge) const {
  const std::int32_t mother = problem_.mother[edge];
  Number sum(0.0);
  for (std::int32_t k = edges_.first[mother]; k < edges_.first[mother + 1]; ++k)
    sum += weights_.of_triple(mother, edge, edges_.edge[k]) * cut(edges_.edge[k]);
  return sum;
}

template <typename Number>
void Messages<Number>::sum_pairs(std::int32_t mother) {
  const std::int32_t first = edges_.first[mother], n = edges_.first[mother + 1] - first;
  const Number* table = weights_.table(mother);
  cut_.resize(n);
  for (std::int32_t k = 0; k < n; ++k) cut_[k] = cut(edges_.edge[first + k]);
  pair_sums_.add_up(table, cut_);
  beside_.assign(n, Number(0.0));
  if (!is_clustered_[mother]) return;
  for (std::int32_t l = 0; l < n; ++l) {
    const Number one = kept(edges_.edge[first + l]);
    for (std::int32_t k = 0; k < n; ++k) beside_[k] += table[l * n + k] * one;
  }
}

template <typename Number>
void Messages<Number>::send_with_triples(std::int32_t mother, double tolerance, std::vector<char>& daughter_awake) {
  const std::int32_t first = edges_.first[mother], n = edges_.first[mother + 1] - first;
  const Inside inside = inside_of_mother(mother);
  const Number rest = none[mother], pair = weights_.pair[mother];
  const Number base = rest * weights_.none[mother] + inside.single + inside.two;
  sum_pairs(mother);
  // Here `dividing` adds up the divisions into a cut edge and an inside one.
  const auto add = [&](Partial& sum, std::int32_t k) {
    sum.single += weights_.single[edges_.edge[first + k]] * cut_[k];
    sum.dividing += cut_[k] * beside_[k];
  };
  Partial sum{};
  for (std::int32_t k = n; k-- > 0;) {
    partial_[k] = sum;
    add(sum, k);
  }
  sum = Partial{};
  for (std::int32_t k = 0; k < n; ++k) {
    const std::int32_t e = edges_.edge[first + k];
    if (is_inside[e]) continue;
    const Number x = sum.single + partial_[k].single, across = sum.dividing + partial_[k].dividing;
    const Number chosen = rest * (weights_.single[e] + pair * pair_sums_.partners[k]) + pair * beside_[k];
    tell_daughter(e, chosen / (base + rest * (x + pair * pair_sums_.without[k]) + pair * across), tolerance,
                  daughter_awake);
    add(sum, k);
  }
}

template <typename Number>
double Messages<Number>::believe_with_triples(std::int32_t mother, std::vector<double>& single,
                                              std::vector<double>& pair) {
  const std::int32_t first = edges_.first[mother], n = edges_.first[mother + 1] - first;
  const Number rest = none[mother], twice = weights_.pair[mother];
  const Number total = sum_of_mother(mother, outside_of_mother(mother), inside_of_mother(mother));
  sum_pairs(mother);
  for (std::int32_t k = 0; k < n; ++k) {
    const std::int32_t e = edges_.edge[first + k];
    const Number& partners = pair_sums_.partners[k];
    const Number one = (rest * cut_[k] + kept(e)) * weights_.single[e];
    const Number two = twin[e] + twice * (kept(e) * partners + cut_[k] * (rest * partners + beside_[k]));
    single[e] = static_cast<double>(one / total);
    pair[e] = static_cast<double>(two / total);
  }
  return static_cast<double>(rest * weights_.none[mother] / total);
}

template <typename Number>
void Messages<Number>::believe_pairs(std::int32_t mother, std::vector<double>& both) const {
  const bool has_triples = weights_.has_triples(mother);
  const Number rest = none[mother], twice = weights_.pair[mother];
  const Number total = sum_of_mother(mother, outside_of_mother(mother), inside_of_mother(mother));
  for (std::int32_t k = edges_.first[mother]; k < edges_.first[mother + 1]; ++k)
    for (std::int32_t l = edges_.first[mother]; l < k; ++l) {
      const std::int32_t e = edges_.edge[k], f = edges_.edge[l];
      const std::size_t place = weights_.triples->at(mother, e, f);
      const Number weight = has_triples ? weights_.triple[place] : weights_.dividing[e] * weights_.dividing[f];
      const Number sum = twins[place] + twice * weight * (rest * cut(e) * cut(f) + kept(e) * cut(f) + cut(e) * kept(f));
      both[place] = both[weights_.triples->at(mother, f, e)] = static_cast<double>(sum / total);
    }
}

template class Messages<double>;
template class Messages<Wide>;

}  // namespace dunno
