// The assignment problem of one frame pair: which mother does each daughter come from?
//
// An assignment gives every daughter one of its edges or "appears", and every mother at most two daughters.
// Its cost is the sum of its edges' costs, `appear` for each daughter without a mother, `disappear` for each
// mother without a daughter and `divide` for each mother with two, plus what their triples say (triples.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "problem/triples.hpp"

namespace dunno {

constexpr std::int32_t kAppears = -1;

// Edges are stored in rows, one row per daughter; inside a row they keep the caller's order.
struct Problem {
  std::int32_t n_mothers = 0;
  std::int32_t n_daughters = 0;
  std::vector<std::int32_t> row;     // (n_daughters + 1): row[j] .. row[j + 1] are the edges of daughter j
  std::vector<std::int32_t> mother;  // (edges)
  std::vector<double> cost;          // (edges), finite
  std::vector<double> dividing_cost; // (edges) or empty: the edge's cost when its mother divides
  std::vector<std::int64_t> given;   // (edges): the edge's index in the caller's list
  std::int64_t n_given = 0;          // length of the caller's list; infinite edges are dropped from the rows
  std::vector<double> appear;        // (n_daughters)
  std::vector<double> disappear;     // (n_mothers)
  std::vector<double> divide;        // (n_mothers)
  std::shared_ptr<const Triples> triples;  // or null

  std::int32_t n_edges() const { return static_cast<std::int32_t>(mother.size()); }

  // Whether a second daughter costs a mother at least as much as a first one: the flow's convexity.
  bool is_convex() const;
  // Whether a dividing mother's edges cost as much as others, and pairs of them nothing extra.
  bool is_linear() const;
};

// The caller's edge list, not yet checked.
struct EdgeList {
  const std::int64_t* mother;
  const std::int64_t* daughter;
  const double* cost;
  const double* dividing_cost;  // or null
  std::int64_t size;
};

// Sorts the edges into rows and drops the infinite ones. `triples` may be null.
// Throws std::invalid_argument on NaN, -inf, indices out of range and edges given twice.
Problem make_problem(const EdgeList& edges, std::int64_t n_mothers, std::int64_t n_daughters,
                     std::vector<double> appear, std::vector<double> disappear, std::vector<double> divide,
                     const TripleList* triples = nullptr);

}  // namespace dunno
