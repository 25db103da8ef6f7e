// What it costs extra when a mother divides into exactly these two of its daughters.
//
// The caller lists triples (a mother and two of its edges); a pair that is not listed costs nothing extra. A mother of
// whom any is listed has a table of all its pairs, degree x degree, so that the inner loops need no search. Mothers
// without costs of their own stay with sums that are linear in the degree.
#pragma once

#include <cstdint>
#include <vector>

namespace dunno {

struct EdgeList;
struct Problem;

// The caller's list, not yet checked. Edges are indices into the caller's edge list.
struct TripleList {
  const std::int64_t* first_edge;
  const std::int64_t* second_edge;
  const double* cost;
  std::int64_t size;
};

struct Triples {
  static constexpr std::int32_t kDropped = -1;
  static constexpr std::int64_t kNone = -1;

  std::vector<std::int32_t> first, second;  // (listed) edges of the problem; kDropped: one of the two is infinite
  std::vector<std::int64_t> table;          // (n_mothers) where its table begins; kNone: nothing of its own is listed
  std::vector<char> has_cost;               // (n_mothers) whether any of its own costs something
  std::vector<std::int32_t> degree;         // (n_mothers)
  std::vector<std::int32_t> place;          // (edges) its place among its mother's edges, as in Incidence
  std::vector<double> cost;                 // the tables one after the other: symmetric, infinite on the diagonal

  bool is_listed(std::int32_t mother) const { return table[mother] != kNone; }
  // Where the tables have two edges of a mother.
  std::size_t at(std::int32_t mother, std::int32_t first_edge, std::int32_t second_edge) const {
    return static_cast<std::size_t>(table[mother]) + static_cast<std::size_t>(place[first_edge]) * degree[mother] +
           place[second_edge];
  }
};

// Triples with an infinite edge are dropped. Throws std::invalid_argument on NaN, -inf, indices out of range, edges of
// two mothers, and triples given twice.
Triples make_triples(const Problem& problem, const EdgeList& edges, const TripleList& list);

}  // namespace dunno
