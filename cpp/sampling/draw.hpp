// Draws one of several weighted options as they come by, so that they need not be stored.
#pragma once

#include "sampling/random.hpp"
#include "posterior/weights.hpp"

namespace dunno {

template <typename Number>
class Draw {
 public:
  explicit Draw(Random& random) : random_(random) {}

  // Whether the option just offered replaces the one kept so far.
  bool offer(const Number& weight) {
    if (weight == Number(0.0)) return false;
    total_ += weight;
    return random_.uniform() < static_cast<double>(weight / total_);
  }

  // Throws Underflow if no option had any weight.
  void require() const {
    if (total_ == Number(0.0)) throw Underflow();
  }

 private:
  Random& random_;
  Number total_ = Number(0.0);
};

}  // namespace dunno
