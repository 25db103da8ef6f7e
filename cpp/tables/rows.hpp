// Numbers as lines of text: whole ones as such, others with nine digits, nothing for NaN.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace dunno {

struct Column {
  const std::int64_t* whole = nullptr;  // one of the two is there
  const double* fraction = nullptr;
};

inline void append_number(std::string& text, double value) {
  if (std::isnan(value)) return;
  char digits[32];
#if defined(__cpp_lib_to_chars)
  const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 9);
  text.append(digits, end.ptr);
#else
  text.append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%.9g", value)));
#endif
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
