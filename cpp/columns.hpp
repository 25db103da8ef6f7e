// A problem's edges grouped by mother: the way back, for searches against the direction of the edges.
#pragma once

#include <vector>

#include "problem.hpp"

namespace dunno {

struct Columns {
  struct Entry {
    std::int32_t edge;
    std::int32_t daughter;
  };
  std::vector<std::int32_t> start;  // (n_mothers + 1)
  std::vector<Entry> entry;         // (edges), ascending inside a column
};

// Only the edges for which `keep(edge)` holds.
template <typename Keep>
Columns make_columns(const Problem& problem, Keep keep) {
  Columns columns;
  columns.start.assign(problem.n_mothers + 1, 0);
  for (std::int32_t e = 0; e < problem.n_edges(); ++e)
    if (keep(e)) ++columns.start[problem.mother[e] + 1];
  for (std::int32_t i = 0; i < problem.n_mothers; ++i) columns.start[i + 1] += columns.start[i];
  columns.entry.resize(columns.start.back());
  std::vector<std::int32_t> next(columns.start.begin(), columns.start.end() - 1);
  for (std::int32_t j = 0; j < problem.n_daughters; ++j)
    for (std::int32_t e = problem.row[j]; e < problem.row[j + 1]; ++e)
      if (keep(e)) columns.entry[next[problem.mother[e]]++] = {e, j};
  return columns;
}

inline Columns make_columns(const Problem& problem) {
  return make_columns(problem, [](std::int32_t) { return true; });
}

}  // namespace dunno
