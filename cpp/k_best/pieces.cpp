#include "k_best/pieces.hpp"

#include <numeric>
#include <utility>

namespace dunno {
namespace {

class Groups {
 public:
  explicit Groups(std::int32_t n) : above_(n) { std::iota(above_.begin(), above_.end(), 0); }
  std::int32_t find(std::int32_t x) {
    while (above_[x] != x) x = above_[x] = above_[above_[x]];
    return x;
  }
  void join(std::int32_t x, std::int32_t y) { above_[find(x)] = find(y); }

 private:
  std::vector<std::int32_t> above_;
};

// A daughter who may change, with the edges it may choose.
struct Active {
  std::int32_t daughter;
  std::vector<std::int32_t> edges;
};

class Splitter {
 public:
  Splitter(const Problem& problem, const Flow& map) : problem_(problem), map_(map), local_(problem.n_mothers, kNobody) {}

  std::vector<Piece> split(const std::vector<Option>& options) {
    collect(options);
    count_frozen();
    std::vector<Piece> pieces;
    for (const auto& members : group()) pieces.push_back(make_piece(members));
    return pieces;
  }

 private:
  void collect(const std::vector<Option>& options) {
    for (const Option& option : options) {
      if (active_.empty() || active_.back().daughter != option.daughter) {
        active_.push_back({option.daughter, {}});
        if (map_.chosen[option.daughter] != kAppears) active_.back().edges.push_back(map_.chosen[option.daughter]);
      }
      if (option.edge != kAppears) active_.back().edges.push_back(option.edge);
    }
  }

  // How many of its places a mother's frozen daughters keep.
  void count_frozen() {
    frozen_.resize(problem_.n_mothers);
    for (std::int32_t i = 0; i < problem_.n_mothers; ++i) frozen_[i] = map_.load(i);
    for (const Active& active : active_)
      if (map_.chosen[active.daughter] != kAppears) --frozen_[problem_.mother[map_.chosen[active.daughter]]];
  }

  // Rounding may call an edge possible whose mother has no place left.
  bool is_kept(std::int32_t edge) const { return frozen_[problem_.mother[edge]] < 2; }

  // Indices into active_, one list for each piece.
  std::vector<std::vector<std::int32_t>> group() {
    const auto n_active = static_cast<std::int32_t>(active_.size());
    Groups groups(problem_.n_mothers + n_active);
    for (std::int32_t a = 0; a < n_active; ++a)
      for (const std::int32_t e : active_[a].edges)
        if (is_kept(e)) groups.join(problem_.n_mothers + a, problem_.mother[e]);
    std::vector<std::int32_t> number(problem_.n_mothers + n_active, -1);
    std::vector<std::vector<std::int32_t>> members;
    for (std::int32_t a = 0; a < n_active; ++a) {
      std::int32_t& group = number[groups.find(problem_.n_mothers + a)];
      if (group < 0) {
        group = static_cast<std::int32_t>(members.size());
        members.emplace_back();
      }
      members[group].push_back(a);
    }
    return members;
  }

  Piece make_piece(const std::vector<std::int32_t>& members) {
    Piece piece;
    Problem& part = piece.problem;
    part.n_given = problem_.n_edges();
    part.n_daughters = static_cast<std::int32_t>(members.size());
    part.row.push_back(0);
    for (const std::int32_t a : members) {
      for (const std::int32_t e : active_[a].edges)
        if (is_kept(e)) add_edge(part, e);
      part.row.push_back(part.n_edges());
      part.appear.push_back(problem_.appear[active_[a].daughter]);
      piece.daughter.push_back(active_[a].daughter);
    }
    copy_map(piece);
    for (const std::int32_t i : mothers_) local_[i] = kNobody;
    mothers_.clear();
    return piece;
  }

  void add_edge(Problem& part, std::int32_t e) {
    const std::int32_t i = problem_.mother[e];
    if (local_[i] == kNobody) {
      local_[i] = part.n_mothers++;
      mothers_.push_back(i);
      // With one place kept, the only one left costs `divide`: a mother of capacity one.
      part.disappear.push_back(frozen_[i] == 0 ? problem_.disappear[i] : -problem_.divide[i]);
      part.divide.push_back(frozen_[i] == 0 ? problem_.divide[i] : kInfinity);
    }
    part.mother.push_back(local_[i]);
    part.cost.push_back(problem_.cost[e]);
    part.given.push_back(e);
  }

  // What a daughter has chosen comes first in its row.
  void copy_map(Piece& piece) const {
    const Problem& part = piece.problem;
    piece.map = empty_flow(part);
    for (std::int32_t j = 0; j < part.n_daughters; ++j) {
      const bool appears = map_.chosen[piece.daughter[j]] == kAppears;
      piece.map.chosen[j] = appears ? kAppears : part.row[j];
      if (!appears) piece.map.replace(part.mother[part.row[j]], kNobody, j);
    }
    // A mother without daughters in this piece keeps the price of an empty one; it is never above the MAP's.
    for (const std::int32_t i : mothers_)
      if (piece.map.load(local_[i]) > 0) piece.map.v[local_[i]] = map_.v[i];
  }

  const Problem& problem_;
  const Flow& map_;
  std::vector<Active> active_;
  std::vector<std::int32_t> frozen_;   // (n_mothers)
  std::vector<std::int32_t> local_;    // (n_mothers): index in the piece being made
  std::vector<std::int32_t> mothers_;  // the mothers of the piece being made
};

}  // namespace

std::vector<Piece> split_into_pieces(const Problem& problem, const Flow& map, const std::vector<Option>& options) {
  return Splitter(problem, map).split(options);
}

}  // namespace dunno
