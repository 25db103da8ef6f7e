"""GEFF, the graph exchange format: the solution at the root, all candidate edges in the group `candidates`.

A GEFF is arrays of known length. Rows are spooled to unnamed temporary files while the pairs arrive, so that memory
stays small however long the movie is, and become zarr arrays at the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dunno.io.csv import detection_columns, edge_columns
from dunno.lineage.tracks import FrameRecord, TrackRow
from dunno.types import PairPosterior

CHUNK = 1 << 16
MAY_BE_MISSING = ("entropy", "p_appear", "p_disappear", "p_divide")


class GeffWriter:
    """Writes two graphs: links, and every candidate edge. Both hold every cell.

    Nodes carry time `t`, position (z, y, x), `label`, `track`, `area`, `entropy` and the event probabilities, marked as
    missing where undefined; edges carry `cost` and `probability`, candidates also `selected`. After a review, `reviewed`
    marks what a person decided.
    """

    def __init__(self, path: Path, about: Mapping[str, Any], has_scale: bool) -> None:
        self._path = path
        self._about = {key: value for key, value in about.items() if key != "frames"}
        self._unit = None if has_scale else "pixel"
        self._nodes, self._links, self._edges = (_Table(path.parent) for _ in range(3))
        self._before: tuple[PairPosterior, np.ndarray] | None = None

    def write(self, record: FrameRecord, pair: PairPosterior | None) -> None:
        """Add one frame's cells, and the edges that lead to them."""
        columns = detection_columns(record)
        columns["t"] = columns.pop("frame")
        self._nodes.add(record.node, columns)
        if self._before is not None:
            self._add_edges(*self._before, record.node)
        self._before = None if pair is None else (pair, record.node)

    def _add_edges(self, pair: PairPosterior, mothers: np.ndarray, daughters: np.ndarray) -> None:
        ids = np.stack([mothers[pair.mother], daughters[pair.daughter]], axis=1)
        given = edge_columns(pair)
        columns: dict[str, np.ndarray] = {
            name: given[name] for name in ("cost", "probability", "reviewed") if name in given
        }
        chosen = pair.selected
        self._links.add(ids[chosen], {name: values[chosen] for name, values in columns.items()})
        self._edges.add(ids, {**columns, "selected": chosen})

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Turn the rows into two graphs."""
        import zarr

        root = zarr.open_group(self._path, mode="w", zarr_format=2)
        for group, place, edges, what in (
            (root, self._path, self._links, "the links of the reported assignment"),
            (root.create_group("candidates"), self._path / "candidates", self._edges, "every candidate edge"),
        ):
            self._nodes.write(group.create_group("nodes"))
            edges.write(group.create_group("edges"))
            self._metadata(edges, what).write(place)

    def close(self) -> None:
        """Let go of the temporary files."""
        for table in (self._nodes, self._links, self._edges):
            table.close()

    def _metadata(self, edges: _Table, what: str) -> Any:
        from geff_spec import Axis, GeffMetadata, PropMetadata

        def describe(table: _Table) -> dict[str, Any]:
            return {name: PropMetadata(identifier=name, dtype=str(c.dtype)) for name, c in table.columns.items()}

        def axis(name: str, kind: Any, unit: str | None) -> Any:
            low, high = self._nodes.columns[name].bounds
            return Axis(name=name, type=kind, unit=unit, **({"min": low, "max": high} if low <= high else {}))

        space = [axis(name, "space", self._unit) for name in "zyx" if name in self._nodes.columns]
        return GeffMetadata(
            directed=True,
            axes=[axis("t", "time", "frame"), *space],
            node_props_metadata=describe(self._nodes),
            edge_props_metadata=describe(edges),
            track_node_props={"tracklet": "track"},
            extra={"dunno": {**self._about, "edges": what}},
        )


class _Column:
    """An array that grows in a temporary file."""

    def __init__(self, folder: Path, example: np.ndarray) -> None:
        self.dtype = example.dtype
        self.bounds = (np.inf, -np.inf)
        self._width = example.shape[1:]
        self._length = 0
        self._file = tempfile.TemporaryFile(dir=folder)

    def add(self, values: np.ndarray) -> None:
        if len(values):
            self.bounds = (min(self.bounds[0], float(values.min())), max(self.bounds[1], float(values.max())))
        self._length += len(values)
        self._file.write(np.ascontiguousarray(values, self.dtype).tobytes())

    def write(self, group: Any, name: str) -> None:
        shape, chunks = (self._length, *self._width), (CHUNK, *self._width)
        array = group.create_array(name, shape=shape, chunks=chunks, dtype=self.dtype)
        self._file.seek(0)
        for start in range(0, self._length, CHUNK):
            rows = min(CHUNK, self._length - start)
            values = np.frombuffer(self._file.read(rows * self.dtype.itemsize * int(np.prod(self._width))), self.dtype)
            array[start : start + rows] = values.reshape(rows, *self._width)

    def close(self) -> None:
        self._file.close()


class _Table:
    """The ids and properties of nodes or edges."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ids: _Column | None = None
        self._missing: dict[str, _Column] = {}
        self.columns: dict[str, _Column] = {}

    def add(self, ids: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
        ids = ids.astype(np.uint64)
        if self._ids is None:
            self._ids = _Column(self._folder, ids)
            self.columns = {name: _Column(self._folder, values) for name, values in columns.items()}
            self._missing = {
                name: _Column(self._folder, np.empty(0, bool)) for name in MAY_BE_MISSING if name in columns
            }
        self._ids.add(ids)
        for name, values in columns.items():
            if name in self._missing:
                missing = np.isnan(values)
                self._missing[name].add(missing)
                values = np.where(missing, 0.0, values)
            self.columns[name].add(values)

    def write(self, group: Any) -> None:
        if self._ids is not None:
            self._ids.write(group, "ids")
        properties = group.create_group("props")
        for name, column in self.columns.items():
            place = properties.create_group(name)
            column.write(place, "values")
            if name in self._missing:
                self._missing[name].write(place, "missing")

    def close(self) -> None:
        for column in (*self.columns.values(), *self._missing.values(), *([self._ids] if self._ids else [])):
            column.close()
