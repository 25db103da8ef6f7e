// Samples of whole assignments from the posterior.
//
// Components whose exact sum fits are sampled exactly, each sample independent of the others. Elsewhere a Markov
// chain changes one cluster of cells at a time: given all other cells, the whole cluster is drawn anew from its exact
// conditional distribution (blocked Gibbs). The clusters are drawn in several random ways, so that no edge always
// lies between two of them. Between the clusters' turns each mother draws anew among the daughters that are free for
// it, which alone reaches every assignment, daughters exchange mothers, and daughters displace each other along
// chains, which carries a free place far in one step.
#pragma once

#include <vector>

#include "problem/problem.hpp"
#include "sampling/random.hpp"
#include "problem/stop.hpp"

namespace dunno {

struct Samples {
  std::vector<std::int32_t> edge;  // (n * n_daughters) the problem's edge, or kAppears
  bool exact = true;               // whether all samples are independent of each other
};

Samples sample(const Problem& problem, std::int64_t n, Random random, Stop& stop);

}  // namespace dunno
