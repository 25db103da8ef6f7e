"""Graphs of tracks as rows: GEFF's, networkx's, and tracksdata's, which Ultrack, LapTrack, funtracks and traccuracy share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import DunnoError, InputError
from dunno.io.images import one_line
from dunno.io.size_claims import check_graph
from dunno.io.track_tables import GivenRows
from dunno.types import Floats, Ints
from dunno.types.cells import AXES

NODE_FRAMES, NODE_LABELS = ("time", "t", "frame"), ("label", "segmentation_id", "seg_id")
NODE_PLACES = ("coords", "pos", "position")
SOLUTION = "solution"
"""What tracksdata's solvers call the edges that they have chosen."""


Graph = tuple[GivenRows, Sequence[Any]]
"""A graph's nodes with its edges, in its own order, and (L,) what it calls the edges."""


def is_networkx(thing: Any) -> bool:
    """Whether it is a networkx graph."""
    return _derives(thing, "networkx.", "Graph")


def is_tracksdata(thing: Any) -> bool:
    """Whether it is a graph of tracksdata, in memory, in a database or a view."""
    return _derives(thing, "tracksdata.", "BaseGraph")


def _derives(thing: Any, package: str, name: str) -> bool:
    """Whether a class of that name is among its bases; the package need not be there."""
    return any(base.__name__ == name and base.__module__.startswith(package) for base in type(thing).__mro__)


def rows_of_graph(graph: Any, n_dimensions: int) -> Graph:
    """The rows of either kind of graph; of tracksdata's with a solution, the solution's edges."""
    return _of_tracksdata(graph, n_dimensions) if is_tracksdata(graph) else _of_networkx(graph, n_dimensions)


def _of_networkx(graph: Any, n_dimensions: int) -> Graph:
    number = {node: i for i, node in enumerate(graph.nodes)}
    columns = _shared_attributes([graph.nodes[node] for node in number])
    ends = np.array([(number[a], number[b]) for a, b in graph.edges], np.int64).reshape(-1, 2)
    return _rows(columns, n_dimensions, ends, list(graph.edges))


def _shared_attributes(about: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """What all nodes have."""
    names = [name for name in (about[0] if about else ()) if all(name in each for each in about)]
    return {name: [each[name] for each in about] for name in names}


def _of_tracksdata(graph: Any, n_dimensions: int) -> Graph:
    known = [*NODE_FRAMES, *NODE_LABELS, *NODE_PLACES, *AXES[3]]
    table = graph.node_attrs(attr_keys=["node_id", *(key for key in graph.node_attr_keys() if key in known)])
    chosen = [SOLUTION] if SOLUTION in graph.edge_attr_keys() else []
    edges = graph.edge_attrs(attr_keys=chosen)
    for name in chosen:
        edges = edges.filter(edges[name])
    row = {node: i for i, node in enumerate(table["node_id"].to_list())}
    ends = np.array([[row[node] for node in edges[name].to_list()] for name in ("source_id", "target_id")], np.int64)
    columns = {name: table[name].to_numpy() for name in table.columns if name != "node_id"}
    return _rows(columns, n_dimensions, ends.reshape(2, -1).T, edges["edge_id"].to_list())


def _rows(columns: dict[str, Any], n_dimensions: int, ends: Ints, edge: Sequence[Any]) -> Graph:
    """Nodes by their labels where all have them, else by their places; where an edge leads back in time, its ends change places."""
    time = next((name for name in NODE_FRAMES if name in columns), None)
    axes = AXES[n_dimensions]
    name = next((name for name in (*NODE_LABELS, *NODE_PLACES) if name in columns), None)
    if time is None or (name is None and not set(axes) <= set(columns)):
        raise InputError(
            f"the graph's nodes have {', '.join(sorted(map(str, columns))) or 'nothing'} in common; expected one of "
            f"{', '.join(NODE_FRAMES)}, and label, or coords, or {', '.join(axes)}"
        )
    frame, label, place = _numbers(columns[time], time).astype(np.int64), None, None
    if name in NODE_LABELS:
        label = _numbers(columns[name], name).astype(np.int64)
    elif name is not None:
        place = _numbers(columns[name], name).reshape(len(frame), -1)[:, -n_dimensions:]
    else:
        place = np.column_stack([_numbers(columns[axis], axis) for axis in axes])
    back = frame[ends[:, 0]] > frame[ends[:, 1]]
    ends = np.where(back[:, None], ends[:, ::-1], ends)
    return GivenRows(frame, label, place, ends[:, 0], ends[:, 1]), edge


def _numbers(column: Any, name: str) -> Floats:
    try:
        return np.asarray([np.asarray(value, np.float64) for value in column], np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the graph's nodes have a {name} that is no number; expected numbers") from None


def read_geff(path: Path, refusal: type[DunnoError]) -> tuple[list[str], list[Floats], Ints, Ints]:
    """The axes of a GEFF, where its nodes are along each, what they are called, and (L, 2) the nodes that its edges join."""
    from geff.core_io import read_to_memory
    from geff_spec import GeffMetadata

    try:
        check_graph(path)
        axes = [axis.name for axis in GeffMetadata.read(path).axes or ()]
        graph = read_to_memory(path, node_props=axes, edge_props=[])
    except Exception as error:
        raise refusal(f"{path}: cannot be read as GEFF ({one_line(error)})") from None
    try:
        places = [graph["node_props"][name]["values"].astype(np.float64) for name in axes]
        return axes, places, graph["node_ids"].astype(np.int64), graph["edge_ids"].astype(np.int64).reshape(-1, 2)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise refusal(f"{path}: its nodes and edges are no numbers ({one_line(error)})") from None
