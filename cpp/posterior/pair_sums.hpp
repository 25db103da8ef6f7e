// Sums over pairs of a mother's edges where every pair has a weight of its own.
//
// With y[e] for each edge and a symmetric table t (zero on the diagonal),
//   partners[e] = sum_f t[e, f] y[f],
//   without[e]  = sum over pairs f < g, both other than e, of t[f, g] y[f] y[g].
// Both for all edges in one pass over the table, and nothing is subtracted: small sums keep their digits.
#pragma once

#include <cstddef>
#include <vector>

namespace dunno {

template <typename Number>
class PairSums {
 public:
  void add_up(const Number* table, const std::vector<Number>& y) {
    const std::size_t n = y.size();
    partners.assign(n, Number(0.0));  // those that come before, until their own turn
    without.assign(n, Number(0.0));
    earlier_.resize(n);
    later_.resize(n);
    for (std::size_t f = 0; f < n; ++f) {
      Number later(0.0);
      for (std::size_t e = n; --e > f;) {
        without[e] += y[f] * later;  // f before e, the other one after
        later += table[f * n + e] * y[e];
        partners[e] += table[f * n + e] * y[f];
      }
      earlier_[f] = y[f] * partners[f];
      later_[f] = y[f] * later;
      partners[f] += later;
    }
    add_pairs_on_one_side(n);
  }

  std::vector<Number> partners, without;

 private:
  void add_pairs_on_one_side(std::size_t n) {
    Number before(0.0);
    for (std::size_t e = 0; e < n; ++e) {
      without[e] += before;
      before += earlier_[e];
    }
    Number after(0.0);
    for (std::size_t e = n; e-- > 0;) {
      without[e] += after;
      after += later_[e];
    }
  }

  std::vector<Number> earlier_, later_;  // pairs of each edge with those before it, and with those after it
};

}  // namespace dunno
