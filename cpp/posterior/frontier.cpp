#include "posterior/frontier.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sampling/draw.hpp"

namespace dunno {
namespace {

// Weights are at most one, so that between two rescalings sums grow to at most about 1e30. Doubles lose what is below
// 1e-308; as long as what matters is above 1e-100, it is lost without a trace.
constexpr double kRelevant = 1e-100;
constexpr std::size_t kStepsPerRescaling = 8;

// Scales the sums to a largest of one and returns the logarithm of the factor. Wide numbers need none.
double rescale(std::vector<double>& sums) {
  const double largest = *std::max_element(sums.begin(), sums.end());
  if (!(largest > kRelevant)) throw Underflow();
  const double factor = 1.0 / largest;
  for (double& sum : sums) sum *= factor;
  return std::log(largest);
}
double rescale(std::vector<Wide>&) { return 0.0; }

void require_relevant(double total) {
  if (!(total > kRelevant)) throw Underflow();
}
void require_relevant(const Wide&) {}

template <typename Number>
bool is_zero(const Number& number) {
  return number == Number(0.0);
}

// The inner loops. Short runs are the commonest, and the compiler's way into a vectorised loop costs more than they do.
template <typename Number>
inline void add_scaled(const Number* from, std::uint32_t length, const Number& factor, Number* to) {
  if (length < 4) {
    to[0] += factor * from[0];
    if (length == 2) to[1] += factor * from[1];
    return;
  }
  for (std::uint32_t k = 0; k < length; k += 4) {
    const Number a = to[k] + factor * from[k], b = to[k + 1] + factor * from[k + 1];
    const Number c = to[k + 2] + factor * from[k + 2], d = to[k + 3] + factor * from[k + 3];
    to[k] = a;
    to[k + 1] = b;
    to[k + 2] = c;
    to[k + 3] = d;
  }
}

// Both at once: adds from * factor to `to`, and returns the product of `from` and y.
template <typename Number>
inline Number add_scaled_and_dot(const Number* from, const Number* y, std::uint32_t length, const Number& factor,
                                 Number* to) {
  const Number first = from[0];
  to[0] += factor * first;
  Number sum = first * y[0];
  if (length == 1) return sum;
  const Number second = from[1];
  to[1] += factor * second;
  Number odd = second * y[1];
  for (std::uint32_t k = 2; k < length; k += 2) {
    const Number a = from[k], b = from[k + 1];
    to[k] += factor * a;
    to[k + 1] += factor * b;
    sum += a * y[k];
    odd += b * y[k + 1];
  }
  return sum + odd;
}

// Calls visit(edge, edge, bits, weight) for one and two daughters taken; a single one has the same edge twice.
template <typename Number, typename Visit>
void for_each_taking(const EliminationStep& step, const ClusterWeights<Number>& weights, const Visit& visit) {
  const auto& single = weights.single[step.mother];
  const auto& dividing = weights.dividing[step.mother];
  const std::size_t n = step.place.size();
  for (std::size_t k = 0; k < n; ++k)
    if (!is_zero(single[k])) visit(k, k, 1u << step.place[k], single[k]);
  if (is_zero(weights.pair[step.mother])) return;
  const auto& triple = weights.triple[step.mother];
  for (std::size_t k = 0; k < n; ++k) {
    const Number first = weights.pair[step.mother] * dividing[k];
    if (is_zero(first)) continue;
    for (std::size_t l = k + 1; l < n; ++l) {
      if (is_zero(dividing[l]) || (!triple.empty() && is_zero(triple[k * n + l]))) continue;
      const Number both = first * dividing[l];
      visit(k, l, 1u << step.place[k] | 1u << step.place[l], triple.empty() ? both : both * triple[k * n + l]);
    }
  }
}

std::uint32_t with_place(std::uint32_t mask, std::int32_t place) {
  const std::uint32_t low = (1u << place) - 1;
  return (mask & low) | (mask & ~low) << 1;
}

}  // namespace

template <typename Number>
void ClusterWeights<Number>::resize(const ClusterGraph& graph) {
  const std::size_t n = graph.daughters.size();
  none.resize(n);
  pair.resize(n);
  if (single.size() < n) single.resize(n);
  if (dividing.size() < n) dividing.resize(n);
  if (triple.size() < n) triple.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    triple[i].clear();
    single[i].resize(graph.daughters[i].size());
    dividing[i].resize(graph.daughters[i].size());
  }
  appear.resize(graph.n_daughters);
}

template <typename Number>
void ClusterBeliefs<Number>::resize(const ClusterGraph& graph) {
  const std::size_t n = graph.daughters.size();
  none.assign(n, Number(0.0));
  if (single.size() < n) single.resize(n);
  if (pair.size() < n) pair.resize(n);
  if (twins.size() < n) twins.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    twins[i].clear();
    single[i].assign(graph.daughters[i].size(), Number(0.0));
    pair[i].assign(graph.daughters[i].size(), Number(0.0));
  }
  appear.assign(graph.n_daughters, Number(0.0));
}

template <typename Number>
void Frontier<Number>::forward(const Elimination& plan, const ClusterWeights<Number>& weights) {
  plan_ = &plan;
  weights_ = &weights;
  if (before_.size() < plan.steps.size()) {
    before_.resize(plan.steps.size());
    partial_.resize(plan.steps.size());
    after_.resize(plan.steps.size());
  }
  log_sum_ = 0.0;
  sums_.assign(1, Number(1.0));
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    before_[s] = sums_;
    take(plan.steps[s], before_[s], partial_[s], after_[s]);
    sums_ = after_[s];
    close(plan.steps[s], sums_);
    if (s % kStepsPerRescaling == kStepsPerRescaling - 1) log_sum_ += rescale(sums_);
  }
  require_relevant(sums_[0]);
  log_sum_ += log_of(sums_[0]);
}

template <typename Number>
void Frontier<Number>::backward(ClusterBeliefs<Number>& beliefs) {
  follow_.assign(1, Number(1.0));
  for (std::size_t s = plan_->steps.size(); s-- > 0;) {
    reopen(plan_->steps[s], follow_);
    believe_closing(plan_->steps[s], after_[s], follow_, beliefs);
    untake(plan_->steps[s], before_[s], partial_[s], follow_, sums_, beliefs);
    if (s % kStepsPerRescaling == 0) rescale(sums_);
    std::swap(sums_, follow_);
  }
}

template <typename Number>
void Frontier<Number>::take(const EliminationStep& step, const Sums& before, Sums& partial, Sums& after) {
  const std::int32_t i = step.mother;
  stop_.check();
  if (weights_->triple[i].empty())
    return taking_.forward(step, weights_->none[i], weights_->pair[i], weights_->single[i], weights_->dividing[i], before,
                           partial, after);
  const auto size = static_cast<std::uint32_t>(before.size());
  after.assign(std::size_t{1} << step.width_after, Number(0.0));
  const Number none = weights_->none[step.mother];
  for (std::uint32_t mask = 0; mask < size; ++mask) after[mask] = none * before[mask];
  for_each_taking(step, *weights_, [&](std::size_t, std::size_t, std::uint32_t bits, const Number& weight) {
    stop_.check();
    const Number factor = weight;
    for_free(size, bits, [=, from = before.data(), to = after.data()](std::uint32_t start, auto run) {
      add_scaled(from + start, run, factor, to + (start | bits));
    });
  });
}

// The transpose of take(), and with it the probability of everything that the mother may take.
template <typename Number>
void Frontier<Number>::untake(const EliminationStep& step, const Sums& before, const Sums& partial, const Sums& follow,
                              Sums& result, ClusterBeliefs<Number>& beliefs) {
  const std::int32_t i = step.mother;
  auto &single = beliefs.single[i], &pair = beliefs.pair[i], &twins = beliefs.twins[i];
  stop_.check();
  Number none;
  if (weights_->triple[i].empty()) {
    none = taking_.backward(step, weights_->none[i], weights_->pair[i], weights_->single[i], weights_->dividing[i],
                            before, partial, follow, result, single, pair);
    if (!twins.empty()) believe_twins(step, before, follow, twins);
  } else {
    none = untake_with_triples(step, before, follow, result, beliefs);
  }
  Number total = none, twice(0.0);
  for (const Number& sum : single) total += sum;
  for (const Number& sum : pair) twice += sum;
  total += Number(0.5) * twice;
  require_relevant(total);
  beliefs.none[i] = none / total;
  for (Number& sum : single) sum /= total;
  for (Number& sum : pair) sum /= total;
  for (Number& sum : twins) sum /= total;
}

template <typename Number>
void Frontier<Number>::believe_twins(const EliminationStep& step, const Sums& before, const Sums& follow,
                                     Sums& twins) const {
  const auto size = static_cast<std::uint32_t>(before.size());
  for_each_taking(step, *weights_, [&](std::size_t k, std::size_t l, std::uint32_t bits, const Number& weight) {
    if (k == l) return;
    Number sum(0.0);
    for_free(size, bits, [&](std::uint32_t start, auto run) {
      sum += dot(before.data() + start, follow.data() + (start | bits), run);
    });
    twins[k * step.place.size() + l] = weight * sum;
  });
}

template <typename Number>
Number Frontier<Number>::untake_with_triples(const EliminationStep& step, const Sums& before, const Sums& follow,
                                             Sums& result, ClusterBeliefs<Number>& beliefs) const {
  const auto size = static_cast<std::uint32_t>(before.size());
  result.resize(size);
  const Number none_weight = weights_->none[step.mother];
  for (std::uint32_t mask = 0; mask < size; ++mask) result[mask] = none_weight * follow[mask];
  auto& single = beliefs.single[step.mother];
  auto& pair = beliefs.pair[step.mother];
  auto& twins = beliefs.twins[step.mother];
  const std::size_t n = step.place.size();
  const Number none = dot(result.data(), before.data(), size);
  for_each_taking(step, *weights_, [&](std::size_t k, std::size_t l, std::uint32_t bits, const Number& weight) {
    stop_.check();
    Number sum(0.0);
    const Number factor = weight;
    for_free(size, bits,
             [&sum, bits, factor, from = follow.data(), y = before.data(), to = result.data()](std::uint32_t start,
                                                                                               auto run) {
               sum += add_scaled_and_dot(from + (start | bits), y + start, run, factor, to + start);
             });
    sum *= weight;
    if (k == l) {
      single[k] = sum;
    } else {
      pair[k] += sum;
      pair[l] += sum;
      if (!twins.empty()) twins[k * n + l] = sum;
    }
  });
  return none;
}

template <typename Number>
void Frontier<Number>::close(const EliminationStep& step, Sums& sums) const {
  for (std::size_t c = 0; c < step.closing.size(); ++c) {
    const std::uint32_t bit = 1u << step.closing_place[c];
    const auto size = static_cast<std::uint32_t>(sums.size() / 2);
    const Number appear = weights_->appear[step.closing[c]];
    for (std::uint32_t mask = 0; mask < size; ++mask) {  // in place: what is read lies at or above what is written
      const std::uint32_t wide = with_place(mask, step.closing_place[c]);
      sums[mask] = appear * sums[wide] + sums[wide | bit];
    }
    sums.resize(size);
  }
}

template <typename Number>
void Frontier<Number>::reopen(const EliminationStep& step, Sums& sums) const {
  for (std::size_t c = step.closing.size(); c-- > 0;) {
    const std::uint32_t bit = 1u << step.closing_place[c];
    const auto size = static_cast<std::uint32_t>(sums.size());
    const Number appear = weights_->appear[step.closing[c]];
    sums.resize(2 * sums.size());
    for (std::uint32_t mask = size; mask-- > 0;) {  // in place: what is written lies at or above what is read
      const std::uint32_t wide = with_place(mask, step.closing_place[c]);
      const Number sum = sums[mask];
      sums[wide | bit] = sum;
      sums[wide] = appear * sum;
    }
  }
}

template <typename Number>
void Frontier<Number>::believe_closing(const EliminationStep& step, const Sums& after, const Sums& follow,
                                       ClusterBeliefs<Number>& beliefs) const {
  // Places are as they were when each daughter closed; those removed before lay higher, so they hold in `after` too.
  const auto size = static_cast<std::uint32_t>(after.size());
  for (std::size_t c = 0; c < step.closing.size(); ++c) {
    const std::uint32_t bit = 1u << step.closing_place[c];
    Number free(0.0), held(0.0);
    for_free(size, bit, [&](std::uint32_t start, std::uint32_t run) {
      free += dot(after.data() + start, follow.data() + start, run);
      held += dot(after.data() + (start | bit), follow.data() + (start | bit), run);
    });
    const Number total = free + held;
    require_relevant(total);
    beliefs.appear[step.closing[c]] = free / total;
  }
}

template <typename Number>
void Frontier<Number>::sample(Random& random, std::vector<std::vector<char>>& taken) const {
  std::uint32_t mask = 0;
  for (std::size_t s = plan_->steps.size(); s-- > 0;) {
    const EliminationStep& step = plan_->steps[s];
    mask = sample_closing(step, after_[s], mask, random);
    mask = sample_taking(step, before_[s], mask, random, taken[step.mother]);
  }
#ifdef DUNNO_CHECK
  if (mask != 0) throw std::logic_error("frontier: a sample does not begin with nobody taken");
#endif
}

// Which of the closing daughters had a mother?
template <typename Number>
std::uint32_t Frontier<Number>::sample_closing(const EliminationStep& step, const Sums& after, std::uint32_t mask,
                                               Random& random) const {
  for (std::size_t c = step.closing.size(); c-- > 0;) mask = with_place(mask, step.closing_place[c]);
  const std::uint32_t n_subsets = 1u << step.closing.size();
  std::uint32_t kept = mask;
  Draw<Number> draw(random);
  for (std::uint32_t subset = 0; subset < n_subsets; ++subset) {
    std::uint32_t candidate = mask;
    Number weight(1.0);
    for (std::size_t c = 0; c < step.closing.size(); ++c) {
      if (subset >> c & 1u) {
        candidate |= 1u << step.closing_place[c];
      } else {
        weight *= weights_->appear[step.closing[c]];
      }
    }
    if (draw.offer(weight * after[candidate])) kept = candidate;
  }
  draw.require();
  return kept;
}

// Which daughters did the mother take to arrive at `mask`?
template <typename Number>
std::uint32_t Frontier<Number>::sample_taking(const EliminationStep& step, const Sums& before, std::uint32_t mask,
                                              Random& random, std::vector<char>& taken) const {
  const auto size = static_cast<std::uint32_t>(before.size());
  std::fill(taken.begin(), taken.begin() + step.place.size(), 0);
  std::uint32_t kept = mask;
  std::size_t first = step.place.size(), second = first;
  Draw<Number> draw(random);
  if (mask < size) draw.offer(weights_->none[step.mother] * before[mask]);
  for_each_taking(step, *weights_, [&](std::size_t k, std::size_t l, std::uint32_t bits, const Number& weight) {
    const std::uint32_t origin = mask & ~bits;
    if ((mask & bits) != bits || origin >= size) return;
    if (!draw.offer(weight * before[origin])) return;
    kept = origin;
    first = k;
    second = l;
  });
  draw.require();
  if (first < step.place.size()) taken[first] = taken[second] = 1;
  return kept;
}

template struct ClusterWeights<double>;
template struct ClusterWeights<Wide>;
template struct ClusterBeliefs<double>;
template struct ClusterBeliefs<Wide>;
template class Frontier<double>;
template class Frontier<Wide>;

}  // namespace dunno
