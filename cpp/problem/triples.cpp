#include "problem/triples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "problem/problem.hpp"

namespace dunno {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kUnlisted = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

std::string triple_name(const TripleList& list, std::int64_t t) {
  return "triple " + std::to_string(t) + " (edges " + std::to_string(list.first_edge[t]) + " and " +
         std::to_string(list.second_edge[t]) + ")";
}

void check_edges(const TripleList& list, std::int64_t t, std::int64_t n_edges) {
  for (const std::int64_t e : {list.first_edge[t], list.second_edge[t]})
    if (e < 0 || e >= n_edges)
      refuse(triple_name(list, t) + ": edge " + std::to_string(e) + " is out of range, there are " +
             std::to_string(n_edges));
  if (list.first_edge[t] == list.second_edge[t])
    refuse(triple_name(list, t) + " has the same edge twice; give two different edges of one mother");
}

// A division may be impossible (+inf); one that must be (-inf) or whose cost is unknown (NaN) is an error.
void check_cost(const TripleList& list, std::int64_t t) {
  if (std::isnan(list.cost[t]) || list.cost[t] == -kInfinite)
    refuse(triple_name(list, t) + ": its cost is " + (std::isnan(list.cost[t]) ? "NaN" : "-inf") +
           "; give a number, or inf for a division that cannot be");
}

void check_mother(const EdgeList& edges, const TripleList& list, std::int64_t t) {
  const std::int64_t one = edges.mother[list.first_edge[t]], other = edges.mother[list.second_edge[t]];
  if (one != other)
    refuse(triple_name(list, t) + " has two mothers, " + std::to_string(one) + " and " + std::to_string(other) +
           "; give two edges of one mother");
}

void check(const EdgeList& edges, const TripleList& list) {
  for (std::int64_t t = 0; t < list.size; ++t) {
    check_edges(list, t, edges.size);
    check_mother(edges, list, t);
    check_cost(list, t);
  }
}

// The problem's edges in the place of the caller's.
void number_edges(const Problem& problem, const TripleList& list, Triples& triples) {
  std::vector<std::int32_t> number(problem.n_given, Triples::kDropped);
  for (std::int32_t e = 0; e < problem.n_edges(); ++e) number[problem.given[e]] = e;
  triples.first.assign(list.size, Triples::kDropped);
  triples.second.assign(list.size, Triples::kDropped);
  for (std::int64_t t = 0; t < list.size; ++t) {
    const std::int32_t e = number[list.first_edge[t]], f = number[list.second_edge[t]];
    if (e == Triples::kDropped || f == Triples::kDropped) continue;
    triples.first[t] = e;
    triples.second[t] = f;
  }
}

void lay_out_tables(const Problem& problem, Triples& triples) {
  triples.degree.assign(problem.n_mothers, 0);
  triples.place.resize(problem.n_edges());
  for (std::int32_t e = 0; e < problem.n_edges(); ++e) triples.place[e] = triples.degree[problem.mother[e]]++;
  triples.has_cost.assign(problem.n_mothers, 0);
  triples.table.assign(problem.n_mothers, Triples::kNone);
  std::int64_t size = 0;
  for (const std::int32_t e : triples.first) {
    if (e == Triples::kDropped || triples.is_listed(problem.mother[e])) continue;
    triples.table[problem.mother[e]] = size;
    const std::int64_t degree = triples.degree[problem.mother[e]];
    size += degree * degree;
  }
  triples.cost.assign(size, kUnlisted);
}

void fill_tables(const Problem& problem, const TripleList& list, Triples& triples) {
  std::set<std::pair<std::int64_t, std::int64_t>> dropped;
  for (std::int64_t t = 0; t < list.size; ++t) {
    const std::int32_t e = triples.first[t], f = triples.second[t];
    if (e == Triples::kDropped) {
      if (!dropped.insert(std::minmax(list.first_edge[t], list.second_edge[t])).second)
        refuse(triple_name(list, t) + " is given twice");
      continue;
    }
    const std::int32_t i = problem.mother[e];
    double& cost = triples.cost[triples.at(i, e, f)];
    if (!std::isnan(cost)) refuse(triple_name(list, t) + " is given twice");
    cost = triples.cost[triples.at(i, f, e)] = list.cost[t];
    if (cost != 0.0) triples.has_cost[i] = 1;
  }
  for (double& cost : triples.cost)
    if (std::isnan(cost)) cost = 0.0;
  for (std::int32_t e = 0; e < problem.n_edges(); ++e)
    if (triples.is_listed(problem.mother[e])) triples.cost[triples.at(problem.mother[e], e, e)] = kInfinite;
}

}  // namespace

Triples make_triples(const Problem& problem, const EdgeList& edges, const TripleList& list) {
  check(edges, list);
  Triples triples;
  number_edges(problem, list, triples);
  lay_out_tables(problem, triples);
  fill_tables(problem, list, triples);
  return triples;
}

}  // namespace dunno
