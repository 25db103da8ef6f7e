// A number with a double's precision whose exponent cannot overflow.
//
// Weights are exp(-cost): at costs of 1e9 no double holds them. Sums and products are all the kernels need, so a
// mantissa beside a 64-bit exponent will do; it is exact where logarithms would lose digits. Costs are at most 1e12
// (the doors in Python see to it), so that a product of six million weights has room.
#pragma once

#include <cmath>
#include <cstdint>

namespace dunno {

class Wide {
 public:
  Wide() = default;
  Wide(double value) {  // NOLINT: converts on purpose, so that formulas read alike for doubles
    if (value <= 0.0) return;
    int exponent;
    mantissa_ = 2.0 * std::frexp(value, &exponent);
    exponent_ = exponent - 1;
  }

  static Wide exp(double log) {
    Wide wide;
    const double exponent = std::floor(log / kLog2);
    wide.mantissa_ = std::exp(log - exponent * kLog2);
    wide.exponent_ = static_cast<std::int64_t>(exponent);
    return wide.tidy();
  }

  double log() const { return std::log(mantissa_) + static_cast<double>(exponent_) * kLog2; }

  // Zero below and infinity above what a double holds.
  explicit operator double() const {
    if (exponent_ < -1100) return 0.0;
    return std::ldexp(mantissa_, static_cast<int>(exponent_ > 1100 ? 1100 : exponent_));
  }

  Wide& operator*=(const Wide& other) {
    mantissa_ *= other.mantissa_;
    exponent_ += other.exponent_;
    return tidy();
  }
  Wide& operator/=(const Wide& other) {
    mantissa_ /= other.mantissa_;
    exponent_ -= other.exponent_;
    return tidy();
  }
  Wide& operator+=(const Wide& other) {
    if (other.mantissa_ == 0.0) return *this;
    if (mantissa_ == 0.0) return *this = other;
    const std::int64_t shift = exponent_ - other.exponent_;
    if (shift > 60) return *this;
    if (shift < -60) return *this = other;
    if (shift >= 0) {
      mantissa_ += std::ldexp(other.mantissa_, static_cast<int>(-shift));
    } else {
      mantissa_ = other.mantissa_ + std::ldexp(mantissa_, static_cast<int>(shift));
      exponent_ = other.exponent_;
    }
    return tidy();
  }
  friend Wide operator*(Wide a, const Wide& b) { return a *= b; }
  friend Wide operator/(Wide a, const Wide& b) { return a /= b; }
  friend Wide operator+(Wide a, const Wide& b) { return a += b; }
  friend bool operator<(const Wide& a, const Wide& b) {
    if (a.mantissa_ == 0.0 || b.mantissa_ == 0.0) return a.mantissa_ < b.mantissa_;
    return a.exponent_ != b.exponent_ ? a.exponent_ < b.exponent_ : a.mantissa_ < b.mantissa_;
  }
  friend bool operator==(const Wide& a, const Wide& b) {
    return a.mantissa_ == b.mantissa_ && (a.mantissa_ == 0.0 || a.exponent_ == b.exponent_);
  }

 private:
  static constexpr double kLog2 = 0.693147180559945309417232121458;

  // Keeps the mantissa in [1, 2), or zero; sums and products leave it in (1/2, 4).
  Wide& tidy() {
    if (mantissa_ >= 2.0) {
      mantissa_ *= 0.5;
      ++exponent_;
    } else if (mantissa_ < 1.0) {
      if (mantissa_ == 0.0) {
        exponent_ = 0;
      } else {
        mantissa_ *= 2.0;
        --exponent_;
      }
    }
    return *this;
  }

  double mantissa_ = 0.0;
  std::int64_t exponent_ = 0;
};

}  // namespace dunno
