#include "segments/graph.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

namespace dunno::segments {

namespace {

using Indices = std::vector<std::int64_t>;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

// (n + 1): where the rows of each owner begin, for rows sorted by owner.
Indices begins(const Indices& owner, std::int64_t n, const char* what) {
  require(std::is_sorted(owner.begin(), owner.end()) && (owner.empty() || (owner.front() >= 0 && owner.back() < n)), what);
  Indices found(n + 1);
  for (std::int64_t v = 0, row = 0; v <= n; ++v) {
    while (row < static_cast<std::int64_t>(owner.size()) && owner[row] < v) ++row;
    found[v] = row;
  }
  return found;
}

// What a way takes at one of its ends.
struct Taken {
  std::int64_t mask = -1, state = -1;
  std::uint8_t objects = 0;

  void take(std::int64_t of_mask, std::int64_t of_state, std::int64_t object, const char* twice) {
    require(state < 0 || state == of_state, "the links of a way are of two states of one mask");
    mask = of_mask;
    state = of_state;
    const auto bit = static_cast<std::uint8_t>(1 << object);
    require((objects & bit) == 0, twice);
    objects = static_cast<std::uint8_t>(objects | bit);
  }
};

using Way = std::array<Taken, kEnds>;

// The ways of all edges, with what they take at each end.
class Ways {
 public:
  Ways(const Structure& given, const Graph& graph) : given_(given), graph_(graph), ways_(given.n_ways) {
    require(given.way.size() == given.mother.size() && given.way.size() == given.daughter.size(),
            "a link has a way, a mother and a daughter");
    for (std::size_t l = 0; l < given.way.size(); ++l) add(given.way[l], given.mother[l], given.daughter[l]);
    for (const Way& way : ways_) require(way[0].mask >= 0, "a way has at least one link");
  }

  const Way& operator[](std::int64_t w) const { return ways_[w]; }

  // The masks that tell its edge.
  std::array<std::int64_t, kEnds> masks(std::int64_t w) const {
    return {ways_[w][0].mask, ways_[w][1].mask, ways_[w][2].mask};
  }

 private:
  void add(std::int64_t w, std::int64_t mother, std::int64_t daughter) {
    require(w >= 0 && w < given_.n_ways, "a link is of a way that is not there");
    require(std::min(mother, daughter) >= 0 && std::max(mother, daughter) < graph_.n_objects,
            "a link is of an object that is not there");
    Way& way = ways_[w];
    const std::int64_t from = given_.state[mother], to = given_.state[daughter];
    require(given_.frame[given_.mask[from]] < given_.frame[given_.mask[to]], "a link leads to a later frame");
    require(way[0].mask < 0 || way[0].mask == given_.mask[from], "a way is of one mother's mask");
    if (!uses(way[0], mother)) take(way[0], mother, "");
    Taken& later = way[1].mask < 0 || way[1].mask == given_.mask[to] ? way[1] : way[2];
    require(later.mask < 0 || later.mask == given_.mask[to], "a way is of two daughters' masks at the most");
    take(later, daughter, "two links of a way lead to one object");
    if (way[2].mask >= 0 && way[2].mask < way[1].mask) std::swap(way[1], way[2]);
  }

  std::int64_t bit(std::int64_t object) const { return object - graph_.object_begin[given_.state[object]]; }

  bool uses(const Taken& taken, std::int64_t object) const {
    return taken.state == given_.state[object] && (taken.objects >> bit(object) & 1) != 0;
  }

  void take(Taken& taken, std::int64_t object, const char* twice) {
    const std::int64_t state = given_.state[object];
    taken.take(given_.mask[state], state, bit(object), twice);
  }

  const Structure& given_;
  const Graph& graph_;
  std::vector<Way> ways_;
};

// Numbers edges, ends and uses, in the order of the masks at the edges' ends.
class Numbering {
 public:
  Numbering(const Ways& ways, Graph& graph) : ways_(ways), graph_(graph) {
    order_ways();
    graph_.use_begin.push_back(0);
    for (std::size_t begin = 0; begin < graph_.ways.size();) {
      std::size_t end = begin;
      while (end < graph_.ways.size() && ways_.masks(graph_.ways[end]) == ways_.masks(graph_.ways[begin])) ++end;
      add_edge(begin, end);
      begin = end;
    }
    graph_.n_edges = static_cast<std::int64_t>(graph_.edge_ends.size());
    graph_.way_begin.push_back(static_cast<std::int64_t>(graph_.ways.size()));
  }

 private:
  void order_ways() {
    graph_.ways.resize(graph_.n_ways);
    std::iota(graph_.ways.begin(), graph_.ways.end(), 0);
    std::stable_sort(graph_.ways.begin(), graph_.ways.end(), [&](auto a, auto b) { return ways_.masks(a) < ways_.masks(b); });
    graph_.way_uses.assign(graph_.n_ways, {-1, -1, -1});
  }

  void add_edge(std::size_t begin, std::size_t end) {
    const auto edge = static_cast<std::int32_t>(graph_.edge_ends.size());
    graph_.way_begin.push_back(static_cast<std::int64_t>(begin));
    graph_.edge_ends.push_back({-1, -1, -1});
    for (int e = 0; e < kEnds; ++e) {
      const std::int64_t mask = ways_[graph_.ways[begin]][e].mask;
      if (mask < 0) continue;
      graph_.edge_ends[edge][e] = static_cast<std::int32_t>(graph_.end_mask.size());
      graph_.end_mask.push_back(static_cast<std::int32_t>(mask));
      graph_.end_edge.push_back(edge);
      add_uses(begin, end, e);
    }
  }

  void add_uses(std::size_t begin, std::size_t end, int e) {
    using Use = std::pair<std::int64_t, std::uint8_t>;
    std::vector<Use> uses;
    for (std::size_t w = begin; w < end; ++w) uses.emplace_back(ways_[graph_.ways[w]][e].state, ways_[graph_.ways[w]][e].objects);
    std::sort(uses.begin(), uses.end());
    uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
    const auto first = static_cast<std::int32_t>(graph_.use_state.size());
    for (const auto& [state, objects] : uses) {
      graph_.use_state.push_back(static_cast<std::int32_t>(state - graph_.state_begin[graph_.end_mask.back()]));
      graph_.use_objects.push_back(objects);
    }
    for (std::size_t w = begin; w < end; ++w) {
      const Taken& taken = ways_[graph_.ways[w]][e];
      const auto at = std::lower_bound(uses.begin(), uses.end(), Use(taken.state, taken.objects));
      graph_.way_uses[w][e] = first + static_cast<std::int32_t>(at - uses.begin());
    }
    graph_.use_begin.push_back(static_cast<std::int64_t>(graph_.use_state.size()));
  }

  const Ways& ways_;
  Graph& graph_;
};

// The lanes of each state of a mask: its uses, end by end.
void add_lanes(const Graph& graph, std::int64_t mask, Side& side) {
  std::vector<std::vector<Lane>> lanes(static_cast<std::size_t>(graph.states_of(mask)));
  for (std::int64_t q = side.begin[mask]; q < side.begin[mask + 1]; ++q) {
    const std::int32_t end = side.ends[q];
    for (std::int64_t u = graph.use_begin[end]; u < graph.use_begin[end + 1]; ++u) {
      auto& own = lanes[graph.use_state[u]];
      const auto local = static_cast<std::int32_t>(q - side.begin[mask]);
      if (own.empty() || own.back().end != local) own.push_back({local, static_cast<std::int32_t>(u), 0});
      ++own.back().n_uses;
    }
  }
  for (const auto& own : lanes) {
    side.lanes.insert(side.lanes.end(), own.begin(), own.end());
    side.lane_begin.push_back(static_cast<std::int64_t>(side.lanes.size()));
  }
}

Side make_side(const Graph& graph, bool out) {
  Side side;
  std::vector<std::vector<std::int32_t>> ends(static_cast<std::size_t>(graph.n_masks));
  for (const auto& edge : graph.edge_ends) {
    for (int e = out ? 0 : 1; e < (out ? 1 : kEnds); ++e) {
      if (edge[e] >= 0) ends[graph.end_mask[edge[e]]].push_back(edge[e]);
    }
  }
  side.begin.push_back(0);
  side.lane_begin.push_back(0);
  for (std::int64_t mask = 0; mask < graph.n_masks; ++mask) {
    side.ends.insert(side.ends.end(), ends[mask].begin(), ends[mask].end());
    side.begin.push_back(static_cast<std::int64_t>(side.ends.size()));
    add_lanes(graph, mask, side);
  }
  return side;
}

void add_unions(const Structure& given, Graph& graph) {
  require(given.union_state[0].size() == given.union_state[1].size(), "a union has two states");
  graph.n_unions = static_cast<std::int64_t>(given.union_state[0].size());
  std::vector<std::vector<std::int32_t>> ends(static_cast<std::size_t>(graph.n_masks));
  std::vector<char> taken(static_cast<std::size_t>(graph.n_states), 0);
  for (std::int64_t k = 0; k < graph.n_unions; ++k) {
    for (int u = 0; u < 2; ++u) {
      const std::int64_t state = given.union_state[u][k];
      require(state >= 0 && state < graph.n_states, "a union is of a state that is not there");
      require(!taken[state], "a state belongs to one union");
      taken[state] = 1;
      const std::int64_t mask = given.mask[state];
      graph.union_mask.push_back(static_cast<std::int32_t>(mask));
      graph.union_state.push_back(static_cast<std::int32_t>(state - graph.state_begin[mask]));
      ends[mask].push_back(static_cast<std::int32_t>(2 * k + u));
    }
    require(graph.union_mask[2 * k] != graph.union_mask[2 * k + 1], "a union is of two masks");
  }
  graph.union_begin.push_back(0);
  for (const auto& own : ends) {
    graph.union_ends.insert(graph.union_ends.end(), own.begin(), own.end());
    graph.union_begin.push_back(static_cast<std::int64_t>(graph.union_ends.size()));
  }
}

}  // namespace

Graph::Graph(const Structure& given)
    : n_masks(static_cast<std::int64_t>(given.frame.size())),
      n_states(static_cast<std::int64_t>(given.mask.size())),
      n_objects(static_cast<std::int64_t>(given.state.size())),
      n_ways(given.n_ways) {
  state_begin = begins(given.mask, n_masks, "states are sorted by mask");
  object_begin = begins(given.state, n_states, "objects are sorted by state");
  for (std::int64_t m = 0; m < n_masks; ++m) require(states_of(m) > 0, "every mask has a state");
  for (std::int64_t s = 0; s < n_states; ++s)
    require(object_begin[s + 1] - object_begin[s] <= kMostObjects, "a state has three objects at the most");
  order.resize(n_masks);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return given.frame[a] < given.frame[b]; });
  Numbering(Ways(given, *this), *this);
  out = make_side(*this, true);
  in = make_side(*this, false);
  add_unions(given, *this);
}

}  // namespace dunno::segments
