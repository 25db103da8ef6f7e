// Numbers as lines of text: whole ones as such, others with nine digits, nothing for NaN.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace dunno {

struct Column {
  const std::int64_t* whole = nullptr;  // one of the two is there
  const double* fraction = nullptr;
};

namespace tables {

constexpr int kDigits = 9;
constexpr std::int64_t kLeast = 100'000'000, kMost = 1'000'000'000;  // numbers of nine digits
// A product of a number and a power of ten is off by 1e-6 at most, so nearer than this to the middle between two numbers it
// does not tell which is nearest.
constexpr double kUnsure = 1e-4;

// Those up to 1e22 are exact, the others next to it.
constexpr int kLargestPower = 48;
constexpr double kPowers[kLargestPower + 1] = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
    1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38,
    1e39, 1e40, 1e41, 1e42, 1e43, 1e44, 1e45, 1e46, 1e47, 1e48};
constexpr double kSmallest = 1e-39;

struct Pairs {
  char text[100][2];
  constexpr Pairs() : text() {
    for (int k = 0; k < 100; ++k) {
      text[k][0] = static_cast<char>('0' + k / 10);
      text[k][1] = static_cast<char>('0' + k % 10);
    }
  }
};
constexpr Pairs kPairs;

inline void append_any(std::string& text, double value) {
  char digits[32];
#if defined(__cpp_lib_to_chars)
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, kDigits);
  text.append(digits, end.ptr);
#else
  text.append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%.9g", value)));
#endif
}

// The nine digits of a positive number and the power of ten of the first one; false where this does not tell them for sure.
inline bool nine_digits(double value, std::int64_t& number, int& exponent) {
  if (!(value >= kSmallest && value < kMost)) return false;
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const int halvings = static_cast<int>(bits >> 52) - 1023;
  exponent = (halvings * 1233) >> 12;  // times log10(2), downwards: right, or one too low
  for (int tries = 0; tries < 2; ++tries) {
    const int power = kDigits - 1 - exponent;
    if (power < 0 || power > kLargestPower) return false;
    const double scaled = value * kPowers[power];
    const auto below = static_cast<std::int64_t>(scaled);
    const double over = scaled - static_cast<double>(below);
    if (std::abs(over - 0.5) < kUnsure) return false;
    number = below + (over > 0.5);
    if (number >= kLeast && number < kMost) return true;
    exponent += 1;  // one too low, or 999999999.6
  }
  return false;
}

}  // namespace tables

// As printf's %.9g, which is what `to_chars` gives, too, in a third of the time for the numbers that tables are full of.
inline void append_number(std::string& text, double value) {
  if (std::isnan(value)) return;
  if (value == 0.0 && !std::signbit(value)) {
    text.push_back('0');
    return;
  }
  std::int64_t number;
  int exponent;
  if (!tables::nine_digits(std::abs(value), number, exponent)) return tables::append_any(text, value);
  char digits[tables::kDigits];
  auto rest = static_cast<std::uint32_t>(number);
  for (int k = tables::kDigits - 2; k > 0; k -= 2, rest /= 100) std::memcpy(digits + k, tables::kPairs.text[rest % 100], 2);
  digits[0] = static_cast<char>('0' + rest);
  int used = tables::kDigits;
  while (used > 1 && digits[used - 1] == '0') --used;
  char line[32];
  char* end = line;
  if (value < 0.0) *end++ = '-';
  const auto put = [&](int from, int to) {
    for (int k = from; k < to; ++k) *end++ = digits[k];
  };
  if (exponent < -4) {
    put(0, 1);
    if (used > 1) *end++ = '.';
    put(1, used);
    *end++ = 'e';
    *end++ = '-';
    *end++ = static_cast<char>('0' - exponent / 10);
    *end++ = static_cast<char>('0' - exponent % 10);
  } else if (exponent < 0) {
    *end++ = '0';
    *end++ = '.';
    for (int k = -1; k > exponent; --k) *end++ = '0';
    put(0, used);
  } else {
    put(0, exponent + 1 < used ? exponent + 1 : used);
    for (int k = used; k <= exponent; ++k) *end++ = '0';
    if (used > exponent + 1) *end++ = '.';
    put(exponent + 1, used);
  }
  text.append(line, end);
}

inline void append_number(std::string& text, std::int64_t value) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// One line per row, columns separated by commas.
inline std::string format_rows(const std::vector<Column>& columns, std::int64_t rows) {
  std::string text;
  text.reserve(static_cast<std::size_t>(rows) * columns.size() * 8);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) text.push_back(',');
      columns[c].whole != nullptr ? append_number(text, columns[c].whole[row])
                                  : append_number(text, columns[c].fraction[row]);
    }
    text.push_back('\n');
  }
  return text;
}

}  // namespace dunno
