// The frontier's inner loops for a mother whose pairs weigh pair * dividing[k] * dividing[l].
//
// Daughters are taken one after the other. With S[k] for "k is taken as well", before[m] for the sums before the mother and
//   partial = sum over the daughters l so far of dividing[l] S[l] before,
// daughter k adds S[k] (single[k] before + pair dividing[k] partial): as many passes as daughters, not as pairs of them.
// Going back is the transpose. Daughters whom it opens have the highest places, so that theirs are whole blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "posterior/elimination.hpp"
#include "posterior/wide.hpp"

namespace dunno {

// Calls visit(start, length) for the runs of masks below `size` that have no bit of `taken`, of which there are at most
// two. The commonest lengths, one and two, are known to the compiler.
template <typename Visit>
inline void for_free(std::uint32_t size, std::uint32_t taken, const Visit& visit) {
  const std::uint32_t held = taken & (size - 1);
  if (held == 0) return visit(0, size);
  const std::uint32_t low = held & (~held + 1), high = held ^ low ? held ^ low : size;
  const auto visit_all = [&](auto length) {
    for (std::uint32_t outer = 0; outer < size; outer += 2 * high)
      for (std::uint32_t start = outer; start < outer + high; start += 2 * length) visit(start, length);
  };
  if (low == 1) return visit_all(std::integral_constant<std::uint32_t, 1>());
  if (low == 2) return visit_all(std::integral_constant<std::uint32_t, 2>());
  visit_all(low);
}

template <typename Number>
inline Number dot(const Number* x, const Number* y, std::uint32_t length) {
  Number sum = x[0] * y[0];
  if (length == 1) return sum;
  Number odd = x[1] * y[1];
  for (std::uint32_t k = 2; k < length; k += 2) {
    sum += x[k] * y[k];
    odd += x[k + 1] * y[k + 1];
  }
  return sum + odd;
}

// What a mother's weights and one step of the elimination say about each other.
template <typename Number>
class Taking {
 public:
  using Sums = std::vector<Number>;

  // Sets `after`, and `partial` of the daughters who were open before, which backward() asks for.
  void forward(const EliminationStep& step, const Number& none, const Number& pair, const Sums& single,
               const Sums& dividing, const Sums& before, Sums& partial, Sums& after);

  // From `follow` in the place of `after` to `result` in the place of `before`. Adds up the weights of all that has each
  // daughter `alone` and as one of `both`; returns that of having none.
  Number backward(const EliminationStep& step, const Number& none, const Number& pair, const Sums& single,
                  const Sums& dividing, const Sums& before, const Sums& partial, const Sums& follow, Sums& result,
                  Sums& alone, Sums& both);

 private:
  void untake_new(const EliminationStep& step, const Number& pair, const Sums& single, const Sums& dividing,
                  const Sums& before, const Sums& partial, const Sums& follow, Sums& result, Sums& alone, Sums& both);

  Sums later_, opened_;  // scratch: what daughters taken later add up to, and those among them whom it opens
};

extern template class Taking<double>;
extern template class Taking<Wide>;

}  // namespace dunno
