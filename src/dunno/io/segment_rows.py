"""Reading `segments.csv`: the segments that an output did not choose."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

SEGMENTS_TABLE = "segments.csv"


class SegmentRow(NamedTuple):
    """A segment that was not chosen."""

    # Labels of the given masks: one, of which it is the whole or a part, or those of which it is the union
    masks: tuple[int, ...]
    area: float  # Physical
    place: tuple[float, ...]  # Its centroid, physical
    p_segment: float  # That it is an object


def read_segments(folder: Path) -> dict[int, list[SegmentRow]]:
    """By the frame's original index; nothing where masks were not repaired."""
    path, found = folder / SEGMENTS_TABLE, dict[int, list[SegmentRow]]()
    if not path.is_file():
        return found
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            masks = tuple(int(label) for label in row["masks"].split("+"))
            place = tuple(float(row[axis]) for axis in "zyx" if axis in row)
            segment = SegmentRow(masks, float(row["area"]), place, float(row["p_segment"]))
            found.setdefault(int(row["frame"]), []).append(segment)
    return found
