"""What the columns of cells and edges mean, in words: formats that have room for it say so."""

from __future__ import annotations

from typing import NamedTuple


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
