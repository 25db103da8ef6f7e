// A number by which a label image is known again: of its shape and the values of its labels, not of their integer type.
//
// Two images with the same digest are the same but for a chance of 1 in 2^64. It is made of the runs, in order, by steps that lose
// nothing, and is the same on every machine. It keeps nobody from forging an image.
#pragma once

#include <cstdint>

#include "images/runs.hpp"

namespace dunno {

inline std::uint64_t mixed(std::uint64_t state, std::uint64_t value) {
  state = (state ^ value) * 0x9E3779B97F4A7C15u;
  state = (state ^ (state >> 32)) * 0xD6E8FEB86659FD93u;
  return state ^ (state >> 32);
}

inline std::uint64_t digest(const Runs& found) {
  std::uint64_t state = 0;
  for (const std::int64_t length : found.shape) state = mixed(state, static_cast<std::uint64_t>(length));
  for_each_run(found, [&](const Run& run, std::int64_t z, std::int64_t y) {
    const std::int64_t begin = (z * found.shape[1] + y) * found.shape[2] + run.begin;
    state = mixed(state, static_cast<std::uint64_t>(begin));
    state = mixed(state, static_cast<std::uint64_t>(run.end - run.begin));
    state = mixed(state, static_cast<std::uint64_t>(found.label[run.region]));
  });
  return state;
}

}  // namespace dunno
