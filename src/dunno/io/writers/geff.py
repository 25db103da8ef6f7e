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
from dunno.io.gathering import axes_of, radius
from dunno.io.meanings import CELLS, EDGES, Meaning
from dunno.io.plates import labels_beside
from dunno.io.spool import SpooledTable
from dunno.io.waiting import WaitingFrames
from dunno.io.zarr_folder import ZarrFolder
from dunno.lineage.tracks import LONGEST, FrameRecord, TrackRow
from dunno.types import Movie, PairPosterior

GEFF_VERSION = "1.3"
"""Of the format that is written."""

MAY_BE_MISSING = ("probability", "entropy", "p_appear", "p_disappear", "p_divide", "p_false", "p_two")


class GeffWriter:
    """A GEFF of two graphs: the links, and every candidate edge. Both hold every cell.

    Nodes carry time `t`, position (z, y, x), `label` (also as `seg_id`), `track` (the tracklet), `lineage`, `area`, `radius` (a
    sphere), the `probability` of the link that leads to them, `entropy` and the events' probabilities, missing where undefined;
    edges carry `cost` and `probability`, candidates also `selected`. After a review, `reviewed` marks what a person decided. Every
    property has a name, a unit and a description. `p_false` and `p_two` tell of masks that hold no cell, or two.
    """

    name = "geff"
    needs_masks = False

    def __init__(self, path: Path, about: Mapping[str, Any], movie: Movie | None = None) -> None:
        self._path = path
        self._about = {key: value for key, value in about.items() if key != "frames"}
        self._unit = "pixel" if about.get("scale") is None else "micrometer"
        self._nodes = SpooledTable(path.parent, MAY_BE_MISSING)
        self._links, self._edges = SpooledTable(path.parent), SpooledTable(path.parent)
        self._waiting = WaitingFrames()
        self._before: PairPosterior | None = None
        self._first: dict[int, int] = {}  # the first node of each of the last frames
        self._next = 0

    def write(self, record: FrameRecord, pair: PairPosterior | None) -> None:
        """Add one frame's cells, and their edges into the next."""
        if self._waiting.add(record, pair):
            self._spool()

    def _spool(self) -> None:
        """Add what waits to the tables."""
        records, pairs = self._waiting.taken()
        if not records:
            return
        node = np.concatenate([record.node for record in records])
        columns = detection_columns(records)
        columns["t"] = columns.pop("frame")
        columns |= {
            "seg_id": columns["label"],
            "lineage": np.concatenate([record.family for record in records]),
            "radius": radius(columns["area"], len(axes_of(columns))),
            "probability": self._incoming(records, pairs),
        }
        self._nodes.add(node, columns)
        if pairs:
            self._add_edges(records, pairs)

    def _incoming(self, records: Sequence[FrameRecord], pairs: Sequence[PairPosterior]) -> np.ndarray:
        """(n,) the probability of the link that leads to each cell; NaN where none does, as in the first frame."""
        first = np.full(len(records[0].node), np.nan) if self._before is None else self._before.incoming
        self._before = pairs[-1] if pairs else None
        return np.concatenate([first, *(pair.incoming for pair in pairs)])[: sum(len(each.node) for each in records)]

    def _add_edges(self, records: Sequence[FrameRecord], pairs: Sequence[PairPosterior]) -> None:
        parts = []
        for record, pair in zip(records, pairs, strict=False):
            begin = self._next
            self._next += len(record.node)
            self._first = dict([*[*self._first.items()][1 - LONGEST :], (record.frame, begin)])
            parts.append((pair.mother + begin, pair.daughter + self._next))
            if (gaps := pair.gaps) is not None:
                far = np.array([self._first[frame] for frame in gaps.mother_frame.tolist()], np.int64)
                parts.append((gaps.mother + far, gaps.daughter + self._next))
        ids = np.stack([np.concatenate(ends) for ends in zip(*parts, strict=True)], axis=1)
        given = edge_columns(pairs)
        chosen = given["selected"]
        columns = {name: values for name, values in given.items() if name in ("cost", "probability", "reviewed")}
        self._links.add(ids[chosen], {name: values[chosen] for name, values in columns.items()})
        self._edges.add(ids, {**columns, "selected": chosen})

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Turn the rows into two graphs."""
        self._spool()
        self._nodes.drop_unknown()
        root = ZarrFolder(self._path, self._metadata(self._links, "the links of the reported assignment"))
        candidates = root.group("candidates", self._metadata(self._edges, "every candidate edge"))
        self._nodes.write(root.group("nodes"))
        root.copy("nodes", candidates)
        for group, edges in ((root, self._links), (candidates, self._edges)):
            edges.write(group.group("edges"))

    def close(self) -> None:
        """Let go of the temporary files."""
        for table in (self._nodes, self._links, self._edges):
            table.close()

    def _metadata(self, edges: SpooledTable, what: str) -> dict[str, Any]:
        """What geff's `GeffMetadata` would write; importing it takes longer than all the rest."""

        def axis(name: str, kind: str, unit: str | None) -> dict[str, Any]:
            low, high = self._nodes.columns[name].bounds
            return {"name": name, "type": kind, "unit": unit, **({"min": low, "max": high} if low <= high else {})}

        names = axes_of(self._nodes.columns)
        is_solution = edges is self._links
        hints = {"display_horizontal": "x", "display_vertical": "y", "display_time": "t"}
        metadata = {
            "geff_version": GEFF_VERSION,
            "directed": True,
            "axes": [axis("t", "time", "frame"), *(axis(name, "space", self._unit) for name in names)],
            "node_props_metadata": self._described(self._nodes, CELLS),
            "edge_props_metadata": self._described(edges, EDGES),
            "sphere": "radius",
            "display_hints": {**hints, **({"display_depth": "z"} if "z" in names else {})},
            "extra": {"dunno": {**self._about, "edges": what}},
        }
        if is_solution:
            metadata["track_node_props"] = {"tracklet": "track", "lineage": "lineage"}
            labels = labels_beside(self._path, Path(self._about["mask_source"]))
            beside = [] if labels is None else [{"type": "labels", "path": labels, "node_prop": "seg_id"}]
            metadata["related_objects"] = [{"type": "geff", "path": "candidates"}, *beside]
        return {"geff": metadata}

    def _described(self, table: SpooledTable, meanings: Mapping[str, Meaning]) -> dict[str, Any]:
        """What each property is, in words and units."""
        dimensions = len(axes_of(self._nodes.columns))
        units = {"length": self._unit, "area": f"{self._unit}^{dimensions}"}
        described = {}
        for name, column in table.columns.items():
            meaning = meanings.get(name, Meaning(name, None, name))
            described[name] = {
                "identifier": name,
                "dtype": str(column.dtype),
                "name": meaning.name,
                "unit": units.get(meaning.unit or "", meaning.unit),
                "description": meaning.description,
            }
        return described
