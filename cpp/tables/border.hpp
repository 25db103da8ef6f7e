// How probable it is that a step from a place ends outside a box.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace dunno {

// The share of a law below z, at knots that are evenly spaced in z / (1 + |z|) from -1 to 1, with slopes per knot. Between knots
// goes a cubic.
struct Below {
  const double* value;
  const double* slope;
  std::size_t knots;

  double operator()(double z) const {
    const double place = 0.5 * static_cast<double>(knots - 1) * (1.0 + z / (1.0 + std::abs(z)));
    const std::size_t left = std::min(static_cast<std::size_t>(place), knots - 2);
    const double x = place - static_cast<double>(left), rest = 1.0 - x;
    const double rise = value[left + 1] - value[left];
    return value[left] + x * (rise + rest * (rest * (slope[left] - rise) + x * (rise - slope[left + 1])));
  }
};

// For n places of d axes each, in rows; `width` has a number per axis, for every place or (`wide` = 0) for all of them.
inline std::vector<double> steps_outside(const double* places, std::size_t n, std::size_t d, const double* low, const double* high,
                                         const double* width, std::size_t wide, const Below& below) {
  std::vector<double> found(n);
  for (std::size_t i = 0; i < n; ++i) {
    double inside = 1.0;
    for (std::size_t k = 0; k < d; ++k) {
      const double place = places[i * d + k], size = width[i * wide + k];
      inside *= below((high[k] - place) / size) - below((low[k] - place) / size);
    }
    found[i] = std::clamp(1.0 - inside, 0.0, 1.0);
  }
  return found;
}

}  // namespace dunno
