#include "posterior/rounds.hpp"

#include "posterior/weights.hpp"

namespace dunno {

Rounds::Known::Known(const Problem& problem) : kept(problem, true) {
  edges.n_mothers = problem.n_mothers;
  edges.n_daughters = problem.n_daughters;
  edges.row = problem.row;
  edges.mother = problem.mother;
  edges.triples = problem.triples;
}

bool Rounds::Known::is_about(const Problem& problem) const {
  if (edges.n_mothers != problem.n_mothers || edges.row != problem.row || edges.mother != problem.mother) return false;
  if (!edges.triples || !problem.triples) return !edges.triples && !problem.triples;
  return edges.triples->first == problem.triples->first && edges.triples->second == problem.triples->second;
}

Rounds::Known& Rounds::find(const Problem& problem) {
  for (auto known = known_.begin(); known != known_.end(); ++known)
    if (known->is_about(problem)) {
      known_.splice(known_.begin(), known_, known);
      return known_.front();
    }
  if (known_.size() == kMost) known_.pop_back();
  known_.emplace_front(problem);
  return known_.front();
}

Marginals Rounds::marginals(const Problem& problem, Method method, Stop& stop) {
  const std::lock_guard<std::mutex> guard(lock_);
  Kept& kept = find(problem).kept;
  if (!kept.price.empty()) {
    try {
      return marginals_with(problem, make_log_weights(problem, kept.price), method, kept, stop);
    } catch (const Underflow&) {  // the prices are from other times: begin anew
      kept = Kept(problem, true);
    }
  }
  const LogWeights logs = make_log_weights(problem, stop);
  try {
    Marginals found = marginals_with(problem, logs, method, kept, stop);
    kept.price = logs.price;
    return found;
  } catch (const Underflow&) {
    kept = Kept(problem, true);
    return dunno::marginals(problem, logs, method, stop);
  }
}

}  // namespace dunno
