// Masks that each choose what they hold, and edges that each choose how objects go on: the factor graph, without its weights.
//
// A mask chooses one of its states; a state is up to three objects. An edge joins a mask to one or two later ones and chooses one of
// its ways, or none; a way is a set of links, each from an object to a later one. An edge's end is the edge as one of its masks
// sees it. A use is what a way takes at an end: some objects of one state of the mask. The mask sees to it that the uses of all its
// ends are of the state that it chose, and that no object is used twice on one side; messages are about uses.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace dunno::segments {

constexpr int kMostObjects = 3;              // of a state
constexpr int kSubsets = 1 << kMostObjects;  // of its objects, as bits
constexpr int kEnds = 3;                     // of an edge: its mother, its daughter, a second daughter

// What the caller gives. States are sorted by mask, objects by state.
struct Structure {
  std::vector<std::int64_t> frame;                             // of each mask
  std::vector<std::int64_t> mask;                              // of each state
  std::vector<std::int64_t> state;                             // of each object
  std::int64_t n_ways = 0;
  std::vector<std::int64_t> way, mother, daughter;             // of each link; its two objects
  std::vector<std::int64_t> union_state[2];                    // states of two masks of a frame that are chosen together or not at all
};

// What a state takes part in on one side, end by end.
struct Lane {
  std::int32_t end;  // among the mask's ends on this side
  std::int32_t first_use, n_uses;
};

// The ends of all masks on one side, and for each state the lanes in which it is used.
struct Side {
  std::vector<std::int64_t> begin;      // (M + 1) of a mask's ends
  std::vector<std::int32_t> ends;
  std::vector<std::int64_t> lane_begin;  // (S + 1)
  std::vector<Lane> lanes;
};

struct Graph {
  explicit Graph(const Structure& given);

  std::int64_t n_masks = 0, n_states = 0, n_objects = 0, n_ways = 0, n_edges = 0, n_unions = 0;
  std::vector<std::int32_t> order;                   // masks by frame
  std::vector<std::int64_t> state_begin;             // (M + 1)
  std::vector<std::int64_t> object_begin;            // (S + 1)
  Side out, in;

  std::vector<std::int32_t> end_mask, end_edge;      // (N) of each end
  std::vector<std::int64_t> use_begin;               // (N + 1)
  std::vector<std::int32_t> use_state;               // (U) among its mask's states
  std::vector<std::uint8_t> use_objects;             // (U) bits

  std::vector<std::array<std::int32_t, kEnds>> edge_ends;  // -1 where there is none
  std::vector<std::int64_t> way_begin;               // (E + 1)
  std::vector<std::int32_t> ways;                    // the caller's numbers, by edge
  std::vector<std::array<std::int32_t, kEnds>> way_uses;   // of the ways in that order

  // A union, as each of its two masks sees it: end u of union k is 2 k + u.
  std::vector<std::int64_t> union_begin;             // (M + 1)
  std::vector<std::int32_t> union_ends;
  std::vector<std::int32_t> union_mask, union_state; // of each end; the state among its mask's states

  std::int64_t states_of(std::int64_t mask) const { return state_begin[mask + 1] - state_begin[mask]; }
};

}  // namespace dunno::segments
