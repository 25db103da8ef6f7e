// Belief propagation where every mask chooses: one way in, one way out, and both agree on how many cells it holds.
//
// A mask has two factors, one over the ways in which its cells came and one over the ways in which they go on. Each way (a choice)
// names a state of the mask and at most three edges with the kind of event that they take part in; all other edges of the factor
// are unused. Messages about edges are ratios to "unused", so that their number is the number of kinds.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace dunno {

constexpr int kStates = 4;  // a mask holds no cell, one, two, or one that was born lately
constexpr int kEdges = 3;   // that a choice takes at most
constexpr int kKinds = 12;  // see Kind in assignment/choices.py

// The choices of all masks on one side, those of mask v at [begin[v], begin[v + 1]).
struct Choices {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> state;
  std::vector<std::int64_t> edges[kEdges];  // -1 for none
  std::vector<std::int64_t> kinds[kEdges];  // of these edges
  std::vector<double> log_weight;
};

using State = std::array<double, kStates>;

// What masks say to each other, kKinds of each edge: from mothers to daughters, and back; and what the two sides of each mask say.
struct ChoiceMessages {
  std::vector<double> down, up;
  std::vector<State> from_in, from_out;
};

struct Beliefs {
  std::vector<double> ways_out, ways_in;  // of each choice
  std::vector<double> state;              // kStates of each mask
  std::vector<double> edge;               // kKinds of each edge
  double log_evidence = 0.0;              // Bethe's
  double change = 0.0;                    // largest change of a belief about an edge or a mask in the last sweep
  std::int64_t sweeps = 0;
  ChoiceMessages messages;
};

// Masks come in the order of their frames: sweeps go forwards and backwards in time. Messages of the same masks and edges under
// nearly the same weights save sweeps; none to begin anew.
Beliefs propagate(const Choices& out, const Choices& in, std::int64_t n_edges, std::int64_t max_sweeps, double tolerance,
                  ChoiceMessages&& before);

}  // namespace dunno
