"""GEFF, the graph exchange format: the solution at the root, all candidate edges in the group `candidates`.

Rows are written while the pairs arrive, so that memory stays small however long the movie is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dunno.io.columns import axes_of, columns_for_tools, edge_columns, radius
from dunno.io.plates import labels_beside
from dunno.io.zarr_folder import ZarrFolder, ZarrTable
from dunno.lineage.tracks import NumberedBlock, TrackRow
from dunno.types import Movie, RunInfo


class Meaning(NamedTuple):
    """A column's name for people, its unit (`length` and `area` stand for the movie's own), and a sentence."""

    name: str
    unit: str | None
    description: str


CELL_MEANINGS = {
    "t": Meaning("frame", "frame", "Original index of the frame"),
    "z": Meaning("z", "length", "Centre of the mask along z"),
    "y": Meaning("y", "length", "Centre of the mask along y"),
    "x": Meaning("x", "length", "Centre of the mask along x"),
    "label": Meaning("label", None, "Label of the cell in its frame's mask"),
    "seg_id": Meaning("segmentation id", None, "The same as label, by the name that other tools look for"),
    "track": Meaning("track", None, "The cell's track, from its birth to its division or loss"),
    "lineage": Meaning("family", None, "The first track of the cell's family"),
    "area": Meaning("area", "area", "Area, or volume, of the mask"),
    "radius": Meaning("radius", "length", "Radius of the disc, or ball, that is as large as the mask"),
    "probability": Meaning("P(link)", None, "Probability of the link that leads to the cell; missing where none does"),
    "entropy": Meaning("entropy", "nat", "Entropy of the identity of the cell's mother; 0 is certain"),
    "p_appear": Meaning("P(appears)", None, "Probability that the cell has no mother"),
    "p_disappear": Meaning("P(disappears)", None, "Probability that the cell has no daughter"),
    "p_divide": Meaning("P(divides)", None, "Probability that the cell divides before the next frame"),
    "p_segment": Meaning(
        "P(segment)", None, "Probability that the region is one object; empty where masks are trusted"
    ),
    "p_cell": Meaning("P(cell)", None, "Probability that the object is a cell, and not debris"),
    "reviewed": Meaning("reviewed", None, "Whether a person decided whose daughter the cell is"),
}

EDGE_MEANINGS = {
    "cost": Meaning("cost", None, "Minus the logarithm of the edge's likelihood; lower is better"),
    "probability": Meaning("P(edge)", None, "Probability that the mother is the cell's own, one look earlier"),
    "selected": Meaning("link", None, "Whether the edge is a link of the reported assignment"),
    "reviewed": Meaning("reviewed", None, "Whether a person decided on the link"),
}


GEFF_VERSION = "1.3"
"""Of the format that is written."""

MAY_BE_MISSING = ("probability", "entropy", "p_appear", "p_disappear", "p_divide", "p_segment", "p_cell")


class GeffWriter:
    """A GEFF of two graphs: the links, and every candidate edge. Both hold every cell.

    Nodes carry time `t`, position (z, y, x), `label` (also as `seg_id`), `track` (the tracklet), `lineage`, `area`, `radius` (a
    sphere), the `probability` of the link that leads to them, `entropy` and the events' probabilities, missing where undefined;
    edges carry `cost` and `probability`, candidates also `selected`. After a review, `reviewed` marks what a person decided. Every
    property has a name, a unit and a description. `p_segment` and `p_cell` tell of regions that may be no object, or debris.
    """

    name = "geff"
    needs_masks = False

    def __init__(self, path: Path, about: RunInfo, movie: Movie | None = None) -> None:
        self._path = path
        self._about = about.without_frames
        self._unit = "pixel" if about.scale is None else "micrometer"
        self._root = ZarrFolder(path)
        self._candidates = self._root.group("candidates")
        self._nodes = ZarrTable(self._root.group("nodes"), MAY_BE_MISSING)
        self._links, self._edges = (ZarrTable(each.group("edges")) for each in (self._root, self._candidates))

    def write(self, numbered: NumberedBlock) -> None:
        columns = columns_for_tools(numbered)
        columns["t"], columns["seg_id"] = columns.pop("frame"), columns["label"]
        columns["lineage"] = columns.pop("family")
        columns["radius"] = radius(columns["area"], len(axes_of(columns)))
        columns["probability"] = columns.pop("probability")
        self._nodes.add(numbered.node[numbered.rows], columns)
        given, node = edge_columns(numbered.block), numbered.node
        ids, chosen = np.stack([node[numbered.block.mother], node[numbered.block.daughter]], axis=1), given["selected"]
        kept = {name: values for name, values in given.items() if name in ("cost", "probability", "reviewed")}
        self._links.add(ids[chosen], {name: values[chosen] for name, values in kept.items()})
        self._edges.add(ids, {**kept, "selected": chosen})

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        for table in (self._nodes, self._links, self._edges):
            table.finish()
        self._root.copy("nodes", self._candidates)
        self._root.describe(self._metadata(self._links, "the links of the reported assignment"))
        self._candidates.describe(self._metadata(self._edges, "every candidate edge"))

    def close(self) -> None:
        """Nothing is open."""

    def _metadata(self, edges: ZarrTable, what: str) -> dict[str, Any]:
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
            "node_props_metadata": self._described(self._nodes, CELL_MEANINGS),
            "edge_props_metadata": self._described(edges, EDGE_MEANINGS),
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

    def _described(self, table: ZarrTable, meanings: Mapping[str, Meaning]) -> dict[str, Any]:
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
