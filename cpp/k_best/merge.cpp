#include "k_best/merge.hpp"

#include <algorithm>
#include <queue>

namespace dunno {
namespace {

struct Later {
  bool operator()(const Combined& a, const Combined& b) const {
    if (a.gap != b.gap) return a.gap > b.gap;
    if (a.piece != b.piece) return a.piece > b.piece;
    if (a.rank != b.rank) return a.rank > b.rank;
    return a.previous > b.previous;
  }
};

// The pieces that have a second assignment, ascending by its gap: only so is "exchange a piece for the next one"
// never a step down.
std::vector<std::int32_t> in_order_of_second(std::deque<Murty>& pieces, Stop& stop) {
  std::vector<std::int32_t> order;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    stop.check();
    if (pieces[p].at(1)) order.push_back(static_cast<std::int32_t>(p));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return pieces[a].at(1)->gap < pieces[b].at(1)->gap; });
  return order;
}

}  // namespace

// Every combination is reached exactly once: from one whose last changed piece is p at rank r, raise r, or change the
// next piece too, or (r = 1) change the next piece instead of p.
std::vector<Combined> merge(std::deque<Murty>& pieces, std::int64_t n, Stop& stop) {
  const std::vector<std::int32_t> order = in_order_of_second(pieces, stop);
  std::priority_queue<Combined, std::vector<Combined>, Later> queue;
  std::vector<Combined> merged;
  const auto offer = [&](std::size_t place, std::int32_t rank, std::int32_t previous) {
    if (place >= order.size()) return;
    const Ranked* ranked = pieces[order[place]].at(rank);
    const double before = previous < 0 ? 0.0 : merged[previous].gap;
    if (ranked) queue.push({before + ranked->gap, static_cast<std::int32_t>(place), rank, previous});
  };
  offer(0, 1, -1);
  while (!queue.empty() && static_cast<std::int64_t>(merged.size()) < n) {
    stop.check();
    const Combined best = queue.top();
    queue.pop();
    merged.push_back(best);
    const auto index = static_cast<std::int32_t>(merged.size() - 1);
    offer(best.piece, best.rank + 1, best.previous);
    offer(best.piece + 1, 1, index);
    if (best.rank == 1) offer(best.piece + 1, 1, best.previous);
  }
  for (Combined& combined : merged) combined.piece = order[combined.piece];
  return merged;
}

}  // namespace dunno
