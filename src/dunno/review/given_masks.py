"""The masks of a repaired output as they were given: their parts, their unions, and what each label stands for."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dunno.errors import DecisionError
from dunno.io.output import reopen_movie
from dunno.review.store import Recent
from dunno.runs.repaired_output import REPAIRS_FILE
from dunno.segments.drawing import Drawn
from dunno.segments.pixels import Parts, Unions, cut, unite
from dunno.segments.regions import UNCUT
from dunno.segments.segment_model import SegmentModel
from dunno.segments.table import FrameSegments, SegmentTable
from dunno.tracking.measured_blocks import broken_frames
from dunno.types import Bools, Ints

FRAMES_KEPT = 256
"""Frames whose parts and unions are kept in memory."""

PARTS_OF_A_MASK = 4
"""Two, and the two of the larger one."""


class Region(NamedTuple):
    """A segment of a frame: its mask, or masks, by their rows, and which part; `UNCUT` for masks and unions."""

    row: int
    other: int = -1
    number: int = UNCUT


class _Names(NamedTuple):
    """The largest label of a frame, the labels of the parts and unions that were written, and what each label stands for."""

    top: int
    written: dict[Region, int]
    known: dict[int, Region]


class GivenMasks:
    """Names segments by labels that mean the same for as long as the output is there.

    A mask keeps its label, and so does a part or a union that the output has; all others have numbers above, by their places.
    """

    def __init__(self, folder: Path, masks: str | Path | None, model: SegmentModel) -> None:
        movie = reopen_movie(folder, masks, as_given=True)
        self.movie = movie.blanked([*broken_frames(movie)])
        self.model = model
        self._scale = np.array(movie.scale)
        self._read: Recent[FrameSegments] = Recent(FRAMES_KEPT)
        self._names: Recent[_Names] = Recent(FRAMES_KEPT)
        self.repairs: dict[int, dict[int, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
        with (folder / REPAIRS_FILE).open(newline="") as file:
            for row in csv.DictReader(file):
                t = int(np.searchsorted(self.movie.frames, int(row["frame"])))
                self.repairs[t][int(row["mask"])].append((int(row["label"] or 0), float(row["probability"])))

    def frame(self, t: int) -> FrameSegments:
        """All that a frame's masks may be cut and joined into."""
        return self._read.get(t) or self._read.put(t, self._measured(t))

    def _measured(self, t: int) -> FrameSegments:
        cells, labels = self.movie.detections(t).without_pixels(), self.movie.masks(t)
        rows = np.arange(len(cells))
        parts = cut(labels, None, cells, rows, np.full_like(rows, 3), self._scale)
        return FrameSegments(cells, parts, unite(labels, cells, self._scale))

    def row(self, t: int, label: int) -> int:
        """The row of a given mask."""
        label_of = self.frame(t).cells.label
        row = int(np.searchsorted(label_of, label))
        if row == len(label_of) or label_of[row] != label:
            raise DecisionError(f"frame {self.movie.frames[t]} has no mask {label}")
        return row

    def label(self, t: int, region: Region) -> int:
        """What a segment is called."""
        names, label = self._names_of(t), self.frame(t).cells.label
        if region.number == UNCUT and region.other < 0:
            return int(label[region.row])
        if (kept := names.written.get(region)) is not None:
            return kept
        if region.other < 0:
            return names.top + 1 + PARTS_OF_A_MASK * region.row + region.number
        return names.top + 1 + len(label) * PARTS_OF_A_MASK + self.union(t, region.row, region.other)

    def union(self, t: int, row: int, other: int) -> int:
        """The row of a union of two masks."""
        unions = self.frame(t).unions
        assert unions is not None
        ends = min(row, other), max(row, other)
        found = np.flatnonzero((unions.first == ends[0]) & (unions.second == ends[1]))
        if not len(found):
            label = self.frame(t).cells.label
            raise DecisionError(
                f"masks {label[row]} and {label[other]} of frame {self.movie.frames[t]} do not touch, so they are not one cell; "
                "say of the one that is none that it is no cell"
            )
        return int(found[0])

    def region(self, t: int, label: int) -> Region:
        """What a label stands for."""
        names = self._names_of(t)
        if (found := names.known.get(label)) is not None:
            return found
        here, above = self.frame(t), label - names.top - 1
        n = len(here.cells) * PARTS_OF_A_MASK
        assert here.unions is not None
        if not 0 <= above < n + len(here.unions.first):
            raise DecisionError(f"frame {self.movie.frames[t]} has no cell {label}")
        if above < n:
            return Region(above // PARTS_OF_A_MASK, number=above % PARTS_OF_A_MASK)
        return Region(int(here.unions.first[above - n]), int(here.unions.second[above - n]))

    def _names_of(self, t: int) -> _Names:
        """What the labels of a frame stand for that the output, or the given masks, have."""
        return self._names.get(t) or self._names.put(t, self._named(t))

    def _named(self, t: int) -> _Names:
        written = dict(self._as_written(t))
        known = {label: Region(row) for row, label in enumerate(self.frame(t).cells.label.tolist())}
        known |= {label: region for region, label in written.items()}
        return _Names(max(known, default=0), written, known)

    def _as_written(self, t: int) -> Iterable[tuple[Region, int]]:
        cells, parts = self.frame(t).cells, self.frame(t).parts
        assert parts is not None
        joined: dict[int, list[int]] = defaultdict(list)
        for mask, made in self.repairs.get(t, {}).items():
            labels, row = [label for label, _ in made if label], int(np.searchsorted(cells.label, mask))
            if len(labels) == 1:
                joined[labels[0]].append(row)
            for number, label in zip(numbers_of_parts(parts, row, len(labels)), sorted(labels), strict=False):
                yield Region(row, number=number), label
        for label, rows in joined.items():
            yield Region(min(rows), max(rows)), label

    def drawn(self, t: int, regions: Iterable[tuple[Region, int]]) -> Drawn:
        """What is drawn again in a frame that has these segments, with their labels."""
        there = dict(regions)
        held = {row for region in there for row in (region.row, region.other)}
        rows = [
            (row, region.number, label)
            for region, label in there.items()
            if region.number != UNCUT or region.other >= 0
            for row in (region.row, region.other)
            if row >= 0
        ]
        rows += [(row, UNCUT, 0) for row in range(len(self.frame(t).cells)) if row not in held]
        return Drawn(*np.array(rows, np.int64).reshape(-1, 3).T)


def numbers_of_parts(parts: Parts, row: int, n: int) -> list[int]:
    """Which parts of a mask are its two, or its three."""
    own = np.flatnonzero(parts.row == row)
    if n != 3:
        return [0, 1][:n] if n == 2 else []
    area = parts.cells.area[own[:2]]
    return [int(area[0] >= area[1]), 2, 3]


def some_segments(found: FrameSegments, rows: Ints, into: Ints, unions: Bools) -> FrameSegments:
    """Those of some masks of a frame: (n,) rows, ascending.

    For all (m,) masks, `into` says into how many parts each may be cut, and `unions` which of all unions may be.
    """
    parts, both = found.parts, found.unions
    assert parts is not None and both is not None
    number = np.full(len(found.cells), -1, np.int64)
    number[rows] = np.arange(len(rows))
    kept = (number[parts.row] >= 0) & (parts.number < np.array([0, 0, 2, 4])[into[parts.row]])
    some = Parts(
        parts.apart[rows], parts.ratio[rows], parts.neck[rows], number[parts.row[kept]], parts.number[kept],
        parts.cells.only(kept),
    )  # fmt: skip
    both = both.only(unions & (number[both.first] >= 0) & (number[both.second] >= 0))
    both = Unions(number[both.first], number[both.second], both.distance, both.cells)
    wanted = np.zeros(len(found.cells), np.bool_)
    wanted[rows] = True
    return FrameSegments(found.cells.only(wanted), some, both)


def segment_of(table: SegmentTable, region: Region, rows: Ints) -> int | None:
    """The row of a region among a table's segments, given where the table has each mask of the frame; `None` where it is none."""
    one, other = int(rows[region.row]), -1 if region.other < 0 else int(rows[region.other])
    masks, number = table.segments.masks, table.number
    if one < 0 or (region.other >= 0 and other < 0):
        return None
    found = np.flatnonzero((masks[:, 0] == one) & (masks[:, 1] == other) & (number == region.number))
    return int(found[0]) if len(found) else None
