// The best assignments of a whole problem from those of its pieces.
#pragma once

#include <deque>
#include <vector>

#include "k_best/murty.hpp"
#include "problem/stop.hpp"

namespace dunno {

// One piece's choice, and through `previous` those of pieces before it; the pieces not named keep their MAP.
struct Combined {
  double gap;              // of all these choices together
  std::int32_t piece;
  std::int32_t rank;       // in that piece's list
  std::int32_t previous;   // index of a Combined, or -1
};

// The n smallest sums that take one assignment from each piece, ascending, the MAP itself left out; fewer if the pieces
// have no more. The pieces' lists are asked only as far as they are needed.
std::vector<Combined> merge(std::deque<Murty>& pieces, std::int64_t n, Stop& stop);

}  // namespace dunno
