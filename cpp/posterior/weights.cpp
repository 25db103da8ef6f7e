#include "posterior/weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problem/incidence.hpp"
#include "flow/map.hpp"
#include "k_best/gaps.hpp"

namespace dunno {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

const std::vector<double>& dividing_costs(const Problem& problem) {
  return problem.dividing_cost.empty() ? problem.cost : problem.dividing_cost;
}

bool has_triples(const Problem& problem, std::int32_t i) { return problem.triples && problem.triples->has_cost[i]; }

// The nearest problem that is a flow. Its duals need not be best for `problem`, only near enough.
Problem nearest_flow(const Problem& problem) {
  Problem flow = problem;
  flow.dividing_cost.clear();
  flow.triples.reset();
  for (std::int32_t e = 0; e < problem.n_edges(); ++e)
    if (std::isinf(flow.cost[e])) flow.cost[e] = problem.dividing_cost[e];
  for (std::int32_t i = 0; i < problem.n_mothers; ++i) flow.divide[i] = std::max(flow.divide[i], -flow.disappear[i]);
  return flow;
}

// Scales the edges of a dividing mother by the likeliest of them and returns the factor of a pair; kImpossible if it
// cannot divide.
double scale_dividing(const Incidence& edges, std::int32_t i, LogWeights& logs) {
  const std::int32_t first = edges.first[i], last = edges.first[i + 1];
  double nearest = kImpossible;  // its likeliest edge when it divides
  std::int32_t n_possible = 0;
  for (std::int32_t k = first; k < last; ++k) {
    nearest = std::max(nearest, logs.dividing[edges.edge[k]]);
    n_possible += logs.dividing[edges.edge[k]] > kImpossible;
  }
  const bool can_divide = n_possible >= 2;
  for (std::int32_t k = first; k < last; ++k) {
    double& dividing = logs.dividing[edges.edge[k]];
    dividing = can_divide ? dividing - nearest : kImpossible;
  }
  return can_divide ? 2.0 * nearest : kImpossible;
}

// The same of a mother with triples: everything about a pair goes into its triple, in proportion to the likeliest pair.
double scale_triples(const Problem& problem, const Incidence& edges, std::int32_t i, LogWeights& logs) {
  const std::int32_t first = edges.first[i], n = edges.first[i + 1] - first;
  const double* cost = problem.triples->cost.data() + problem.triples->table[i];
  double* triple = logs.triple.data() + problem.triples->table[i];
  double likeliest = kImpossible;
  for (std::int32_t k = 0; k < n; ++k)
    for (std::int32_t l = 0; l < k; ++l) {
      const double both = logs.dividing[edges.edge[first + k]] + logs.dividing[edges.edge[first + l]];
      triple[k * n + l] = both - cost[k * n + l];
      likeliest = std::max(likeliest, triple[k * n + l]);
    }
  const bool can_divide = likeliest > kImpossible;
  for (std::int32_t k = 0; k < n; ++k) {
    logs.dividing[edges.edge[first + k]] = can_divide ? 0.0 : kImpossible;
    for (std::int32_t l = 0; l < k && can_divide; ++l) triple[k * n + l] -= likeliest;
  }
  return likeliest;
}

// A mother's three loads in proportion to the likeliest of them. `price` is v[i].
void weigh_mother(const Problem& problem, const Incidence& edges, std::int32_t i, double price, LogWeights& logs) {
  const std::int32_t first = edges.first[i], last = edges.first[i + 1];
  const double both = has_triples(problem, i) ? scale_triples(problem, edges, i, logs) : scale_dividing(edges, i, logs);
  const double none = -problem.disappear[i];
  const double single = first == last ? kImpossible : -price;
  const double pair = both - problem.divide[i] - 2.0 * price;
  const double best = std::max({none, single, pair});
  logs.scale += best;
  logs.none[i] = none - best;
  logs.pair[i] = pair - best;
  for (std::int32_t k = first; k < last; ++k) logs.single[edges.edge[k]] += single - best;
}

template <typename Number>
Number to_number(double log);

template <>
double to_number(double log) {
  return log == kImpossible ? 0.0 : std::exp(std::max(log, kFloor));
}

template <>
Wide to_number(double log) {
  return log == kImpossible ? Wide() : Wide::exp(log);
}

template <typename Number>
std::vector<Number> to_numbers(const std::vector<double>& logs) {
  std::vector<Number> numbers(logs.size());
  std::transform(logs.begin(), logs.end(), numbers.begin(), to_number<Number>);
  return numbers;
}

// An edge that costs nothing finite by itself cannot be a mother's only one, and some pairs cannot be: let such
// daughters appear.
std::vector<std::int32_t> possible(const Problem& problem, std::vector<std::int32_t> chosen) {
  if (problem.is_linear()) return chosen;
  const std::vector<double>& dividing_cost = dividing_costs(problem);
  std::vector<std::int32_t> load(problem.n_mothers, 0), earlier(problem.n_mothers, kAppears);
  for (const std::int32_t e : chosen)
    if (e != kAppears) ++load[problem.mother[e]];
  std::vector<char> impossible(problem.n_mothers, 0);
  for (const std::int32_t e : chosen) {
    if (e == kAppears) continue;
    const std::int32_t i = problem.mother[e];
    if (std::isinf(load[i] == 2 ? dividing_cost[e] : problem.cost[e])) impossible[i] = 1;
    if (earlier[i] != kAppears && has_triples(problem, i) &&
        std::isinf(problem.triples->cost[problem.triples->at(i, earlier[i], e)]))
      impossible[i] = 1;
    earlier[i] = e;
  }
  for (std::int32_t& e : chosen)
    if (e != kAppears && impossible[problem.mother[e]]) e = kAppears;
  return chosen;
}

// At the prices v of mothers' places, and u(j) of daughters.
template <typename DaughterPrice>
LogWeights weigh(const Problem& problem, const std::vector<double>& price, const DaughterPrice& daughter_price) {
  LogWeights logs;
  logs.price = price;
  logs.none.resize(problem.n_mothers);
  logs.pair.resize(problem.n_mothers);
  logs.appear.resize(problem.n_daughters);
  logs.single.resize(problem.n_edges());
  logs.dividing.resize(problem.n_edges());
  logs.triples = problem.triples;
  if (problem.triples) logs.triple.assign(problem.triples->cost.size(), 0.0);
  const std::vector<double>& dividing_cost = dividing_costs(problem);
  for (std::int32_t j = 0; j < problem.n_daughters; ++j) {
    const double own = daughter_price(j);
    logs.appear[j] = own - problem.appear[j];
    logs.scale -= own;
    for (std::int32_t e = problem.row[j]; e < problem.row[j + 1]; ++e) {
      const double both = own + price[problem.mother[e]];
      logs.single[e] = both - problem.cost[e];
      logs.dividing[e] = both - dividing_cost[e];
    }
  }
  const Incidence edges(problem);
  for (std::int32_t i = 0; i < problem.n_mothers; ++i) weigh_mother(problem, edges, i, price[i], logs);
  return logs;
}

}  // namespace

LogWeights make_log_weights(const Problem& problem, Stop& stop) {
  const bool is_flow = problem.is_linear() && problem.is_convex();
  const Problem flow = is_flow ? Problem() : nearest_flow(problem);
  const Problem& solved = is_flow ? problem : flow;
  Map map(solved, stop);
  map.solve();
  // Extreme prices, which the MAP ends with, say that mothers may as well disappear where none does. Messages start from
  // these weights, and would take long to learn otherwise.
  Flow central = map.flow();
  central.v = GapFinder(solved, map.flow(), stop).central_prices();
  LogWeights logs = weigh(problem, central.v, [&](std::int32_t j) { return daughter_dual(solved, central, j); });
  logs.likely = possible(problem, map.chosen());
  return logs;
}

LogWeights make_log_weights(const Problem& problem, const std::vector<double>& price) {
  return weigh(problem, price, [&](std::int32_t j) {
    double best = problem.appear[j];
    for (std::int32_t e = problem.row[j]; e < problem.row[j + 1]; ++e) {
      const double cost = std::isinf(problem.cost[e]) ? problem.dividing_cost[e] : problem.cost[e];
      best = std::min(best, cost - price[problem.mother[e]]);
    }
    return best;
  });
}

template <typename Number>
Weights<Number>::Weights(const LogWeights& logs)
    : single(to_numbers<Number>(logs.single)),
      dividing(to_numbers<Number>(logs.dividing)),
      appear(to_numbers<Number>(logs.appear)),
      none(to_numbers<Number>(logs.none)),
      pair(to_numbers<Number>(logs.pair)),
      triple(logs.triple.size(), Number(0.0)),
      triples(logs.triples) {
  for (std::size_t i = 0; i < none.size(); ++i) {
    if (!has_triples(static_cast<std::int32_t>(i))) continue;
    const std::size_t n = triples->degree[i];
    const double* log = logs.triple.data() + triples->table[i];
    Number* whole = triple.data() + triples->table[i];
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t l = 0; l < k; ++l) whole[k * n + l] = whole[l * n + k] = to_number<Number>(log[k * n + l]);
  }
}

template <typename Number>
void Weights<Number>::triples_among(std::int32_t mother, const std::vector<std::int32_t>& edges,
                                    std::vector<Number>& among) const {
  among.clear();
  if (!has_triples(mother)) return;
  const std::int32_t* place = triples->place.data();
  for (const std::int32_t e : edges) {
    const Number* row = table(mother) + place[e] * triples->degree[mother];
    for (const std::int32_t f : edges) among.push_back(row[place[f]]);
  }
}

template struct Weights<double>;
template struct Weights<Wide>;

}  // namespace dunno
