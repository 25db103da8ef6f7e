#include "problem/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace dunno {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

std::string edge_name(const EdgeList& edges, std::int64_t e) {
  return "edge " + std::to_string(e) + " (mother " + std::to_string(edges.mother[e]) + ", daughter " +
         std::to_string(edges.daughter[e]) + ")";
}

void check_indices(const EdgeList& edges, std::int64_t n_mothers, std::int64_t n_daughters) {
  for (std::int64_t e = 0; e < edges.size; ++e) {
    if (edges.mother[e] < 0 || edges.mother[e] >= n_mothers)
      refuse(edge_name(edges, e) + ": the mother is out of range, there are " + std::to_string(n_mothers));
    if (edges.daughter[e] < 0 || edges.daughter[e] >= n_daughters)
      refuse(edge_name(edges, e) + ": the daughter is out of range, there are " + std::to_string(n_daughters));
  }
}

// An edge may be absent (+inf); an edge that must be taken (-inf) or whose cost is unknown (NaN) is an error.
void check_costs(const EdgeList& edges, const double* cost, const char* what) {
  for (std::int64_t e = 0; e < edges.size; ++e)
    if (std::isnan(cost[e]) || cost[e] == -std::numeric_limits<double>::infinity())
      refuse(edge_name(edges, e) + ": its " + what + " is " + (std::isnan(cost[e]) ? "NaN" : "-inf") +
             "; give a number, or inf for an edge that does not exist");
}

void check_events(const std::vector<double>& costs, const char* what) {
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (!std::isfinite(costs[i]))
      refuse(std::string(what) + " cost " + std::to_string(i) + " is not finite; give a number");
}

bool is_absent(const EdgeList& edges, std::int64_t e) {
  return std::isinf(edges.cost[e]) && (!edges.dividing_cost || std::isinf(edges.dividing_cost[e]));
}

void check_duplicates(const Problem& problem, const EdgeList& edges) {
  std::vector<std::int32_t> seen_by(problem.n_mothers, -1);
  for (std::int32_t j = 0; j < problem.n_daughters; ++j)
    for (std::int32_t e = problem.row[j]; e < problem.row[j + 1]; ++e) {
      if (seen_by[problem.mother[e]] == j) refuse(edge_name(edges, problem.given[e]) + " is given twice");
      seen_by[problem.mother[e]] = j;
    }
}

}  // namespace

bool Problem::is_convex() const {
  for (std::int32_t i = 0; i < n_mothers; ++i)
    if (divide[i] < -disappear[i]) return false;
  return true;
}

bool Problem::is_linear() const {
  if (!dividing_cost.empty()) return false;
  return !triples || std::none_of(triples->has_cost.begin(), triples->has_cost.end(), [](char has) { return has; });
}

Problem make_problem(const EdgeList& edges, std::int64_t n_mothers, std::int64_t n_daughters,
                     std::vector<double> appear, std::vector<double> disappear, std::vector<double> divide,
                     const TripleList* triples) {
  constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max() - 1;
  if (n_mothers < 0 || n_daughters < 0) refuse("the numbers of mothers and daughters must not be negative");
  if (n_mothers > limit || n_daughters > limit || edges.size > limit) refuse("more than 2^31 cells or edges");
  check_indices(edges, n_mothers, n_daughters);
  check_costs(edges, edges.cost, "cost");
  if (edges.dividing_cost) check_costs(edges, edges.dividing_cost, "dividing_cost");
  check_events(appear, "appear");
  check_events(disappear, "disappear");
  check_events(divide, "divide");

  Problem problem;
  problem.n_mothers = static_cast<std::int32_t>(n_mothers);
  problem.n_daughters = static_cast<std::int32_t>(n_daughters);
  problem.n_given = edges.size;
  problem.appear = std::move(appear);
  problem.disappear = std::move(disappear);
  problem.divide = std::move(divide);

  problem.row.assign(n_daughters + 1, 0);
  for (std::int64_t e = 0; e < edges.size; ++e)
    if (!is_absent(edges, e)) ++problem.row[edges.daughter[e] + 1];
  for (std::int64_t j = 0; j < n_daughters; ++j) problem.row[j + 1] += problem.row[j];

  const std::int32_t n_edges = problem.row[n_daughters];
  problem.mother.resize(n_edges);
  problem.cost.resize(n_edges);
  problem.given.resize(n_edges);
  if (edges.dividing_cost) problem.dividing_cost.resize(n_edges);
  std::vector<std::int32_t> next(problem.row.begin(), problem.row.end() - 1);
  for (std::int64_t e = 0; e < edges.size; ++e) {
    if (is_absent(edges, e)) continue;
    const std::int32_t place = next[edges.daughter[e]]++;
    problem.mother[place] = static_cast<std::int32_t>(edges.mother[e]);
    problem.cost[place] = edges.cost[e];
    problem.given[place] = e;
    if (edges.dividing_cost) problem.dividing_cost[place] = edges.dividing_cost[e];
  }
  check_duplicates(problem, edges);
  if (triples) problem.triples = std::make_shared<const Triples>(make_triples(problem, edges, *triples));
  return problem;
}

}  // namespace dunno
