// A k-d tree: which of some places lie within a distance of another, and which are nearest. Exact; ties go to the lower index.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace dunno {

struct Near {
  double squared;  // distance
  std::int64_t index;
  bool operator<(const Near& other) const {
    return squared != other.squared ? squared < other.squared : index < other.index;
  }
};

class Tree {
 public:
  // (n, d) places.
  Tree(const double* places, std::int64_t n, std::int64_t d) : d_(d), order_(n), cut_(n) {
    if (!std::all_of(places, places + n * d, [](double x) { return std::isfinite(x); }))
      throw std::invalid_argument("places must be finite numbers");
    std::iota(order_.begin(), order_.end(), 0);
    split(places, 0, n);
    sorted_.reserve(n * d);
    for (const std::int64_t index : order_) sorted_.insert(sorted_.end(), places + index * d, places + (index + 1) * d);
  }

  // The `most` nearest of the places no farther from `at` than the root of `squared`, by index. No more are ever kept.
  void within(const double* at, double squared, std::int64_t most, std::vector<Near>& found) const {
    found.clear();
    if (order_.empty()) return;
    if (most < size()) {
      search(at, {static_cast<std::size_t>(most), -1, squared}, 0, size(), found);
    } else {
      collect(at, squared, 0, size(), found);
    }
    std::sort(found.begin(), found.end(), [](const Near& x, const Near& y) { return x.index < y.index; });
  }

  // The k nearest to `at` (fewer where there are no more), nearest first; the one with the index `but` does not count.
  void nearest(const double* at, std::int64_t k, std::int64_t but, std::vector<Near>& found) const {
    found.clear();
    const double everywhere = std::numeric_limits<double>::infinity();
    if (k > 0 && !order_.empty()) search(at, {static_cast<std::size_t>(k), but, everywhere}, 0, size(), found);
  }

 private:
  static constexpr std::int64_t kLeaf = 10;

  struct Cut {
    std::int64_t axis;
    double at;
  };

  std::int64_t size() const { return static_cast<std::int64_t>(order_.size()); }

  // The place that comes to the middle of [begin, end) divides the others along the axis on which they are spread most.
  void split(const double* places, std::int64_t begin, std::int64_t end) {
    if (end - begin <= kLeaf) return;
    std::int64_t axis = 0;
    double widest = -1.0;
    for (std::int64_t a = 0; a < d_; ++a) {
      double low = places[order_[begin] * d_ + a], high = low;
      for (std::int64_t i = begin + 1; i < end; ++i) {
        low = std::min(low, places[order_[i] * d_ + a]);
        high = std::max(high, places[order_[i] * d_ + a]);
      }
      if (high - low > widest) widest = high - low, axis = a;
    }
    const std::int64_t middle = begin + (end - begin) / 2;
    std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                     [&](std::int64_t x, std::int64_t y) { return places[x * d_ + axis] < places[y * d_ + axis]; });
    cut_[middle] = {axis, places[order_[middle] * d_ + axis]};
    split(places, begin, middle);
    split(places, middle, end);
  }

  double squared_to(const double* at, std::int64_t i) const {
    double squared = 0.0;
    for (std::int64_t a = 0; a < d_; ++a) {
      const double apart = at[a] - sorted_[i * d_ + a];
      squared += apart * apart;
    }
    return squared;
  }

  // How far `at` lies beyond the middle of a range.
  double beyond(const double* at, std::int64_t middle) const {
    return at[cut_[middle].axis] - cut_[middle].at;
  }

  void collect(const double* at, double squared, std::int64_t begin, std::int64_t end, std::vector<Near>& found) const {
    if (end - begin <= kLeaf) {
      for (std::int64_t i = begin; i < end; ++i) {
        const double own = squared_to(at, i);
        if (own <= squared) found.push_back({own, order_[i]});
      }
      return;
    }
    const std::int64_t middle = begin + (end - begin) / 2;
    const double side = beyond(at, middle);
    if (side <= 0.0 || side * side <= squared) collect(at, squared, begin, middle, found);
    if (side >= 0.0 || side * side <= squared) collect(at, squared, middle, end, found);
  }

  struct Wanted {
    std::size_t k;     // how many at most
    std::int64_t but;  // the one that does not count
    double squared;    // how far at most
  };

  // `found` stays sorted.
  void search(const double* at, const Wanted& wanted, std::int64_t begin, std::int64_t end, std::vector<Near>& found) const {
    if (end - begin <= kLeaf) {
      for (std::int64_t i = begin; i < end; ++i) {
        const double own = squared_to(at, i);
        if (order_[i] != wanted.but && own <= wanted.squared) offer({own, order_[i]}, wanted.k, found);
      }
      return;
    }
    const std::int64_t middle = begin + (end - begin) / 2;
    const double side = beyond(at, middle);
    const auto look = [&](bool late) {
      late ? search(at, wanted, middle, end, found) : search(at, wanted, begin, middle, found);
    };
    look(side >= 0.0);
    if (side * side <= (found.size() < wanted.k ? wanted.squared : found.back().squared)) look(side < 0.0);
  }

  // Inserted from the end: the few that are kept lie side by side, which no heap of them makes up for.
  static void offer(const Near& near, std::size_t k, std::vector<Near>& found) {
    if (found.size() < k) {
      found.push_back(near);
    } else if (!(near < found.back())) {
      return;
    }
    std::size_t place = found.size() - 1;
    for (; place > 0 && near < found[place - 1]; --place) found[place] = found[place - 1];
    found[place] = near;
  }

  std::int64_t d_;
  std::vector<std::int64_t> order_;  // places, as the leaves hold them
  std::vector<Cut> cut_;             // by a range's middle
  std::vector<double> sorted_;       // the places in that order
};

// Pairs of (n, d) places and (m, d) others no farther apart than `reach`, by place, then by other; of each place the `most`
// nearest.
inline std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> within(const double* places, std::int64_t n,
                                                                            const double* others, std::int64_t m,
                                                                            std::int64_t d, double reach,
                                                                            std::int64_t most) {
  std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> pairs;
  const Tree tree(others, m, d);
  std::vector<Near> found;
  for (std::int64_t i = 0; i < n; ++i) {
    tree.within(places + i * d, reach * reach, most, found);
    pairs.first.insert(pairs.first.end(), found.size(), i);
    for (const Near& each : found) pairs.second.push_back(each.index);
  }
  return pairs;
}

struct Nearest {
  std::vector<double> distance;     // infinite where there are too few
  std::vector<std::int64_t> index;  // their number there
};

// (n, k) the nearest of (m, d) others to each of (n, d) places, flat.
inline Nearest nearest(const double* places, std::int64_t n, const double* others, std::int64_t m, std::int64_t d,
                       std::int64_t k) {
  Nearest result{std::vector<double>(n * k, std::numeric_limits<double>::infinity()), std::vector<std::int64_t>(n * k, m)};
  const Tree tree(others, m, d);
  std::vector<Near> found;
  for (std::int64_t i = 0; i < n; ++i) {
    tree.nearest(places + i * d, k, -1, found);
    for (std::size_t j = 0; j < found.size(); ++j) {
      result.distance[i * k + j] = std::sqrt(found[j].squared);
      result.index[i * k + j] = found[j].index;
    }
  }
  return result;
}

// (n, k) the nearest others of each place among those of its own group, flat; itself where there are too few. Group g has the
// places from begin[g] to begin[g + 1].
inline std::vector<std::int64_t> nearest_in_groups(const double* places, std::int64_t d, const std::int64_t* begin,
                                                   std::int64_t n_groups, std::int64_t k) {
  std::vector<std::int64_t> index;
  std::vector<Near> found;
  for (std::int64_t g = 0; g < n_groups; ++g) {
    const double* own = places + begin[g] * d;
    const std::int64_t n = begin[g + 1] - begin[g];
    const Tree tree(own, n, d);
    for (std::int64_t i = 0; i < n; ++i) {
      tree.nearest(own + i * d, k, i, found);
      for (std::int64_t j = 0; j < k; ++j)
        index.push_back(begin[g] + (j < static_cast<std::int64_t>(found.size()) ? found[j].index : i));
    }
  }
  return index;
}

}  // namespace dunno
