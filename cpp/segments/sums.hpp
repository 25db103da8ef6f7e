// One side of one mask: the sum over all ways in which the objects of each of its states may be used there.
//
// Each object is used by one end at the most, or by none (it appears, or disappears). With x(e, W) what end e says of using the
// objects W together and b(o) the weight of using object o nowhere, a state's sum is that over all partitions of its objects into
// uses of different ends and rest, of the product of their x and b. It runs over ends with a table of subsets; sums up to an end
// and from it on give the sum without it.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "segments/graph.hpp"

namespace dunno::segments {

// Messages are logarithms; in nats, none is farther from that of its end's other choice.
constexpr double kFarthest = 150.0;

class Sums {
 public:
  Sums(const Graph& graph, const Side& side) : graph_(graph), side_(side) {}

  // Looks at a mask: `heard` has what each use's end says, `rest` the weight of each object that is used nowhere.
  void look(std::int64_t mask, const std::vector<double>& heard, const std::vector<double>& rest);

  std::int64_t n_lanes(std::int64_t s) const { return static_cast<std::int64_t>(tables_[s].size) - 1; }
  const Lane& lane(std::int64_t s, std::int64_t l) const { return side_.lanes[side_.lane_begin[first_state_ + s] + l]; }

  // Of a state (among the mask's), the logarithm of its sum.
  double total(std::int64_t s) const;

  // Of a state, the logarithm of the sum in which the end of a lane uses exactly these objects, without what the end itself says.
  double without(std::int64_t s, std::int64_t l, std::uint8_t objects) const;

 private:
  using Row = std::array<double, kSubsets>;

  struct Table {
    std::array<double, kMostObjects> scale;  // of each object; sums are of what is left
    std::uint8_t all = 0;                    // objects, as bits
    std::size_t first = 0, size = 0;         // its rows
  };

  void fill(std::int64_t s, const std::vector<double>& heard, const std::vector<double>& rest);
  void set_scale(Table& table, std::int64_t s, const std::vector<double>& heard, const double* rest) const;
  Row said(const Table& table, const Lane& lane, const std::vector<double>& heard) const;
  static double scale_of(const Table& table, std::uint8_t objects);

  const Graph& graph_;
  const Side& side_;
  std::int64_t first_state_ = 0;
  std::vector<Table> tables_;
  std::vector<Row> before_, after_;  // sums over the ends before a lane; over its own and those after it, and rest
};

}  // namespace dunno::segments
