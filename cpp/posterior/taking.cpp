#include "posterior/taking.hpp"

namespace dunno {
namespace {

// The weights of one daughter: alone, and as one of two, without and with the mother's factor.
template <typename Number>
struct TakenWeights {
  Number single, dividing, pair;
};

template <typename Number>
TakenWeights<Number> weights_of(std::size_t k, const Number& pair, const std::vector<Number>& single,
                                const std::vector<Number>& dividing) {
  return {single[k], dividing[k], pair * dividing[k]};
}

// Lengths are powers of two: two numbers at a time, as processors have it.
template <typename Visit>
inline void in_twos(std::uint32_t length, const Visit& visit) {
  if (length == 1) return visit(0, std::integral_constant<std::uint32_t, 1>());
  for (std::uint32_t k = 0; k < length; k += 2) visit(k, std::integral_constant<std::uint32_t, 2>());
}

// to += factor from.
template <typename Number>
inline void add_scaled(const Number* __restrict from, std::size_t length, const Number& factor, Number* __restrict to) {
  for (std::size_t k = 0; k < length; ++k) to[k] += factor * from[k];
}

// to += single from + pair partial;  partial_to += dividing from.
template <typename Number>
inline void take_run(const Number* __restrict from, const Number* __restrict partial, std::uint32_t length,
                     const TakenWeights<Number>& weights, Number* __restrict to, Number* __restrict partial_to) {
  in_twos(length, [=](std::uint32_t k, auto n) {
    Number x[2], sum[2], part[2];
    for (std::uint32_t i = 0; i < n; ++i) x[i] = from[k + i];
    for (std::uint32_t i = 0; i < n; ++i) sum[i] = to[k + i] + (weights.single * x[i] + weights.pair * partial[k + i]);
    for (std::uint32_t i = 0; i < n; ++i) part[i] = partial_to[k + i] + weights.dividing * x[i];
    for (std::uint32_t i = 0; i < n; ++i) to[k + i] = sum[i];
    for (std::uint32_t i = 0; i < n; ++i) partial_to[k + i] = part[i];
  });
}

// The same back; adds up before . follow and partial . follow.
template <typename Number>
inline void untake_run(const Number* __restrict follow, const Number* __restrict later, const Number* __restrict before,
                       const Number* __restrict partial, std::uint32_t length, const TakenWeights<Number>& weights,
                       Number* __restrict result, Number* __restrict later_to, Number (&alone)[2], Number (&both)[2]) {
  in_twos(length, [&](std::uint32_t k, auto n) {
    Number x[2], sum[2], part[2];
    for (std::uint32_t i = 0; i < n; ++i) x[i] = follow[k + i];
    for (std::uint32_t i = 0; i < n; ++i) sum[i] = result[k + i] + (weights.single * x[i] + weights.pair * later[k + i]);
    for (std::uint32_t i = 0; i < n; ++i) part[i] = later_to[k + i] + weights.dividing * x[i];
    for (std::uint32_t i = 0; i < n; ++i) alone[i] += before[k + i] * x[i];
    for (std::uint32_t i = 0; i < n; ++i) both[i] += partial[k + i] * x[i];
    for (std::uint32_t i = 0; i < n; ++i) result[k + i] = sum[i];
    for (std::uint32_t i = 0; i < n; ++i) later_to[k + i] = part[i];
  });
}

}  // namespace

template <typename Number>
void Taking<Number>::forward(const EliminationStep& step, const Number& none, const Number& pair, const Sums& single,
                             const Sums& dividing, const Sums& before, Sums& partial, Sums& after) {
  const auto size = static_cast<std::uint32_t>(before.size());
  partial.assign(size, Number(0.0));
  after.assign(std::size_t{1} << step.width_after, Number(0.0));
  for (std::uint32_t mask = 0; mask < size; ++mask) after[mask] = none * before[mask];
  for (std::size_t k = 0; k < step.place.size(); ++k) {
    if (step.place[k] >= step.width_before) continue;
    const std::uint32_t bit = 1u << step.place[k];
    const TakenWeights<Number> weights = weights_of(k, pair, single, dividing);
    for_free(size, bit, [=, from = before.data(), part = partial.data(), to = after.data()](std::uint32_t start, auto run) {
      take_run(from + start, part + start, run, weights, to + start + bit, part + start + bit);
    });
  }
  for (std::size_t k = 0; k < step.place.size(); ++k) {
    if (step.place[k] < step.width_before) continue;
    Number* block = after.data() + (std::size_t{1} << step.place[k]);
    const TakenWeights<Number> weights = weights_of(k, pair, single, dividing);
    add_scaled(before.data(), size, weights.single, block);
    add_scaled(partial.data(), size, weights.pair, block);
    for (std::size_t l = k + 1; l < step.place.size(); ++l)
      if (step.place[l] >= step.width_before)
        add_scaled(before.data(), size, weights.pair * dividing[l], block + (std::size_t{1} << step.place[l]));
  }
}

template <typename Number>
Number Taking<Number>::backward(const EliminationStep& step, const Number& none, const Number& pair, const Sums& single,
                                const Sums& dividing, const Sums& before, const Sums& partial, const Sums& follow,
                                Sums& result, Sums& alone, Sums& both) {
  const auto size = static_cast<std::uint32_t>(before.size());
  result.resize(size);
  for (std::uint32_t mask = 0; mask < size; ++mask) result[mask] = none * follow[mask];
  const Number nobody = dot(result.data(), before.data(), size);
  later_.assign(size, Number(0.0));
  const bool opens = step.width_after > step.width_before;
  if (opens) {
    untake_new(step, pair, single, dividing, before, partial, follow, result, alone, both);
    opened_ = later_;
  }
  for (std::size_t k = 0; k < step.place.size(); ++k) {
    if (step.place[k] >= step.width_before) continue;
    const std::uint32_t bit = 1u << step.place[k];
    const TakenWeights<Number> weights = weights_of(k, pair, single, dividing);
    Number one[2] = {Number(0.0), Number(0.0)}, two[2] = {Number(0.0), Number(0.0)};
    for_free(size, bit, [=, &one, &two, next = follow.data() + bit, later = later_.data(), from = before.data(),
                         part = partial.data(), to = result.data()](std::uint32_t start, auto run) {
      untake_run(next + start, later + start + bit, from + start, part + start, run, weights, to + start, later + start,
                 one, two);
    });
    Number sum = two[0] + two[1];
    if (opens)
      for_free(size, bit, [&](std::uint32_t start, auto run) {
        sum += dot(before.data() + start, opened_.data() + start + bit, run);
      });
    alone[k] = weights.single * (one[0] + one[1]);
    both[k] = weights.pair * sum;
  }
  return nobody;
}

// The daughters whom it opens: their masks are blocks.
template <typename Number>
void Taking<Number>::untake_new(const EliminationStep& step, const Number& pair, const Sums& single, const Sums& dividing,
                                const Sums& before, const Sums& partial, const Sums& follow, Sums& result, Sums& alone,
                                Sums& both) {
  const auto size = static_cast<std::uint32_t>(before.size());
  const auto is_new = [&](std::size_t k) { return step.place[k] >= step.width_before; };
  for (std::size_t k = 0; k < step.place.size(); ++k) {
    if (!is_new(k)) continue;
    const Number* block = follow.data() + (std::size_t{1} << step.place[k]);
    const TakenWeights<Number> weights = weights_of(k, pair, single, dividing);
    add_scaled(block, size, weights.single, result.data());
    add_scaled(block, size, weights.dividing, later_.data());
    alone[k] = weights.single * dot(block, before.data(), size);
    both[k] += weights.pair * dot(block, partial.data(), size);
    for (std::size_t l = k + 1; l < step.place.size(); ++l) {
      if (!is_new(l)) continue;
      const Number* shared = block + (std::size_t{1} << step.place[l]);
      const Number weight = weights.pair * dividing[l], sum = weight * dot(shared, before.data(), size);
      add_scaled(shared, size, weight, result.data());
      both[k] += sum;
      both[l] += sum;
    }
  }
}

template class Taking<double>;
template class Taking<Wide>;

}  // namespace dunno
