// Segments: masks that choose what they hold, and edges between them.

#include "python.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "segments/graph.hpp"
#include "segments/messages.hpp"

namespace {

namespace segments = dunno::segments;

void make_graph(segments::Graph* graph, const Indices& frame, const Indices& mask, const Indices& state, std::int64_t n_ways,
                const Indices& way, const Indices& mother, const Indices& daughter, const Indices& union_first,
                const Indices& union_second) {
  new (graph) segments::Graph({to_vector(frame), to_vector(mask), to_vector(state), n_ways, to_vector(way), to_vector(mother),
                               to_vector(daughter), {to_vector(union_first), to_vector(union_second)}});
}

nb::tuple propagate(const segments::Graph& graph, const Numbers& state, const Numbers& appear, const Numbers& disappear,
                    const Numbers& way, std::int64_t sweeps, double tolerance, const std::optional<Numbers>& messages) {
  const segments::Weights weights{to_vector(state), to_vector(appear), to_vector(disappear), to_vector(way)};
  std::vector<double> before;
  if (messages) before = to_vector(*messages);
  segments::Beliefs found;
  {
    Unlocked unlocked;
    PythonStop stop;
    found = segments::propagate(graph, weights, {sweeps, tolerance}, std::move(before), stop);
  }
  return nb::make_tuple(to_numpy(std::move(found.state)), to_numpy(std::move(found.way)), found.log_evidence, found.change,
                        found.sweeps, to_numpy(std::move(found.messages)));
}

}  // namespace

void bind_segments(nb::module_& m) {
  nb::class_<segments::Graph>(m, "SegmentGraph", "Masks with their states, and edges with their ways, without weights.")
      .def("__init__", &make_graph, "frame"_a.noconvert(), "mask"_a.noconvert(), "state"_a.noconvert(), "n_ways"_a,
           "way"_a.noconvert(), "mother"_a.noconvert(), "daughter"_a.noconvert(), "union_first"_a.noconvert(),
           "union_second"_a.noconvert(), "Raises ValueError on bad input.")
      .def_ro("n_edges", &segments::Graph::n_edges)
      .def("propagate", &propagate, "state"_a.noconvert(), "appear"_a.noconvert(), "disappear"_a.noconvert(),
           "way"_a.noconvert(), "sweeps"_a, "tolerance"_a, "messages"_a.noconvert() = nb::none(),
           "Beliefs under log weights: states, ways, log evidence, last change, sweeps, and the messages, which a later call may "
           "begin with.");
}
