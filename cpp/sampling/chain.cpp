#include "sampling/chain.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sampling/draw.hpp"

namespace dunno {
namespace {

constexpr int kLongest = 200;           // displacements, before a chain of them is given up
constexpr double kLeastAway = 1e-100;  // who has this little elsewhere to go begins no chain

}  // namespace

template <typename Number>
Chain<Number>::Chain(const Problem& problem, const Incidence& edges, const Weights<Number>& weights,
                     std::vector<std::int32_t> chosen, Random& random, Stop& stop)
    : problem_(problem),
      edges_(edges),
      weights_(weights),
      random_(random),
      stop_(stop),
      chosen_(problem.n_daughters, kAppears),
      held_(problem.n_mothers, {kNobody, kNobody}),
      frontier_(stop),
      is_moved_(problem.n_daughters, 0) {
  for (const std::int32_t e : chosen)
    if (e != kAppears) choose(e);
}

template <typename Number>
void Chain<Number>::release(std::int32_t edge) {
  auto& held = held_[problem_.mother[edge]];
  if (held[0] == edge) held[0] = held[1];
  held[1] = kNobody;
  chosen_[edges_.daughter[edge]] = kAppears;
}

template <typename Number>
void Chain<Number>::choose(std::int32_t edge) {
  auto& held = held_[problem_.mother[edge]];
#ifdef DUNNO_CHECK
  if (held[1] != kNobody || chosen_[edges_.daughter[edge]] != kAppears)
    throw std::logic_error("chain: a daughter or a place is taken twice");
#endif
  held[held[0] == kNobody ? 0 : 1] = edge;
  chosen_[edges_.daughter[edge]] = edge;
}

template <typename Number>
void Chain<Number>::redraw(const Cluster& cluster) {
  stop_.check();
  for (const auto& inside : cluster.edge)
    for (const std::int32_t e : inside)
      if (chosen_[edges_.daughter[e]] == e) release(e);
  condition(cluster);
  frontier_.forward(cluster.plan, conditional_);
  if (taken_.size() < cluster.mothers.size()) taken_.resize(cluster.mothers.size());
  for (std::size_t i = 0; i < cluster.mothers.size(); ++i)
    if (taken_[i].size() < cluster.edge[i].size()) taken_[i].resize(cluster.edge[i].size());
  frontier_.sample(random_, taken_);
  for (std::size_t i = 0; i < cluster.mothers.size(); ++i)
    for (std::size_t k = 0; k < cluster.edge[i].size(); ++k)
      if (taken_[i][k]) choose(cluster.edge[i][k]);
}

// What a mother holds outside of the cluster takes from its places; a daughter held outside cannot be taken.
template <typename Number>
void Chain<Number>::condition(const Cluster& cluster) {
  conditional_.resize(cluster.graph);
  for (std::size_t i = 0; i < cluster.mothers.size(); ++i) {
    const std::int32_t mother = cluster.mothers[i];
    const auto& held = held_[mother];
    const bool is_free = held[0] == kNobody, is_full = held[1] != kNobody;
    conditional_.none[i] = is_free ? weights_.none[mother] : is_full ? Number(1.0) : weights_.single[held[0]];
    conditional_.pair[i] = is_free ? weights_.pair[mother] : Number(0.0);
    if (is_free) weights_.triples_among(mother, cluster.edge[i], conditional_.triple[i]);
    for (std::size_t k = 0; k < cluster.edge[i].size(); ++k) {
      const std::int32_t e = cluster.edge[i][k];
      const bool is_open = chosen_[edges_.daughter[e]] == kAppears;
      conditional_.dividing[i][k] = is_open ? weights_.dividing[e] : Number(0.0);
      conditional_.single[i][k] = !is_open || is_full ? Number(0.0)
                                  : is_free           ? weights_.single[e]
                                                      : pair_weight(held[0], e);
    }
  }
  for (std::size_t j = 0; j < cluster.daughters.size(); ++j) {
    const std::int32_t daughter = cluster.daughters[j];
    conditional_.appear[j] = chosen_[daughter] == kAppears ? weights_.appear[daughter] : Number(1.0);
  }
}

template <typename Number>
void Chain<Number>::redraw(std::int32_t mother) {
  stop_.check();
  for (const std::int32_t e : std::array<std::int32_t, 2>(held_[mother]))
    if (e != kNobody) release(e);
  free_.clear();
  for (std::int32_t k = edges_.first[mother]; k < edges_.first[mother + 1]; ++k)
    if (chosen_[edges_.daughter[edges_.edge[k]]] == kAppears) free_.push_back(edges_.edge[k]);
  const bool has_triples = weights_.has_triples(mother);
  std::int32_t first = kNobody, second = kNobody;
  Draw<Number> draw(random_);
  draw.offer(weights_.none[mother]);
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const std::int32_t e = free_[k];
    const Number appear = weights_.appear[edges_.daughter[e]];
    if (draw.offer(weights_.single[e] / appear)) {
      first = e;
      second = kNobody;
    }
    const Number half = weights_.pair[mother] * weights_.dividing[e] / appear;
    if (half == Number(0.0)) continue;
    for (std::size_t l = 0; l < k; ++l) {
      const std::int32_t f = free_[l];
      const Number& other = has_triples ? weights_.of_triple(mother, e, f) : weights_.dividing[f];
      if (!draw.offer(half * other / weights_.appear[edges_.daughter[f]])) continue;
      first = e;
      second = f;
    }
  }
  draw.require();
  if (first != kNobody) choose(first);
  if (second != kNobody) choose(second);
}

// Both mothers keep their loads, so that the way back is offered as often as the way there.
template <typename Number>
void Chain<Number>::exchange(std::int32_t daughter) {
  const std::int32_t mine = chosen_[daughter];
  const std::int32_t n = problem_.row[daughter + 1] - problem_.row[daughter];
  if (mine == kAppears) return;
  const std::int32_t wanted = problem_.row[daughter] + static_cast<std::int32_t>(random_.uniform() * n);
  const auto& held = held_[problem_.mother[wanted]];
  if (wanted == mine || held[0] == kNobody) return;
  const std::int32_t theirs = held[1] == kNobody ? held[0] : held[random_.next() >> 63];
  const std::int32_t offered = find_edge(problem_.mother[mine], edges_.daughter[theirs]);
  if (offered == kNobody) return;
  const Number before = weight_in_place_of(mine, mine) * weight_in_place_of(theirs, theirs);
  const Number after = weight_in_place_of(mine, offered) * weight_in_place_of(theirs, wanted);
  if (random_.uniform() >= static_cast<double>(after / before)) return;
  release(mine);
  release(theirs);
  choose(wanted);
  choose(offered);
}

template <typename Number>
void Chain<Number>::displace(std::int32_t daughter, const Proposal& proposal) {
  stop_.check();
  const bool is_kept = try_displacing(daughter, proposal);
  if (!is_kept) {
    for (const auto& [j, was] : moved_)
      if (chosen_[j] != kAppears) release(chosen_[j]);
    for (const auto& [j, was] : moved_)
      if (was != kAppears) choose(was);
  }
  for (const auto& [j, was] : moved_) is_moved_[j] = 0;
  moved_.clear();
}

// Remembers what the daughter had, unless it has been moved before.
template <typename Number>
void Chain<Number>::remember(std::int32_t daughter, std::int32_t was) {
  if (is_moved_[daughter]) return;
  is_moved_[daughter] = 1;
  moved_.emplace_back(daughter, was);
}

// The way back displaces the same daughters in the opposite order, so that each step's share of the ratio is known as
// soon as it is made. A mother has as many daughters when one is displaced there as on the way back: their number
// matters only at both ends. The first daughter does not go back to where it was: most chains would end there. The way
// back begins with the last one, who then does not stay either.
template <typename Number>
bool Chain<Number>::try_displacing(std::int32_t daughter, const Proposal& proposal) {
  std::int32_t was = chosen_[daughter];
  remember(daughter, was);
  const double away = proposal.away_from(problem_, daughter, was);
  if (away < kLeastAway) return false;
  Number ratio = Number(away / proposal.start[daughter]) * take_out(daughter, proposal);
  for (int step = 0; step < kLongest; ++step) {
    const std::int32_t now = step == 0 ? proposal.draw_other(problem_, daughter, was, random_)
                                       : proposal.draw(problem_, daughter, random_);
    ratio *= Number(proposal.of(daughter, was) / proposal.of(daughter, now));
    const std::int32_t i = now == kAppears ? kNobody : problem_.mother[now];
    const double joining = i == kNobody ? 1.0 : joining_share(i, proposal);
    const bool ends = i == kNobody || random_.uniform() < joining;
    const Number before = i == kNobody ? Number(1.0) : mother_weight(i);
    if (!ends) {
      was = held_[i][load(i) == 2 ? random_.next() >> 63 : 0];
      remember(edges_.daughter[was], was);
      release(was);
    }
    if (i != kNobody) choose(now);
    ratio *= (i == kNobody ? weights_.appear[daughter] : mother_weight(i)) / before;
    if (ends) return now != was && accepts(ratio / Number(joining), daughter, proposal);
    if (ratio == Number(0.0)) return false;
    daughter = edges_.daughter[was];
  }
  return false;
}

// Takes the first daughter out of where it is, and returns that step's share of the ratio.
template <typename Number>
Number Chain<Number>::take_out(std::int32_t daughter, const Proposal& proposal) {
  const std::int32_t was = chosen_[daughter];
  if (was == kAppears) return Number(1.0) / weights_.appear[daughter];
  const std::int32_t i = problem_.mother[was];
  const Number before = mother_weight(i);
  release(was);
  return mother_weight(i) * Number(joining_share(i, proposal)) / before;
}

// Whether a chain is kept that ended with this daughter, with whom the way back begins.
template <typename Number>
bool Chain<Number>::accepts(const Number& ratio, std::int32_t last, const Proposal& proposal) {
  const double away = proposal.away_from(problem_, last, chosen_[last]);
  if (away < kLeastAway) return false;
  return random_.uniform() < static_cast<double>(ratio * Number(proposal.start[last] / away));
}

template <typename Number>
Number Chain<Number>::mother_weight(std::int32_t mother) const {
  const auto& held = held_[mother];
  if (held[0] == kNobody) return weights_.none[mother];
  if (held[1] == kNobody) return weights_.single[held[0]];
  return pair_weight(held[0], held[1]);
}

template <typename Number>
Number Chain<Number>::pair_weight(std::int32_t first, std::int32_t second) const {
  const std::int32_t i = problem_.mother[first];
  if (weights_.has_triples(i)) return weights_.pair[i] * weights_.of_triple(i, first, second);
  return weights_.pair[i] * weights_.dividing[first] * weights_.dividing[second];
}

template <typename Number>
const Number& Chain<Number>::weight_in_place_of(std::int32_t chosen, std::int32_t edge) const {
  const std::int32_t i = problem_.mother[chosen];
  const auto& held = held_[i];
  if (held[1] == kNobody) return weights_.single[edge];
  if (!weights_.has_triples(i)) return weights_.dividing[edge];
  return weights_.of_triple(i, held[held[0] == chosen ? 1 : 0], edge);
}

template <typename Number>
std::int32_t Chain<Number>::find_edge(std::int32_t mother, std::int32_t daughter) const {
  for (std::int32_t e = problem_.row[daughter]; e < problem_.row[daughter + 1]; ++e)
    if (problem_.mother[e] == mother) return e;
  return kNobody;
}

template class Chain<double>;
template class Chain<Wide>;

}  // namespace dunno
