// The ellipse, or ellipsoid, that has a mask's second moments: where it lies, its long axis, and how full of the mask it is.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "images/mask_runs.hpp"
#include "images/regions.hpp"

namespace dunno {

using Matrix = std::array<std::array<double, 3>, 3>;

constexpr double kPixelVariance = 1.0 / 12;  // of a pixel about its centre

// The eigenvector of the largest eigenvalue of a symmetric matrix, as long as that one's root, by Jacobi's rotations. Of its two
// directions the one towards larger x (else y, else z).
inline Point long_axis(Matrix m) {
  Matrix axes{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};  // rows
  constexpr int kSweeps = 12;
  for (int sweep = 0; sweep < kSweeps; ++sweep)
    for (const auto& [p, q] : {std::array{1, 2}, std::array{0, 2}, std::array{0, 1}}) {
      if (std::abs(m[p][q]) <= 1e-15 * (std::abs(m[p][p]) + std::abs(m[q][q]))) continue;
      const double half = (m[q][q] - m[p][p]) / (2 * m[p][q]);
      const double t = (half < 0 ? -1.0 : 1.0) / (std::abs(half) + std::sqrt(half * half + 1));
      const double c = 1 / std::sqrt(t * t + 1), s = t * c;
      for (int k = 0; k < 3; ++k) {
        const double a = m[p][k], b = m[q][k];
        m[p][k] = c * a - s * b;
        m[q][k] = s * a + c * b;
      }
      for (int k = 0; k < 3; ++k) {
        const double a = m[k][p], b = m[k][q];
        m[k][p] = c * a - s * b;
        m[k][q] = s * a + c * b;
        const double d = axes[p][k], e = axes[q][k];
        axes[p][k] = c * d - s * e;
        axes[q][k] = s * d + c * e;
      }
    }
  int longest = 2;
  for (const int k : {1, 0})
    if (m[k][k] > m[longest][longest] * (1 + 1e-9)) longest = k;
  Point axis = axes[longest];
  double sign = 1;
  for (const double component : {axis[0], axis[1], axis[2]})
    if (std::abs(component) > 1e-9) sign = component < 0 ? -1 : 1;
  for (double& component : axis) component *= sign * std::sqrt(std::max(m[longest][longest], 0.0));
  return axis;
}

struct Ellipse {
  Point centre, axis;  // physical; a standard deviation along its long axis
  double fullness;     // 1 for an ellipse, less for others
};

// Between a mask's pixels only their centres count, but one pixel has an extent of its own.
inline Ellipse ellipse_of(const Mask& mask, const Shape& shape, const Point& scale) {
  Region region{0};
  Products products;
  for (const MaskRun& run : mask.runs) {
    region.add(run.z, run.y, run.begin, run.end);
    products.add(run.z, run.y, run.begin, run.end);
  }
  const std::array<double, 9> moments = covariance(region, products);
  Ellipse found{};
  Matrix centres, area;
  const int first = shape[0] == 1 ? 1 : 0;
  for (int a = 0; a < 3; ++a) {
    found.centre[a] = scale[a] * static_cast<double>(region.sum[a]) / static_cast<double>(region.area);
    for (int b = 0; b < 3; ++b) {
      const double pixel = a == b && a >= first ? kPixelVariance : 0;
      centres[a][b] = scale[a] * scale[b] * (moments[3 * a + b] + (region.area > 1 ? 0 : pixel));
      area[a][b] = moments[3 * a + b] + pixel;
    }
  }
  found.axis = long_axis(centres);
  const double plane = area[1][1] * area[2][2] - area[1][2] * area[1][2];
  const double n = static_cast<double>(region.area), pi = 3.14159265358979323846;
  if (first == 1) {
    found.fullness = n / (4 * pi * std::sqrt(plane));
  } else {
    const double volume = area[0][0] * plane - area[0][1] * (area[0][1] * area[2][2] - area[1][2] * area[0][2]) +
                          area[0][2] * (area[0][1] * area[1][2] - area[1][1] * area[0][2]);
    found.fullness = n / (4 * pi / 3 * std::sqrt(125 * volume));
  }
  return found;
}

}  // namespace dunno
