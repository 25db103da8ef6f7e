"""GEFF, the graph exchange format: the solution at the root, all candidate edges in the group `candidates`.

A GEFF is arrays of known length. Rows are spooled to unnamed temporary files while the pairs arrive, so that memory
stays small however long the movie is, and become zarr arrays at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dunno.io.columns import detection_columns, edge_columns
from dunno.io.spool import SpooledTable
from dunno.lineage.tracks import LONGEST, FrameRecord, TrackRow
from dunno.types import Movie, PairPosterior

MAY_BE_MISSING = ("entropy", "p_appear", "p_disappear", "p_divide")


class GeffWriter:
    """A GEFF of two graphs: the links, and every candidate edge. Both hold every cell.

    Nodes carry time `t`, position (z, y, x), `label`, `track`, `area`, `entropy` and the event probabilities, marked as
    missing where undefined; edges carry `cost` and `probability`, candidates also `selected`. After a review, `reviewed`
    marks what a person decided.
    """

    name = "geff"
    needs_masks = False

    def __init__(self, path: Path, about: Mapping[str, Any], movie: Movie | None = None) -> None:
        self._path = path
        self._about = {key: value for key, value in about.items() if key != "frames"}
        self._unit = "pixel" if about.get("scale") is None else None
        self._nodes = SpooledTable(path.parent, MAY_BE_MISSING)
        self._links, self._edges = SpooledTable(path.parent), SpooledTable(path.parent)
        self._before: tuple[PairPosterior, np.ndarray] | None = None
        self._recent: dict[int, np.ndarray] = {}

    def write(self, record: FrameRecord, pair: PairPosterior | None) -> None:
        """Add one frame's cells, and the edges that lead to them."""
        columns = detection_columns(record)
        columns["t"] = columns.pop("frame")
        self._nodes.add(record.node, columns)
        if self._before is not None:
            self._add_edges(*self._before, record.node)
        self._before = None if pair is None else (pair, record.node)
        self._recent = dict([*[*self._recent.items()][1 - LONGEST :], (record.frame, record.node)])

    def _add_edges(self, pair: PairPosterior, mothers: np.ndarray, daughters: np.ndarray) -> None:
        ids = np.stack([mothers[pair.mother], daughters[pair.daughter]], axis=1)
        chosen = pair.selected
        if (gaps := pair.gaps) is not None:
            far = [self._recent[f][i] for f, i in zip(gaps.mother_frame.tolist(), gaps.mother.tolist(), strict=True)]
            ids = np.concatenate([ids, np.stack([np.array(far, np.int64), daughters[gaps.daughter]], axis=1)])
            chosen = np.concatenate([chosen, gaps.selected])
        given = edge_columns(pair)
        columns: dict[str, np.ndarray] = {
            name: given[name] for name in ("cost", "probability", "reviewed") if name in given
        }
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

    def _metadata(self, edges: SpooledTable, what: str) -> Any:
        from geff_spec import Axis, GeffMetadata, PropMetadata

        def describe(table: SpooledTable) -> dict[str, Any]:
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
