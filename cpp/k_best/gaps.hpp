// How much an assignment must at least cost above the MAP if it differs from it in a given way.
//
// An assignment is the MAP with some cycles of the residual network turned round, and no cycle is negative. So what
// lies on no cycle of at most `bound` is the same in every assignment whose gap is at most `bound`, and can be frozen.
#pragma once

#include <vector>

#include "flow/flow.hpp"
#include "problem/problem.hpp"
#include "problem/stop.hpp"

namespace dunno {

// Something that a daughter could choose instead of what it has in the MAP.
struct Option {
  std::int32_t daughter;
  std::int32_t edge;  // or kAppears
  double gap;         // the least gap of an assignment in which it does
};

// Distances over mothers that grow from one or many of them, up to a bound.
class Distances {
 public:
  explicit Distances(std::int32_t n_mothers) : value_(n_mothers, kInfinity) {}

  void begin(double bound);
  void offer(std::int32_t mother, double distance);
  // Takes the nearest mother that has not been taken; false if there is none.
  bool take(std::int32_t& mother, double& distance);
  double operator[](std::int32_t mother) const { return value_[mother]; }

 private:
  struct Reached {
    double distance;
    std::int32_t mother;
    bool operator<(const Reached& other) const { return distance > other.distance; }  // std heaps keep the largest on top
  };
  std::vector<double> value_;
  std::vector<std::int32_t> touched_;
  std::vector<Reached> heap_;
  double bound_ = 0.0;
};

class GapFinder {
 public:
  GapFinder(const Problem& problem, const Flow& map, Stop& stop);

  // All options whose gap is at most `bound`, grouped by daughter.
  std::vector<Option> find(double bound);

  // The n smallest gaps, ascending, of assignments in which one daughter alone chooses otherwise; each daughter's
  // cheapest such choice counts. They are real assignments, so none of the n best but the MAP has a larger gap.
  std::vector<double> single_moves(std::int64_t n) const;

  // (n_mothers): prices half-way between the lowest and the highest that prove the MAP. They leave room on both sides.
  std::vector<double> central_prices();

 private:
  std::int32_t mother_of(std::int32_t daughter) const { return problem_.mother[map_.chosen[daughter]]; }
  void reduce();
  void collect_near();
  void peel();
  void find_to_sink();
  void find_from_sink();
  void spread(std::int32_t daughter, double distance);
  template <typename Offer>
  void spread_back(std::int32_t mother, double distance, Offer offer) const;
  std::size_t add_options(std::size_t at, std::vector<Option>& options);
  void find_way_home(std::int32_t mother, double bound);

  const Problem& problem_;
  const Flow& map_;
  Stop& stop_;
  std::vector<double> reduced_;  // (edges); infinite where chosen, for there the residual arc points the other way
  std::vector<double> reduced_appear_;  // (n_daughters), likewise

  // For one bound:
  double bound_ = 0.0;
  struct Near {
    std::int32_t edge, daughter;
  };
  std::vector<Near> near_, near_by_mother_;  // the edges of reduced cost up to the bound, by daughter and by mother ...
  std::vector<std::int32_t> first_;          // ... where those of mother i begin at first_[i]
  std::vector<std::int32_t> n_in_, n_out_;
  std::vector<char> on_cycle_;  // (n_mothers): false only where no cycle of near edges passes
  Distances to_sink_, from_sink_, home_;
};

// The k-th smallest sum of a subset (the empty one is the first); infinity if there are fewer. `values` ascend.
double kth_subset_sum(const std::vector<double>& values, std::int64_t k, Stop& stop);

}  // namespace dunno
