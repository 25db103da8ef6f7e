// The few functions of statistics that a default run needs, within about 1e-13 of the truth.
#pragma once

#include <cmath>
#include <limits>

namespace dunno {

constexpr double kRounding = std::numeric_limits<double>::epsilon();

// log Γ(x) for x > 0, by Stirling's series from 12 on. std::lgamma would write to a global sign.
inline double log_gamma(double x) {
  double shift = 1.0;
  for (; x < 12.0; x += 1.0) shift *= x;
  const double y = 1.0 / (x * x);
  const double series =
      (1.0 / 12 + y * (-1.0 / 360 + y * (1.0 / 1260 + y * (-1.0 / 1680 + y * (1.0 / 1188 + y * (-691.0 / 360360 + y / 156)))))) / x;
  return (x - 0.5) * std::log(x) - x + 0.91893853320467274178 + series - std::log(shift);
}

// d/dx log Γ(x) for x > 0.
inline double digamma(double x) {
  double shift = 0.0;
  for (; x < 12.0; x += 1.0) shift += 1.0 / x;
  const double y = 1.0 / (x * x);
  const double series =
      y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
  return std::log(x) - 0.5 / x - series - shift;
}

// Share of a standard normal below x.
inline double normal_below(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }

// The continued fraction of the incomplete beta function, by Lentz's method.
inline double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto away = [](double value) { return std::fabs(value) < kTiny ? kTiny : value; };
  double c = 1.0, d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0)), result = d;
  for (int m = 1; m < 100000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m));
    d = 1.0 / away(1.0 + even * d);
    c = away(1.0 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0));
    d = 1.0 / away(1.0 + odd * d);
    c = away(1.0 + odd / c);
    result *= d * c;
    if (std::fabs(d * c - 1.0) <= kRounding) break;
  }
  return result;
}

// Share of a beta distribution below x; y = 1 - x is given too, since one of them is small and must not be rounded.
inline double beta_below(double a, double b, double x, double y) {
  if (x <= 0.0) return 0.0;
  if (y <= 0.0) return 1.0;
  const double log_x = x < 0.5 ? std::log(x) : std::log1p(-y), log_y = y < 0.5 ? std::log(y) : std::log1p(-x);
  const double front = std::exp(a * log_x + b * log_y + log_gamma(a + b) - log_gamma(a) - log_gamma(b));
  if (x < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(a, b, x) / a;
  return 1.0 - front * beta_fraction(b, a, y) / b;
}

// Share of a gamma distribution of scale 1 below x by its series, good up to x = a + 1.
inline double gamma_series(double a, double x) {
  double term = 1.0 / a, sum = term;
  for (double n = a + 1.0; term > sum * kRounding; n += 1.0) sum += term *= x / n;
  return sum * std::exp(a * std::log(x) - x - log_gamma(a));
}

// Share of a gamma distribution of scale 1 above x by a continued fraction, good from x = a + 1 on.
inline double gamma_fraction(double a, double x) {
  double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, result = d;
  for (int i = 1; i < 100000; ++i) {
    const double step = -i * (i - a);
    b += 2.0;
    d = 1.0 / (step * d + b);
    c = b + step / c;
    result *= d * c;
    if (std::fabs(d * c - 1.0) <= kRounding) break;
  }
  return result * std::exp(a * std::log(x) - x - log_gamma(a));
}

// Share of a chi-square above x.
inline double chi_square_above(double degrees, double x) {
  const double a = 0.5 * degrees, half = 0.5 * x;
  if (half <= 0.0) return 1.0;
  if (std::isinf(half)) return 0.0;
  return half < a + 1.0 ? 1.0 - gamma_series(a, half) : gamma_fraction(a, half);
}

inline double chi_square_below(double degrees, double x) {
  const double a = 0.5 * degrees, half = 0.5 * x;
  if (half <= 0.0) return 0.0;
  if (std::isinf(half)) return 1.0;
  return half < a + 1.0 ? gamma_series(a, half) : 1.0 - gamma_fraction(a, half);
}

// Share of Fisher's F below, or above, x.
inline double f_below(double first, double second, double x) {
  if (x <= 0.0) return 0.0;
  if (first == 2.0) return -std::expm1(-0.5 * second * std::log1p(2.0 * x / second));  // steps in a plane
  const double whole = first * x + second;
  return std::isinf(whole) ? 1.0 : beta_below(0.5 * first, 0.5 * second, first * x / whole, second / whole);
}

inline double f_above(double first, double second, double x) {
  if (x <= 0.0) return 1.0;
  const double whole = first * x + second;
  return std::isinf(whole) ? 0.0 : beta_below(0.5 * second, 0.5 * first, second / whole, first * x / whole);
}

// Share of a standard Student-t below x.
inline double student_below(double tail, double x) {
  const double half = 0.5 * f_above(1.0, tail, x * x);
  return x < 0.0 ? half : 1.0 - half;
}

// Where a function that falls from 1 to 0 over the positive numbers reaches a share between them: halving, of logarithms.
template <typename Falling>
double where_falls_to(const Falling& above, double share) {
  double low = 1.0, high = 1.0;
  while (above(low) < share && low > 1e-300) low *= 0.5;
  while (above(high) > share && high < 1e300) high *= 2.0;
  for (int i = 0; i < 200; ++i) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    if (middle <= low || middle >= high) break;
    (above(middle) > share ? low : high) = middle;
  }
  return std::sqrt(low) * std::sqrt(high);
}

inline double chi_square_beyond(double degrees, double share) {
  return where_falls_to([&](double x) { return chi_square_above(degrees, x); }, share);
}

inline double f_beyond(double first, double second, double share) {
  return where_falls_to([&](double x) { return f_above(first, second, x); }, share);
}

// exp(-|x|) I0(x), by the Chebyshev series of Cephes.
inline double bessel_i0e(double x) {
  static constexpr double kNear[] = {
      -4.4153416464793395e-18, 3.3307945188222384e-17,  -2.431279846547955e-16, 1.715391285555133e-15,
      -1.1685332877993451e-14, 7.676185498604936e-14,   -4.856446783111929e-13, 2.95505266312964e-12,
      -1.726826291441556e-11,  9.675809035373237e-11,   -5.189795601635263e-10, 2.6598237246823866e-09,
      -1.300025009986248e-08,  6.046995022541919e-08,   -2.670793853940612e-07, 1.1173875391201037e-06,
      -4.4167383584587505e-06, 1.6448448070728896e-05,  -5.754195010082104e-05, 0.00018850288509584165,
      -0.0005763755745385824,  0.0016394756169413357,   -0.004324309995050576,  0.010546460394594998,
      -0.02373741480589947,    0.04930528423967071,     -0.09490109704804764,   0.17162090152220877,
      -0.3046826723431984,     0.6767952744094761};
  static constexpr double kFar[] = {
      -7.233180487874754e-18,  -4.830504485944182e-18,  4.46562142029676e-17,   3.461222867697461e-17,
      -2.8276239805165836e-16, -3.425485619677219e-16,  1.7725601330565263e-15, 3.8116806693526224e-15,
      -9.554846698828307e-15,  -4.150569347287222e-14,  1.54008621752141e-14,   3.8527783827421426e-13,
      7.180124451383666e-13,   -1.7941785315068062e-12, -1.3215811840447713e-11, -3.1499165279632416e-11,
      1.1889147107846439e-11,  4.94060238822497e-10,    3.3962320257083865e-09, 2.266668990498178e-08,
      2.0489185894690638e-07,  2.8913705208347567e-06,  6.889758346916825e-05,  0.0033691164782556943,
      0.8044904110141088};
  const auto series = [](double y, const auto& coefficients) {
    double b0 = 0.0, b1 = 0.0, b2 = 0.0;
    for (const double each : coefficients) {
      b2 = b1;
      b1 = b0;
      b0 = y * b1 - b2 + each;
    }
    return 0.5 * (b0 - b2);
  };
  x = std::fabs(x);
  return x <= 8.0 ? series(0.5 * x - 2.0, kNear) : series(32.0 / x - 2.0, kFar) / std::sqrt(x);
}

// Dawson's integral exp(-x²) ∫₀ˣ exp(t²) dt: a series of positive terms, and where x is large what it tends to.
inline double dawson(double x) {
  const double square = x * x;
  if (square < 40.0) {
    double term = x, sum = x;
    for (int k = 1; std::fabs(term) > 0.01 * kRounding * std::fabs(sum); ++k) {
      term *= square / k;
      sum += term / (2 * k + 1);
    }
    return std::exp(-square) * sum;
  }
  double term = 1.0, sum = 1.0;
  for (int k = 1; k < 40 && term > 0.1 * kRounding; ++k) sum += term *= (2 * k - 1) / (2.0 * square);
  return 0.5 * sum / x;
}

}  // namespace dunno
