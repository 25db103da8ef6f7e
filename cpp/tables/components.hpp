// Which rows are joined by edges, directly or through others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace dunno {

// (n): the lowest row of each row's component.
inline std::vector<std::int64_t> components(const std::int64_t* first, const std::int64_t* second, std::int64_t n_edges,
                                            std::int64_t n) {
  std::vector<std::int64_t> leader(n);
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](std::int64_t row) {
    while (leader[row] != row) row = leader[row] = leader[leader[row]];
    return row;
  };
  for (std::int64_t e = 0; e < n_edges; ++e) {
    const std::int64_t a = find(first[e]), b = find(second[e]);
    leader[std::max(a, b)] = std::min(a, b);
  }
  for (std::int64_t row = 0; row < n; ++row) leader[row] = find(row);
  return leader;
}

}  // namespace dunno
