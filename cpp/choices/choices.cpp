#include "choices/choices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace dunno {

namespace {

constexpr double kSmallest = 1e-250, kLargest = 1e80;  // of messages; three of the largest may be multiplied
constexpr std::int64_t kUndamped = 8;  // sweeps before messages are damped, where nothing is known before
constexpr std::int64_t kSlowly = 30;   // and before they are damped strongly: what swings until then swings on otherwise
constexpr double kMostly = 0.99;
constexpr double kFine = 0.1;  // messages that change a belief by less than this share of the tolerance are not passed on

enum class Damping { kNone, kSome, kStrong };

// The new message, or a geometric mean with the old one.
double mixed(double before, double fresh, Damping damping) {
  if (damping == Damping::kNone || before <= 0.0) return fresh;
  const double half = std::sqrt(before) * std::sqrt(fresh);
  return damping == Damping::kSome ? half : std::sqrt(before) * std::sqrt(half);
}

double clamped(double value) { return std::min(std::max(value, kSmallest), kLargest); }

// A choice, as small as can be: sweeps go through all of them again and again.
struct Way {
  double weight;
  std::int32_t slots[kEdges];  // where messages about its edges are, -1 for no edge
  std::int32_t local[kEdges];  // the same among its mask's edges
  std::int32_t state;
};

// One side of all masks, with edges numbered within each mask.
class Side {
 public:
  Side(const Choices& choices, std::int64_t n_edges) : begin_(choices.begin), n_(static_cast<std::int64_t>(choices.begin.size()) - 1) {
    if (n_edges > std::numeric_limits<std::int32_t>::max() / kKinds) throw std::invalid_argument("too many edges");
    pack(choices, n_edges);
    scale_weights(choices);
  }

  std::int64_t size() const { return n_; }

  // Say that nothing is known yet of the edges that this side chooses among.
  void know_nothing(std::vector<double>& messages) const {
    for (const auto edge : edges_) std::fill_n(messages.begin() + edge * kKinds, kKinds, 1.0);
  }

  // Of each edge, the mask on this side, -1 for edges that nobody chooses.
  std::vector<std::int64_t> owners(std::int64_t n_edges) const {
    std::vector<std::int64_t> found(static_cast<std::size_t>(n_edges), -1);
    for (std::int64_t v = 0; v < n_; ++v) {
      for (auto l = edge_begin_[v]; l < edge_begin_[v + 1]; ++l) found[edges_[l]] = v;
    }
    return found;
  }

  // Messages to the mask's edges and to its other side, from those that came in. Masks at the other ends of edges whose messages
  // changed, and the mask itself if what its other side hears changed, have something new to look at.
  void update(std::int64_t v, const std::vector<double>& incoming, const State& believed, std::vector<double>& outgoing,
              State& told, Damping damping, double fine, const std::vector<std::int64_t>& others, std::vector<char>& news) {
    const State before = told;
    const auto first_edge = edge_begin_[v], n_local = edge_begin_[v + 1] - first_edge;
    used_.assign(static_cast<std::size_t>(n_local * kKinds), 0.0);
    unused_.assign(static_cast<std::size_t>(n_local), 0.0);
    score_.clear();
    double total = 0.0;
    told.fill(0.0);
    for (auto c = begin_[v]; c < begin_[v + 1]; ++c) {
      const Way& way = ways_[c];
      const double one = way.slots[0] < 0 ? 1.0 : incoming[way.slots[0]];
      const double two = way.slots[1] < 0 ? 1.0 : incoming[way.slots[1]];
      const double three = way.slots[2] < 0 ? 1.0 : incoming[way.slots[2]];
      told[way.state] += way.weight * one * two * three;
      const double seen = way.weight * believed[way.state];
      const double score = seen * one * two * three;
      score_.push_back(score);
      total += score;
      if (way.slots[0] < 0) continue;
      used_[way.local[0]] += seen * two * three;
      unused_[way.local[0] / kKinds] += score;
      if (way.slots[1] < 0) continue;
      used_[way.local[1]] += seen * one * three;
      unused_[way.local[1] / kKinds] += score;
      if (way.slots[2] < 0) continue;
      used_[way.local[2]] += seen * one * two;
      unused_[way.local[2] / kKinds] += score;
    }
    normalise(told);
    for (int k = 0; k < kStates; ++k) {
      if (std::abs(told[k] - before[k]) > fine) news[v] = 1;
    }
    for (std::int64_t l = 0; l < n_local; ++l) {
      // A difference of nearly equal sums would be rounding noise.
      unused_[l] = unused_[l] < kMostly * total ? total - unused_[l] : without(v, l);
    }
    for (std::int64_t l = 0; l < n_local; ++l) {
      const auto edge = edges_[first_edge + l];
      if (send(edge, l, incoming, outgoing, damping, fine) && others[edge] >= 0) news[others[edge]] = 1;
    }
  }

  // Beliefs about the mask's choices; returns the logarithm of their sum.
  double believe(std::int64_t v, const std::vector<double>& incoming, const State& believed, std::vector<double>& ways) const {
    double total = 0.0;
    for (auto c = begin_[v]; c < begin_[v + 1]; ++c) {
      const Way& way = ways_[c];
      double score = way.weight * believed[way.state];
      for (const auto slot : way.slots) score *= slot < 0 ? 1.0 : incoming[slot];
      ways[c] = score;
      total += score;
    }
    for (auto c = begin_[v]; c < begin_[v + 1]; ++c) ways[c] /= std::max(total, kSmallest);
    return std::log(std::max(total, kSmallest)) + largest_[v];
  }

 private:
  void pack(const Choices& given, std::int64_t n_edges) {
    std::vector<std::int64_t> number(static_cast<std::size_t>(n_edges), -1);
    ways_.resize(given.state.size());
    edge_begin_.push_back(0);
    for (std::int64_t v = 0; v < n_; ++v) {
      for (auto c = begin_[v]; c < begin_[v + 1]; ++c) {
        ways_[c].state = static_cast<std::int32_t>(given.state[c]);
        for (int k = 0; k < kEdges; ++k) {
          ways_[c].slots[k] = ways_[c].local[k] = -1;
          const auto edge = given.edges[k][c], kind = given.kinds[k][c];
          if (edge < 0) continue;
          if (edge >= n_edges) throw std::invalid_argument("a choice names an edge that is not there");
          if (k > 0 && ways_[c].slots[k - 1] < 0) throw std::invalid_argument("a choice names its second edge and no first one");
          if (number[edge] < 0) {
            number[edge] = static_cast<std::int64_t>(edges_.size()) - edge_begin_.back();
            edges_.push_back(edge);
          }
          ways_[c].slots[k] = static_cast<std::int32_t>(edge * kKinds + kind);
          ways_[c].local[k] = static_cast<std::int32_t>(number[edge] * kKinds + kind);
        }
      }
      for (auto l = static_cast<std::size_t>(edge_begin_.back()); l < edges_.size(); ++l) number[edges_[l]] = -1;
      edge_begin_.push_back(static_cast<std::int64_t>(edges_.size()));
    }
  }

  void scale_weights(const Choices& given) {
    largest_.assign(static_cast<std::size_t>(n_), 0.0);
    for (std::int64_t v = 0; v < n_; ++v) {
      const auto begin = begin_[v], end = begin_[v + 1];
      if (begin == end) throw std::invalid_argument("a mask has no choice");
      const double largest = *std::max_element(given.log_weight.begin() + begin, given.log_weight.begin() + end);
      if (!std::isfinite(largest)) throw std::invalid_argument("all choices of a mask are impossible");
      for (auto c = begin; c < end; ++c) ways_[c].weight = std::exp(given.log_weight[c] - largest);
      largest_[v] = largest;
    }
  }

  // The weight of all choices that leave an edge unused.
  double without(std::int64_t v, std::int64_t local) const {
    double sum = 0.0;
    for (auto c = begin_[v]; c < begin_[v + 1]; ++c) {
      const Way& way = ways_[c];
      bool uses = false;
      for (int k = 0; k < kEdges; ++k) uses = uses || (way.slots[k] >= 0 && way.local[k] / kKinds == local);
      if (!uses) sum += score_[c - begin_[v]];
    }
    return sum;
  }

  // Returns whether a message changed enough to change what is believed of the edge.
  bool send(std::int64_t edge, std::int64_t local, const std::vector<double>& incoming, std::vector<double>& outgoing,
            Damping damping, double fine) {
    const double none = std::max(unused_[local], kSmallest);
    bool changed = false;
    for (int k = 0; k < kKinds; ++k) {
      double& message = outgoing[edge * kKinds + k];
      const double used = used_[local * kKinds + k];
      const double before = message;
      if (used <= 0.0) {
        message = 0.0;
      } else {
        const double fresh = clamped(used / none);
        message = mixed(message, fresh, damping);
      }
      const double said = incoming[edge * kKinds + k];
      changed = changed || std::abs(message - before) * said > fine * (1.0 + std::max(message, before) * said);
    }
    return changed;
  }

  static void normalise(State& told) {
    const double total = std::max(std::accumulate(told.begin(), told.end(), 0.0), kSmallest);
    for (double& each : told) each = std::max(each / total, 0.0);
  }

  const std::vector<std::int64_t>& begin_;
  std::int64_t n_;
  std::vector<Way> ways_;
  std::vector<double> largest_;
  std::vector<std::int64_t> edges_, edge_begin_;
  std::vector<double> used_, unused_, score_;
};

double belief_of_edge(const std::vector<double>& down, const std::vector<double>& up, std::int64_t e, double* kinds) {
  double total = 1.0;
  for (int k = 0; k < kKinds; ++k) total += down[e * kKinds + k] * up[e * kKinds + k];
  for (int k = 0; k < kKinds; ++k) kinds[k] = down[e * kKinds + k] * up[e * kKinds + k] / total;
  return total;
}

double belief_of_mask(const State& from_in, const State& from_out, double* states) {
  double total = 0.0;
  for (int s = 0; s < kStates; ++s) total += from_in[s] * from_out[s];
  total = std::max(total, kSmallest);
  for (int s = 0; s < kStates; ++s) states[s] = from_in[s] * from_out[s] / total;
  return total;
}

}  // namespace

Beliefs propagate(const Choices& out, const Choices& in, std::int64_t n_edges, std::int64_t max_sweeps, double tolerance,
                  ChoiceMessages&& before) {
  if (out.begin.size() != in.begin.size()) throw std::invalid_argument("both sides must have the same masks");
  Side later(out, n_edges), earlier(in, n_edges);
  const auto n = later.size();
  const auto slots = static_cast<std::size_t>(n_edges * kKinds);
  Beliefs found;
  found.messages = std::move(before);
  auto& [down, up, from_in, from_out] = found.messages;
  const std::int64_t undamped = down.empty() ? kUndamped : 1;
  if (down.empty()) {
    down.assign(slots, 0.0);
    up.assign(slots, 0.0);
    earlier.know_nothing(up);
    State even;
    even.fill(1.0 / kStates);
    from_in.assign(static_cast<std::size_t>(n), even);
    from_out = from_in;
  }
  if (down.size() != slots || from_in.size() != static_cast<std::size_t>(n)) {
    throw std::invalid_argument("messages of another problem");
  }

  const auto mothers = later.owners(n_edges), daughters = earlier.owners(n_edges);
  std::vector<char> news(static_cast<std::size_t>(n), 1);  // masks that have something new to look at
  const double fine = kFine * tolerance;
  Damping damping = Damping::kNone;
  const auto visit = [&](std::int64_t v, bool forwards) {
    if (!news[v]) return;
    news[v] = 0;
    if (forwards) earlier.update(v, down, from_out[v], up, from_in[v], damping, fine, mothers, news);
    later.update(v, up, from_in[v], down, from_out[v], damping, fine, daughters, news);
    if (!forwards) earlier.update(v, down, from_out[v], up, from_in[v], damping, fine, mothers, news);
  };

  found.edge.assign(slots, 0.0);
  found.state.assign(static_cast<std::size_t>(n * kStates), 0.0);
  std::array<double, kKinds> kinds;
  for (found.sweeps = 0; found.sweeps < max_sweeps;) {
    damping = found.sweeps >= kSlowly ? Damping::kStrong : found.sweeps >= undamped ? Damping::kSome : Damping::kNone;
    for (std::int64_t v = 0; v < n; ++v) visit(v, true);
    for (std::int64_t v = n - 1; v >= 0; --v) visit(v, false);
    ++found.sweeps;
    found.change = 0.0;
    for (std::int64_t e = 0; e < n_edges; ++e) {
      belief_of_edge(down, up, e, kinds.data());
      for (int k = 0; k < kKinds; ++k) {
        found.change = std::max(found.change, std::abs(kinds[k] - found.edge[e * kKinds + k]));
        found.edge[e * kKinds + k] = kinds[k];
      }
    }
    // States are looked at too: they hear of edges' messages half a sweep later, also where the edges' own beliefs are settled.
    for (std::int64_t v = 0; v < n; ++v) {
      double* states = &found.state[v * kStates];
      State last;
      std::copy_n(states, kStates, last.begin());
      belief_of_mask(from_in[v], from_out[v], states);
      for (int s = 0; s < kStates; ++s) found.change = std::max(found.change, std::abs(states[s] - last[s]));
    }
    if (found.change < tolerance) break;
  }

  found.ways_out.resize(out.log_weight.size());
  found.ways_in.resize(in.log_weight.size());
  for (std::int64_t v = 0; v < n; ++v) {
    found.log_evidence += later.believe(v, up, from_in[v], found.ways_out);
    found.log_evidence += earlier.believe(v, down, from_out[v], found.ways_in);
    found.log_evidence -= std::log(belief_of_mask(from_in[v], from_out[v], &found.state[v * kStates]));
  }
  for (std::int64_t e = 0; e < n_edges; ++e) found.log_evidence -= std::log(belief_of_edge(down, up, e, kinds.data()));
  return found;
}

}  // namespace dunno
