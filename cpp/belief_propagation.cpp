#include "belief_propagation.hpp"

#include <algorithm>

namespace dunno {

template <typename Number>
bool propagate(Messages<Number>& messages, const Problem& problem, const Incidence& edges,
               const std::vector<std::int32_t>& mothers, const std::vector<std::int32_t>& daughters,
               const Propagation& how, Stop& stop) {
  std::vector<Number> before;
  for (std::int32_t round = 0; round < how.rounds; ++round) {
    const bool damped = round >= how.undamped;
    if (damped) before = messages.to_daughter;
    double change = 0.0;
    for (const std::int32_t j : daughters) {
      stop.check();
      change = std::max(change, messages.send_from_daughter(j));
    }
    for (const std::int32_t i : mothers) {
      stop.check();
      messages.send_from_mother(i);
      if (!damped) continue;
      for (std::int32_t k = edges.first[i]; k < edges.first[i + 1]; ++k) {
        Number& message = messages.to_daughter[edges.edge[k]];
        message = Number(0.5) * (message + before[edges.edge[k]]);
      }
    }
    if (round > 0 && change <= how.tolerance) return true;
  }
  return false;
}

template bool propagate(Messages<double>&, const Problem&, const Incidence&, const std::vector<std::int32_t>&,
                        const std::vector<std::int32_t>&, const Propagation&, Stop&);
template bool propagate(Messages<Wide>&, const Problem&, const Incidence&, const std::vector<std::int32_t>&,
                        const std::vector<std::int32_t>&, const Propagation&, Stop&);

}  // namespace dunno
