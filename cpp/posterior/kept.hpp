// What outlives a change of the costs: which cells are summed over together, in which order, and what they said last.
#pragma once

#include <cstdint>
#include <vector>

#include "posterior/clusters.hpp"
#include "problem/incidence.hpp"
#include "problem/problem.hpp"

namespace dunno {

// The connected components of a problem.
struct Components {
  struct Fitting {
    std::vector<std::int32_t> mothers;
    Cluster cluster;  // without the daughters of one mother; empty if there are no others
  };
  std::vector<Fitting> fitting;                  // those that are summed over as a whole
  std::vector<std::int32_t> mothers, daughters;  // the cells of the others
};

struct Kept {
  explicit Kept(const Problem& problem, bool is_asked_again = false) : edges(problem), is_asked_again(is_asked_again) {}

  Incidence edges;
  bool is_asked_again;  // whether there is a next time to keep messages for
  bool has_components = false;
  Components components;            // as `kAuto` has them
  std::vector<Cluster> clusters;    // of the cells that fit into none ...
  std::vector<double> probability;  // (edges) ... and by which estimate they were chosen
  std::vector<double> price;        // (n_mothers) of a mother's place, see weights.hpp
  std::vector<double> reply;        // (edges) a mother's last message in proportion to its weight of the edge; or empty
};

}  // namespace dunno
