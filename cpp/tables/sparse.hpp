// Products of matrices that are mostly empty, kept as rows of (column, value).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dunno {

struct Rows {
  std::vector<std::int64_t> begin;   // (n + 1): where each row's entries begin
  std::vector<std::int64_t> column;  // ascending within a row
  std::vector<double> value;
};

struct RowsView {
  const std::int64_t* begin;
  const std::int64_t* column;
  const double* value;
  std::int64_t n;
};

// first · second, row by row; terms are added in the order of the first one's entries.
inline Rows product(const RowsView& first, const RowsView& second, std::int64_t n_columns) {
  Rows result;
  result.begin.assign(1, 0);
  std::vector<double> sum(n_columns, 0.0);
  std::vector<std::int64_t> seen(n_columns, -1), columns;
  for (std::int64_t i = 0; i < first.n; ++i) {
    columns.clear();
    for (std::int64_t e = first.begin[i]; e < first.begin[i + 1]; ++e) {
      const std::int64_t j = first.column[e];
      for (std::int64_t f = second.begin[j]; f < second.begin[j + 1]; ++f) {
        const std::int64_t k = second.column[f];
        if (seen[k] != i) {
          seen[k] = i;
          sum[k] = 0.0;
          columns.push_back(k);
        }
        sum[k] += first.value[e] * second.value[f];
      }
    }
    std::sort(columns.begin(), columns.end());
    for (const std::int64_t k : columns) {
      result.column.push_back(k);
      result.value.push_back(sum[k]);
    }
    result.begin.push_back(static_cast<std::int64_t>(result.column.size()));
  }
  return result;
}

}  // namespace dunno
