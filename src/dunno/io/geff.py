"""GEFF, the graph exchange format: the solution at the root, all candidate edges in the group `candidates`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dunno.io.csv import detection_columns, edge_columns
from dunno.tracks import FrameRecord, TrackRow
from dunno.types import PairPosterior

CHUNK = 1 << 16
MAY_BE_MISSING = ("entropy", "p_appear", "p_disappear", "p_divide")


class GeffWriter:
    """Writes two graphs as the pairs arrive: links, and every candidate edge. Both hold every cell.

    Nodes carry time `t`, position (z, y, x), `label`, `track`, `area`, `entropy` and the event probabilities, marked
    as missing where undefined; edges carry `cost` and `probability`, candidates also `selected`.
    """

    def __init__(self, path: Path, about: Mapping[str, Any], has_scale: bool) -> None:
        import zarr

        root = zarr.open_group(path, mode="w", zarr_format=2)
        self._path = path
        self._about = dict(about)
        self._unit = None if has_scale else "pixel"
        self._solution = _Graph(root)
        self._candidates = _Graph(root.create_group("candidates"))
        self._axes: tuple[str, ...] = ("y", "x")
        self._last_node: np.ndarray | None = None
        self._pair: PairPosterior | None = None

    def write(self, record: FrameRecord, pair: PairPosterior | None) -> None:
        """Add one frame's cells, and the edges that lead to them."""
        columns = detection_columns(record)
        columns["t"] = columns.pop("frame")
        self._axes = tuple(axis for axis in "zyx" if axis in columns)
        for graph in (self._solution, self._candidates):
            graph.add_nodes(record.node, columns)
        if self._pair is not None and self._last_node is not None:
            self._add_edges(self._pair, self._last_node, record.node)
        self._pair, self._last_node = pair, record.node

    def _add_edges(self, pair: PairPosterior, mothers: np.ndarray, daughters: np.ndarray) -> None:
        ids = np.stack([mothers[pair.mother], daughters[pair.daughter]], axis=1)
        columns = edge_columns(pair)
        properties = {name: columns[name] for name in ("cost", "probability")}
        chosen = pair.selected
        self._solution.add_edges(ids[chosen], {name: values[chosen] for name, values in properties.items()})
        self._candidates.add_edges(ids, {**properties, "selected": columns["selected"]})

    def close(self, tracks: Sequence[TrackRow]) -> None:
        """Write what is buffered, and the metadata."""
        for graph, place, what in (
            (self._solution, self._path, "the links of the reported assignment"),
            (self._candidates, self._path / "candidates", "every candidate edge"),
        ):
            graph.close()
            self._metadata(graph, what).write(place)

    def _metadata(self, graph: _Graph, what: str) -> Any:
        from geff_spec import Axis, GeffMetadata, PropMetadata

        def describe(columns: Mapping[str, _Column]) -> dict[str, Any]:
            return {name: PropMetadata(identifier=name, dtype=column.dtype) for name, column in columns.items()}

        def axis(name: str, kind: Any, unit: str | None) -> Any:
            column = graph.node_columns[name]
            empty = column.low > column.high
            bounds = {} if empty else {"min": column.low, "max": column.high}
            return Axis(name=name, type=kind, unit=unit, **bounds)

        return GeffMetadata(
            directed=True,
            axes=[axis("t", "time", "frame"), *(axis(name, "space", self._unit) for name in self._axes)],
            node_props_metadata=describe(graph.node_columns),
            edge_props_metadata=describe(graph.edge_columns),
            track_node_props={"tracklet": "track"},
            extra={"dunno": {**self._about, "edges": what}},
        )


class _Column:
    """A zarr array that grows, chunk by chunk."""

    def __init__(self, group: Any, name: str, example: np.ndarray) -> None:
        self._buffer: list[np.ndarray] = []
        self._buffered = 0
        self._array = group.create_array(
            name, shape=(0, *example.shape[1:]), chunks=(CHUNK, *example.shape[1:]), dtype=example.dtype
        )
        self.dtype = str(example.dtype)
        self.low, self.high = np.inf, -np.inf

    def add(self, values: np.ndarray) -> None:
        self._buffer.append(values)
        self._buffered += len(values)
        if len(values):
            self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        if self._buffered >= CHUNK:
            self._flush(self._buffered - self._buffered % CHUNK)

    def _flush(self, count: int) -> None:
        rows = np.concatenate(self._buffer)
        self._array.append(rows[:count])
        self._buffer = [rows[count:]]
        self._buffered -= count

    def close(self) -> None:
        if self._buffered:
            self._flush(self._buffered)


class _Graph:
    """One GEFF graph under construction."""

    def __init__(self, group: Any) -> None:
        self._nodes, self._edges = group.create_group("nodes"), group.create_group("edges")
        self._missing: dict[str, _Column] = {}
        self.node_columns: dict[str, _Column] = {}
        self.edge_columns: dict[str, _Column] = {}
        self._node_ids = _Column(self._nodes, "ids", np.empty(0, np.uint64))
        self._edge_ids = _Column(self._edges, "ids", np.empty((0, 2), np.uint64))
        self._node_props, self._edge_props = (
            self._nodes.create_group("props"),
            self._edges.create_group("props"),
        )
        for name in ("cost", "probability"):
            self._edge_column(name, np.empty(0))

    def _edge_column(self, name: str, values: np.ndarray) -> _Column:
        if name not in self.edge_columns:
            self.edge_columns[name] = _Column(self._edge_props.create_group(name), "values", values)
        return self.edge_columns[name]

    def add_nodes(self, ids: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
        self._node_ids.add(ids.astype(np.uint64))
        for name, values in columns.items():
            if name not in self.node_columns:
                group = self._node_props.create_group(name)
                self.node_columns[name] = _Column(group, "values", values)
                if name in MAY_BE_MISSING:
                    self._missing[name] = _Column(group, "missing", np.empty(0, np.bool_))
            missing = np.isnan(values) if name in self._missing else None
            if missing is not None:
                self._missing[name].add(missing)
                values = np.where(missing, 0.0, values)
            self.node_columns[name].add(values)

    def add_edges(self, ids: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
        self._edge_ids.add(ids.astype(np.uint64))
        for name, values in columns.items():
            self._edge_column(name, values).add(values)

    def close(self) -> None:
        columns = [self._node_ids, self._edge_ids, *self._missing.values()]
        for column in [*columns, *self.node_columns.values(), *self.edge_columns.values()]:
            column.close()
