"""tracksdata's graphs: a movie out of their nodes, and what is believed of cells and edges into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dunno.errors import InputError, MissingExtra, MovieError
from dunno.io.columns import KNOWN, SEGMENT_COLUMNS, columns_for_tools, edge_columns
from dunno.io.graphs import SOLUTION
from dunno.lineage.tracks import NumberedBlock
from dunno.types import Ints, Movie, Points, RunInfo
from dunno.types.cells import AXES
from dunno.types.points import diameter_between, split_by_frame

BELIEVED = ("probability", *KNOWN, *SEGMENT_COLUMNS)
"""What is told of cells."""

TOLD = ("probability", "cost", SOLUTION)
"""What is told of edges."""

EDGE_ENDS = (("mother_frame", "mother"), ("frame", "daughter"))


def tracksdata() -> Any:
    """The package."""
    try:
        import tracksdata
    except ImportError:
        raise MissingExtra("its graphs need tracksdata: pip install 'dunno[tracksdata]'") from None
    return tracksdata


@dataclass(frozen=True, eq=False)
class GraphMovie:
    """The movie of a graph's nodes, in which a node's label is its place among those of its frame."""

    movie: Movie  # Masks where all nodes have one, else points
    node: Ints  # (N,) what the graph calls its nodes, frame by frame
    begin: Ints  # (T,) the row with which each frame begins

    @classmethod
    def of(cls, graph: Any) -> GraphMovie:
        """Make the movie of a graph; nodes that exclude each other are refused."""
        if graph.num_nodes() == 0:
            raise InputError("the graph has no nodes; expected one for each cell, with t, and mask or places")
        if graph.has_overlaps():
            raise InputError("the graph has nodes that exclude each other; track those of a solution (graph.filter)")
        scale = graph.metadata.get("scale")
        frames, rows = split_by_frame(_column(graph, "t"), "the graph")
        source = (_painted if "mask" in graph.node_attr_keys() else _points)(graph, rows, scale)
        movie = Movie(source, scale=scale, frames=frames, name="graph", mask_source="the graph's nodes")
        return cls(movie, _column(graph, "node_id")[np.concatenate(rows)], np.cumsum([0, *map(len, rows)])[:-1])

    def nodes(self, frame: Ints, label: Ints) -> Ints:
        """What the graph calls the cells of some frames and labels."""
        return np.asarray(self.node[self.begin[np.searchsorted(self.movie.frames, frame)] + label - 1])


def _column(graph: Any, name: str) -> np.ndarray:
    return np.asarray(graph.node_attrs(attr_keys=["node_id", name])[name].to_numpy())


def _points(graph: Any, rows: list[Ints], scale: Sequence[float] | None) -> Points:
    """Nodes without masks, at places in physical units."""
    axes = [axis for axis in AXES[3] if axis in graph.node_attr_keys()]
    if len(axes) < 2:
        came = ", ".join(graph.node_attr_keys())
        raise InputError(f"the graph's nodes have {came}; expected t, and mask, or y, x, or z, y, x")
    place = np.column_stack([_column(graph, axis) for axis in axes]).astype(np.float64)
    if not np.isfinite(place).all():
        raise InputError("the graph has nodes whose place is not finite; expected numbers")
    label = {t: np.arange(1, len(here) + 1) for t, here in enumerate(rows)}
    pixel = {t: place[here] / (1.0 if scale is None else np.asarray(scale)) for t, here in enumerate(rows)}
    return Points(label, pixel, diameter_between([place[here] for here in rows]), "the graph")


@dataclass(frozen=True, eq=False)
class PaintedNodes:
    """Frames that are painted from nodes' masks when they are asked for."""

    # Each frame's masks, with the boxes they lie in; the first one has label 1
    masks: tuple[list[Any], ...] = field(repr=False)
    frame_shape: tuple[int, ...]  # Of every frame

    def __len__(self) -> int:
        return len(self.masks)

    def __getitem__(self, t: int) -> np.ndarray:
        frame = np.zeros(self.frame_shape, np.int32)
        for label, mask in enumerate(self.masks[t], start=1):
            low, high = mask.bbox.reshape(2, -1)
            here = frame[tuple(map(slice, low, high))]
            if here[mask.mask].any():
                raise MovieError(f"{self.where(t)}: masks of nodes overlap; track those of a solution (graph.filter)")
            here[mask.mask] = label
        return frame

    def where(self, t: int) -> str:
        """Frame t, for messages."""
        return f"the graph, frame {t}"


def _painted(graph: Any, rows: list[Ints], scale: Sequence[float] | None) -> PaintedNodes:
    """Nodes with masks, in a frame as large as the graph says, or as they need."""
    masks = _column(graph, "mask").tolist()
    shape = graph.metadata.get("shape") or (0, *np.max([mask.bbox.reshape(2, -1)[1] for mask in masks], axis=0))
    return PaintedNodes(tuple([masks[row] for row in here] for here in rows), tuple(map(int, shape[1:])))


def set_edges(graph: Any, edge: Any, columns: Mapping[str, np.ndarray]) -> None:
    """Give some edges values under new names or old ones; others are NaN under a new one."""
    _declare(graph.add_edge_attr_key, graph.edge_attr_keys(), columns)
    graph.update_edge_attrs(
        attrs={name: values.tolist() for name, values in columns.items()}, edge_ids=np.asarray(edge).tolist()
    )


def _declare(add: Any, known: list[str], columns: Mapping[str, np.ndarray]) -> None:
    """Make attributes of columns that a graph does not have."""
    import polars

    kinds = {"f": (polars.Float64, float("nan")), "i": (polars.Int64, -1), "b": (polars.Boolean, False)}
    for name, values in columns.items():
        if name not in known:
            add(name, *kinds[values.dtype.kind])


def tell_graph(graph: Any, given: GraphMovie, numbered: NumberedBlock, candidates: bool, output: str) -> None:
    """Write what is believed into the graph that the movie came from: all nodes are cells, and missing edges are added.

    Only links unless all `candidates` are asked for; the solution is called `output`.
    """
    cells, edges = columns_for_tools(numbered), _edges(numbered)
    nodes = {name: cells[name] for name in BELIEVED if np.isfinite(cells[name]).any()}
    nodes[output] = np.ones(len(cells["frame"]), np.bool_)
    _declare(graph.add_node_attr_key, graph.node_attr_keys(), nodes)
    own = given.nodes(cells["frame"], cells["label"]).tolist()
    graph.update_node_attrs(attrs={name: values.tolist() for name, values in nodes.items()}, node_ids=own)

    table = graph.edge_attrs(attr_keys=[])
    ends = [table[name].to_list() for name in ("source_id", "target_id")]
    known = dict(zip(zip(*ends, strict=True), table["edge_id"].to_list(), strict=True))
    mother, daughter = (given.nodes(edges.pop(f), edges.pop(c)).tolist() for f, c in EDGE_ENDS)
    edges[output] = edges.pop(SOLUTION)
    number = [known.get(pair, -1) for pair in zip(mother, daughter, strict=True)]
    there = np.array(number, np.int64) >= 0
    set_edges(graph, np.array(number, np.int64)[there], {name: values[there] for name, values in edges.items()})
    added = ~there & (edges[output] | candidates)
    _add_edges(graph, np.array(mother)[added], np.array(daughter)[added], {n: v[added] for n, v in edges.items()})


def _edges(numbered: NumberedBlock) -> dict[str, np.ndarray]:
    columns = edge_columns(numbered.block)
    columns[SOLUTION] = columns.pop("selected")
    return {name: columns[name] for name in (*(each for end in EDGE_ENDS for each in end), *TOLD)}


def _add_edges(graph: Any, mother: Ints, daughter: Ints, columns: Mapping[str, np.ndarray]) -> None:
    table = {"source_id": mother, "target_id": daughter, **columns}
    graph.bulk_add_edges(_dicts(table))


def _dicts(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    values = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in values]


def to_graph(numbered: NumberedBlock, movie: Movie, about: RunInfo, candidates: bool) -> Any:
    """A graph of tracksdata, in memory: cells with their masks where they have one, links or all candidates."""
    package = tracksdata()
    graph = package.graph.RustWorkXGraph()
    graph.metadata.update(shape=(int(movie.frames[-1]) + 1, *movie.shape), dunno=about.without_frames)
    if movie.has_scale:
        graph.metadata.update(scale=movie.scale)
    cells = columns_for_tools(numbered)
    cells = {"t": cells.pop("frame"), "tracklet_id": cells.pop("track"), "lineage_id": cells.pop("family"), **cells}
    cells[SOLUTION] = np.ones(len(cells["t"]), np.bool_)
    nodes = {name: values for name, values in cells.items() if name not in BELIEVED or np.isfinite(values).any()}
    _declare(graph.add_node_attr_key, graph.node_attr_keys(), nodes)
    rows = _dicts(nodes)
    if movie.has_masks and "filled" not in nodes:
        _add_masks(graph, rows, numbered, movie, package)
    node = np.array(graph.bulk_add_nodes(rows), np.int64)
    edges = _edges(numbered)
    kept = edges[SOLUTION] | candidates
    columns = {name: edges[name] for name in TOLD}
    _declare(graph.add_edge_attr_key, graph.edge_attr_keys(), columns)
    block = numbered.block
    chosen = {name: values[kept] for name, values in columns.items()}
    _add_edges(graph, node[block.mother[kept]], node[block.daughter[kept]], chosen)
    return graph


def _add_masks(graph: Any, rows: list[dict[str, Any]], numbered: NumberedBlock, movie: Movie, package: Any) -> None:
    """Each cell's mask and its box, of one frame after the other."""
    import polars

    graph.add_node_attr_key("mask", polars.Object)
    graph.add_node_attr_key("bbox", polars.Array(polars.Int64, 2 * len(movie.shape)))
    cells = numbered.block.cells
    for t in range(cells.n_frames):
        labels = movie.masks(t)
        for row in range(*cells.rows(t).indices(len(cells))):
            low, high = cells.bbox[row]
            own = labels[tuple(map(slice, low, high))] == cells.label[row]
            rows[row] |= {"mask": package.nodes.Mask(own, cells.bbox[row].ravel()), "bbox": cells.bbox[row].ravel()}
