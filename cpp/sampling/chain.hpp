// A Markov chain over assignments whose equilibrium is the posterior.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "posterior/clusters.hpp"
#include "posterior/frontier.hpp"
#include "problem/incidence.hpp"
#include "sampling/proposal.hpp"
#include "sampling/random.hpp"
#include "posterior/weights.hpp"

namespace dunno {

template <typename Number>
class Chain {
 public:
  // `chosen` (n_daughters) must be a possible assignment.
  Chain(const Problem& problem, const Incidence& edges, const Weights<Number>& weights,
        std::vector<std::int32_t> chosen, Random& random, Stop& stop);

  // Draws all edges inside the cluster anew, given all others.
  void redraw(const Cluster& cluster);
  // Draws a mother's daughters anew among its own and those who appear, given all others.
  void redraw(std::int32_t mother);

  // Offers the daughter to exchange mothers with one of the daughters of another of its mothers (Metropolis).
  void exchange(std::int32_t daughter);

  // Sends the daughter elsewhere; whom it displaces goes elsewhere too, and so on until somebody finds a free place or
  // appears. The whole chain of changes is kept or undone (Metropolis). The daughter must have been drawn in proportion
  // to `proposal.start`.
  void displace(std::int32_t daughter, const Proposal& proposal);

  const std::vector<std::int32_t>& chosen() const { return chosen_; }

 private:
  static constexpr std::int32_t kNobody = -1;

  void release(std::int32_t edge);
  void choose(std::int32_t edge);
  void condition(const Cluster& cluster);
  std::int32_t find_edge(std::int32_t mother, std::int32_t daughter) const;
  bool try_displacing(std::int32_t daughter, const Proposal& proposal);
  Number take_out(std::int32_t daughter, const Proposal& proposal);
  bool accepts(const Number& ratio, std::int32_t last, const Proposal& proposal);
  void remember(std::int32_t daughter, std::int32_t was);
  std::int32_t load(std::int32_t mother) const {
    return (held_[mother][0] != kNobody) + (held_[mother][1] != kNobody);
  }
  // How often a displaced daughter who comes to this mother joins those there instead of displacing one of them.
  double joining_share(std::int32_t mother, const Proposal& proposal) const {
    return load(mother) == 0 ? 1.0 : load(mother) == 1 ? proposal.join[mother] : 0.0;
  }
  Number mother_weight(std::int32_t mother) const;
  // The weight of a mother who divides into these two edges.
  Number pair_weight(std::int32_t first, std::int32_t second) const;
  // The weight of a chosen edge, or of another in its place; without `pair`, which both have.
  const Number& weight_in_place_of(std::int32_t chosen, std::int32_t edge) const;

  const Problem& problem_;
  const Incidence& edges_;
  const Weights<Number>& weights_;
  Random& random_;
  Stop& stop_;
  std::vector<std::int32_t> chosen_;               // (n_daughters)
  std::vector<std::array<std::int32_t, 2>> held_;  // (n_mothers) its chosen edges; the first place fills first
  Frontier<Number> frontier_;
  ClusterWeights<Number> conditional_;
  std::vector<std::vector<char>> taken_;
  std::vector<std::pair<std::int32_t, std::int32_t>> moved_;  // scratch: displaced daughters and what they had
  std::vector<char> is_moved_;                                // (n_daughters) whether they are among these
  std::vector<std::int32_t> free_;                            // scratch: a mother's edges to daughters who are free for it
};

extern template class Chain<double>;
extern template class Chain<Wide>;

}  // namespace dunno
