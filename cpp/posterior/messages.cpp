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
      problem_(problem),
      edges_(edges),
      weights_(weights),
      is_clustered_mother_(problem.n_mothers, 0),
      is_clustered_daughter_(problem.n_daughters, 0) {
  std::int32_t most = 0;
  for (std::int32_t i = 0; i < problem.n_mothers; ++i) most = std::max(most, edges.first[i + 1] - edges.first[i]);
  for (std::int32_t j = 0; j < problem.n_daughters; ++j) most = std::max(most, problem.row[j + 1] - problem.row[j]);
  sums_.resize(most + 1);
  partial_.resize(most + 1);
  x_.resize(most + 1);
  y_.resize(most + 1);
  single_.reserve(problem.n_edges());
  dividing_.reserve(problem.n_edges());
  daughter_.reserve(problem.n_edges());
  for (const std::int32_t e : edges.edge) {
    single_.push_back(weights.single[e]);
    dividing_.push_back(weights.dividing[e]);
    daughter_.push_back(edges.daughter[e]);
  }
}

template <typename Number>
typename Messages<Number>::Outside Messages<Number>::outside_of_mother(std::int32_t mother) {
  if (weights_.has_triples(mother)) return outside_with_triples(mother);
  Partial sum{};
  for (std::int32_t k = edges_.first[mother]; k < edges_.first[mother + 1]; ++k) {
    const std::int32_t e = edges_.edge[k];
    if (!is_inside[e]) sum.add(weights_.single[e] * to_mother[e], weights_.dividing[e] * to_mother[e]);
  }
  return {sum.single, sum.dividing, sum.pairs, nullptr};
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
  if (!is_clustered_mother_[mother]) return sum;
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
  if (!is_clustered_mother_[mother]) return send_from_single_mother(mother, tolerance, daughter_awake);
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
  Number *__restrict x = x_.data(), *__restrict y = y_.data();
  Partial* __restrict partial = partial_.data();
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
    x[k] = single[k] + pair * dividing[k] * others;
    y[k] = none_weight + (singles + pair * pairs);
  }
  for (std::int32_t k = 0; k < n; ++k) x[k] /= y[k];
  if (kept_share > 0.0) {
    for (std::int32_t k = 0; k < n; ++k) tell_daughter(edge[k], x[k], tolerance, daughter_awake);
    return;
  }
  Number* __restrict told = to_daughter.data();
  char* __restrict awake = daughter_awake.data();
  const std::int32_t* daughter = daughter_.data() + first;
  for (std::int32_t k = 0; k < n; ++k) {
    const Number before = told[edge[k]], odds = heard[edge[k]];
    told[edge[k]] = x[k];
    awake[daughter[k]] |= differ(x[k] * odds, before * odds, tolerance);
  }
}

template <typename Number>
void Messages<Number>::send_from_daughter(std::int32_t daughter, double tolerance, std::vector<char>& mother_awake) {
  if (!is_clustered_daughter_[daughter]) return send_from_single_daughter(daughter, tolerance, mother_awake);
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
void Messages<Number>::send_from_single_daughter(std::int32_t daughter, double tolerance,
                                                 std::vector<char>& mother_awake) {
  const std::int32_t first = problem_.row[daughter], n = problem_.row[daughter + 1] - first;
  const Number* __restrict heard = to_daughter.data() + first;
  Number* __restrict told = to_mother.data() + first;
  Number* __restrict x = x_.data();
  Number sum(0.0);
  for (std::int32_t k = n; k-- > 0;) {
    x[k] = sum;
    sum += heard[k];
  }
  sum = weights_.appear[daughter];
  for (std::int32_t k = 0; k < n; ++k) {
    x[k] = sum + x[k];
    sum += heard[k];
  }
  const Number one(1.0);
  for (std::int32_t k = 0; k < n; ++k) x[k] = one / x[k];
  char* __restrict awake = mother_awake.data();
  const std::int32_t* mother = problem_.mother.data() + first;
  for (std::int32_t k = 0; k < n; ++k) {
    const Number before = told[k];
    told[k] = x[k];
    awake[mother[k]] |= differ(x[k] * heard[k], before * heard[k], tolerance);
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
Number Messages<Number>::factor_of_mother(std::int32_t mother) {
  const Outside outside = outside_of_mother(mother);
  return weights_.none[mother] + outside.single + weights_.pair[mother] * outside.pairs;
}

// Every pair has its own weight, so sums over pairs go over the mother's table of them.
template <typename Number>
bool Messages<Number>::look_at_edges(std::int32_t mother) {
  const std::int32_t first = edges_.first[mother], n = edges_.first[mother + 1] - first;
  cut_.resize(n);
  kept_.resize(n);
  bool any = false;
  for (std::int32_t k = 0; k < n; ++k) {
    cut_[k] = cut(edges_.edge[first + k]);
    kept_[k] = kept(edges_.edge[first + k]);
    any |= !is_inside[edges_.edge[first + k]];
  }
  return any;
}

template <typename Number>
void Messages<Number>::add_partners(std::int32_t mother, const std::vector<Number>& messages,
                                    std::vector<Number>& sums) const {
  const std::size_t n = messages.size();
  const Number* row = weights_.table(mother);
  sums.resize(n);
  for (std::size_t k = 0; k < n; ++k, row += n) {
    Number even(0.0), odd(0.0);
    for (std::size_t l = 0; l + 1 < n; l += 2) {
      even += row[l] * messages[l];
      odd += row[l + 1] * messages[l + 1];
    }
    if (n % 2 == 1) even += row[n - 1] * messages[n - 1];
    sums[k] = even + odd;
  }
}

template <typename Number>
typename Messages<Number>::Outside Messages<Number>::outside_with_triples(std::int32_t mother) {
  const std::int32_t first = edges_.first[mother];
  Outside sum{};
  if (look_at_edges(mother)) {
    add_partners(mother, cut_, partners_);
  } else {
    partners_.assign(cut_.size(), Number(0.0));
  }
  for (std::size_t k = 0; k < cut_.size(); ++k) {
    sum.single += single_[first + k] * cut_[k];
    sum.pairs += cut_[k] * partners_[k];
  }
  sum.pairs *= Number(0.5);
  sum.partners = partners_.data();
  return sum;
}

template <typename Number>
void Messages<Number>::send_with_triples(std::int32_t mother, double tolerance, std::vector<char>& daughter_awake) {
  if (!look_at_edges(mother)) return;
  const std::int32_t first = edges_.first[mother], n = edges_.first[mother + 1] - first;
  const Inside inside = inside_of_mother(mother);
  const Number rest = none[mother], pair = weights_.pair[mother];
  const Number base = rest * weights_.none[mother] + inside.single + inside.two;
  pair_sums_.add_up(weights_.table(mother), cut_);
  beside_.assign(n, Number(0.0));
  if (is_clustered_mother_[mother]) add_partners(mother, kept_, beside_);
  // Here `dividing` adds up the divisions into a cut edge and an inside one.
  const auto add = [&](Partial& sum, std::int32_t k) {
    sum.single += single_[first + k] * cut_[k];
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
    const Number chosen = rest * (single_[first + k] + pair * pair_sums_.partners[k]) + pair * beside_[k];
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
  beside_.assign(n, Number(0.0));
  if (is_clustered_mother_[mother]) add_partners(mother, kept_, beside_);
  for (std::int32_t k = 0; k < n; ++k) {
    const std::int32_t e = edges_.edge[first + k];
    const Number one = (rest * cut_[k] + kept_[k]) * single_[first + k];
    const Number two = twin[e] + twice * (kept_[k] * partners_[k] + cut_[k] * (rest * partners_[k] + beside_[k]));
    single[e] = static_cast<double>(one / total);
    pair[e] = static_cast<double>(two / total);
  }
  return static_cast<double>(rest * weights_.none[mother] / total);
}

template <typename Number>
void Messages<Number>::believe_pairs(std::int32_t mother, std::vector<double>& both) {
  const bool has_triples = weights_.has_triples(mother), has_cut = look_at_edges(mother);
  const Number rest = none[mother], twice = weights_.pair[mother];
  const Number total = sum_of_mother(mother, outside_of_mother(mother), inside_of_mother(mother));
  const std::int32_t* edge = edges_.edge.data() + edges_.first[mother];
  const std::size_t n = cut_.size(), table = weights_.triples->table[mother];
  both.assign(n * n, 0.0);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t l = 0; l < k; ++l) {
      const std::size_t place = table + k * n + l;
      Number sum = twins.empty() ? Number(0.0) : twins[place];
      if (has_cut) {
        const Number weight = has_triples ? weights_.triple[place] : weights_.dividing[edge[k]] * weights_.dividing[edge[l]];
        sum += twice * weight * (rest * cut_[k] * cut_[l] + kept_[k] * cut_[l] + cut_[k] * kept_[l]);
      }
      both[k * n + l] = both[l * n + k] = static_cast<double>(sum / total);
    }
}

template class Messages<double>;
template class Messages<Wide>;

}  // namespace dunno
