"""dunno as a solver of tracksdata: a graph of cells in, links with probabilities in the same graph."""

from __future__ import annotations

from typing import Any

from dunno.errors import InputError
from dunno.io.graphs import SOLUTION, is_tracksdata
from dunno.io.tracksdata_graphs import GraphMovie, tell_graph, tracksdata
from dunno.tracking import Tracking
from dunno.tracking.tracker import Tracker


class Solver:
    """Tracks the nodes of a tracksdata graph, as tracksdata's own solvers and LapTrack's do.

    Nodes need `t`, and `mask` (and then everything that masks tell is evidence) or their places `y, x` or `z, y, x`. Edges need not
    be there; those that are get what is known of them.

    Args:
        output_key: What nodes and edges of the solution are marked with.
        reset: Forget an earlier solution of that name.
        return_solution: Give back a view of the solution.
        candidates: Add every candidate edge with its probability, not the links alone.
        **options: Of the `Tracker`, such as `cost` or `max_gap`; masks are never repaired.

    Attributes:
        tracking: What was found last, with the verdict on its probabilities in `tracking.about`.
    """

    def __init__(
        self,
        output_key: str = SOLUTION,
        reset: bool = True,
        return_solution: bool = True,
        candidates: bool = False,
        **options: Any,
    ) -> None:
        self.output_key, self.reset, self.return_solution = output_key, reset, return_solution
        self.tracking: Tracking | None = None
        if options.pop("repair", False):
            raise InputError(
                "a solver keeps the graph's nodes; to repair masks, track them, and take tracking.to_tracksdata()"
            )
        self._candidates, self._tracker = candidates, Tracker(repair=False, **options)

    def solve(self, graph: Any) -> Any:
        """Track a graph's nodes, and write into it.

        Edges get `probability`, `cost` and the solution's mark; nodes `probability` (of the link that leads to them), `entropy`,
        `p_appear`, `p_disappear`, `p_divide` and the mark. NaN stands where nothing is known.

        Returns:
            The view of nodes and links of the solution, or `None`.
        """
        if not is_tracksdata(graph):
            raise InputError(f"a graph of type {type(graph).__name__}; expected one of tracksdata")
        given = GraphMovie.of(graph)
        self.tracking = self._tracker.track(given.movie)
        if self.reset and self.output_key in graph.edge_attr_keys():
            graph.update_edge_attrs(attrs={self.output_key: False})
        tell_graph(graph, given, self.tracking.cells, self._candidates, self.output_key)
        if not self.return_solution:
            return None
        attrs = tracksdata().attrs
        chosen = (attrs.NodeAttr(self.output_key) == True, attrs.EdgeAttr(self.output_key) == True)  # noqa: E712
        return graph.filter(*chosen).subgraph()
