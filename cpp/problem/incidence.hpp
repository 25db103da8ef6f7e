// The same edges seen from the mothers: which edges does each of them have?
#pragma once

#include <cstdint>
#include <vector>

#include "problem/problem.hpp"

namespace dunno {

struct Incidence {
  explicit Incidence(const Problem& problem)
      : first(problem.n_mothers + 1, 0), edge(problem.n_edges()), daughter(problem.n_edges()) {
    for (const std::int32_t i : problem.mother) ++first[i + 1];
    for (std::int32_t i = 0; i < problem.n_mothers; ++i) first[i + 1] += first[i];
    std::vector<std::int32_t> next(first.begin(), first.end() - 1);
    for (std::int32_t j = 0; j < problem.n_daughters; ++j)
      for (std::int32_t e = problem.row[j]; e < problem.row[j + 1]; ++e) {
        edge[next[problem.mother[e]]++] = e;
        daughter[e] = j;
      }
  }

  std::vector<std::int32_t> first;     // (n_mothers + 1): first[i] .. first[i + 1] are the places of mother i in `edge`
  std::vector<std::int32_t> edge;      // (edges) sorted by mother
  std::vector<std::int32_t> daughter;  // (edges) the daughter of each edge
};

}  // namespace dunno
