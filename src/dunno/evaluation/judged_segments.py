"""Is P(segment) true? Segments promised and found, where the annotation can judge them.

A region lies on the annotated cell with which it shares most pixels, if these are half of the region or a quarter of the cell. A
segment can be judged where all that it is a choice about lies on cells:

- a **whole** mask is right where both its parts lie on one cell, and no other mask covers a quarter of that, else wrong;
- a **part** is right where no sister lies on its cell, and wrong where one does;
- a **union** is right where its masks lie on one cell, and wrong where they lie on two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dunno.io.output import SegmentRow
from dunno.segments.regions import cut_masks
from dunno.tracking import Tracking
from dunno.truth.matching import HALF, QUARTER, overlaps_of_cells
from dunno.types import Bools, Floats, Movie, Truth, where_is
from dunno.types.labels import LabelImage, as_labels, count_overlaps, measure

N_SEGMENT_BINS = 10

MASK_WHOLE, MASK_PART, MASK_UNION = "whole", "part", "union"

SAME_PART = 0.5  # pixels; exact: places are written with six digits
"""A part is known again by its place and its area, which differ by less."""


class JudgedSegment(NamedTuple):
    """A segment that the annotation can judge: where it is, whether it was chosen, its probability, and whether it is right."""

    frame: int
    mask: int
    kind: str
    chosen: bool
    probability: float
    right: bool


class SegmentClaim(NamedTuple):
    """That a segment is an object: the mask that it is of, its kind, its probability, the cells that it and its sisters lie on."""

    mask: int
    kind: str
    probability: float
    cells: list[int]


@dataclass(frozen=True)
class PromiseBin:
    """Statements with a probability from `low` to `high`: how many they are, how many are promised to hold, and how many do."""

    low: float
    high: float
    count: int
    promised: float
    found: int


def promise_bins(probability: Floats, right: Bools, n_bins: int = N_SEGMENT_BINS) -> tuple[PromiseBin, ...]:
    """Statements in bins of equal width; the lower end belongs to a bin."""
    place = np.minimum((probability * n_bins).astype(np.int64), n_bins - 1)
    return tuple(
        PromiseBin(k / n_bins, (k + 1) / n_bins, int(own.sum()), float(probability[own].sum()), int(right[own].sum()))
        for k in range(n_bins)
        for own in (place == k,)
    )


def judged_segments(
    tracking: Tracking, given: Movie, truth: Truth, others: Mapping[int, Sequence[SegmentRow]]
) -> list[JudgedSegment]:
    """Judge all segments of an output, which is under its repaired masks; `others` are, by frame, those that were not chosen."""
    assert truth.markers is not None
    cells, block, found = tracking.cells, tracking.block, list[JudgedSegment]()
    for t, frame in enumerate(block.frames.tolist()):
        rows = block.rows(t)
        p_segment = dict(zip(cells.label[rows].tolist(), cells.p_segment[rows].tolist(), strict=True))
        annotation = as_labels(truth.markers[t], where_is(truth.markers, t))
        cut = CutFrame.of(given.masks(t), annotation, np.array(given.scale))
        repaired = tracking.movie.masks(t)
        for chosen, claims in (
            (True, _chosen(cut, repaired, _lies_on(repaired, annotation), p_segment)),
            (False, _others(cut, others.get(frame, ()))),
        ):
            judged = ((claim, cut.judge(claim)) for claim in claims)
            found += [
                JudgedSegment(frame, c.mask, c.kind, chosen, c.probability, ok) for c, ok in judged if ok is not None
            ]
    return found


@dataclass(frozen=True, eq=False)
class CutFrame:
    """The given masks of a frame beside its annotation."""

    labels: LabelImage  # The masks
    cell: Mapping[int, int]  # The cell that each lies on, or 0
    covering: Mapping[int, int]  # How many masks cover a quarter of each cell
    parts: Mapping[int, Mapping[int, int]]  # Of each mask, the cells that its parts lie on, by their numbers
    # Of each mask, area and place of its parts, by their numbers
    measured: Mapping[int, Mapping[int, tuple[float, Floats]]]

    @classmethod
    def of(cls, labels: LabelImage, annotation: LabelImage, scale: Floats) -> CutFrame:
        """Cut every mask in two, and in three."""
        label = measure(labels, "masks").label.tolist()
        parts: dict[int, dict[int, int]] = {each: {} for each in label}
        measured: dict[int, dict[int, tuple[float, Floats]]] = {each: {} for each in label}
        for into in (3, 2):  # of parts 0 and 1, the picture of two shows all
            cuts = cut_masks(labels, None, np.arange(len(label)), np.full(len(label), into), scale)
            lies = _lies_on(cuts.image, annotation)
            for k, (row, number) in enumerate(zip(cuts.row.tolist(), cuts.number.tolist(), strict=True)):
                parts[label[row]][number] = lies.get(len(label) + 1 + k, 0)
                measured[label[row]][number] = float(cuts.columns["area"][k]), cuts.columns["centroid"][k]
        marker, _, shared, size = overlaps_of_cells(labels, annotation)
        covering = dict(
            zip(
                *(each.tolist() for each in np.unique(marker[shared >= QUARTER * size], return_counts=True)),
                strict=True,
            )
        )
        return cls(labels, _lies_on(labels, annotation), covering, parts, measured)

    def judge(self, claim: SegmentClaim) -> bool | None:
        """Whether a claim holds; `None` where the annotation cannot say."""
        cells = claim.cells
        if not all(cells) or np.isnan(claim.probability):
            return None
        if claim.kind == MASK_PART:
            return cells.count(cells[0]) == 1
        is_one = len(set(cells)) == 1
        return is_one and (claim.kind == MASK_UNION or self.covering.get(cells[0], 0) <= 1)

    def whole(self, mask: int, probability: float) -> SegmentClaim:
        """That a mask is one object."""
        parts = self.parts[mask]
        return SegmentClaim(
            mask, MASK_WHOLE, probability, [parts.get(number, self.cell.get(mask, 0)) for number in (0, 1)]
        )

    def union(self, masks: Sequence[int], probability: float) -> SegmentClaim:
        """That masks are one object."""
        return SegmentClaim(masks[0], MASK_UNION, probability, [self.cell.get(mask, 0) for mask in masks])

    def part(self, mask: int, number: int, probability: float) -> SegmentClaim:
        """That a part of a mask is one."""
        parts, area = self.parts[mask], {k: area for k, (area, _) in self.measured[mask].items()}
        sisters = [1 - number] if number < 2 else [5 - number, int(area[1] <= area[0])]
        return SegmentClaim(mask, MASK_PART, probability, [parts[each] for each in (number, *sisters)])

    def number_of(self, row: SegmentRow) -> int | None:
        """Which part of its mask a segment is."""
        parts = self.measured[row.masks[0]]
        off = {
            number: abs(area - row.area) + float(np.abs(place - row.place).sum())
            for number, (area, place) in parts.items()
        }
        best = min(off, key=off.__getitem__, default=None)
        return best if best is not None and off[best] < SAME_PART else None


def _chosen(
    cut: CutFrame, repaired: LabelImage, cell: Mapping[int, int], p_segment: Mapping[int, float]
) -> Iterator[SegmentClaim]:
    """What the repaired masks say: they are masks as they were, parts of one, or unions of several."""
    size, drawn = measure(cut.labels, "masks"), measure(repaired, "masks")
    area = dict(zip(size.label.tolist(), size.area.tolist(), strict=True))
    own_area = dict(zip(drawn.label.tolist(), drawn.area.tolist(), strict=True))
    masks: dict[int, list[int]] = {}
    sisters: dict[int, list[int]] = {}
    for mask, label in zip(*(each.tolist() for each in count_overlaps(cut.labels, repaired)[:2]), strict=True):
        masks.setdefault(label, []).append(mask)
        sisters.setdefault(mask, []).append(label)
    for label, of in masks.items():
        p = p_segment[label]
        if len(of) > 1:
            yield cut.union(of, p)
        elif own_area[label] == area[of[0]]:
            yield cut.whole(of[0], p)
        else:
            yield SegmentClaim(
                of[0], MASK_PART, p, [cell.get(each, 0) for each in (label, *(k for k in sisters[of[0]] if k != label))]
            )


def _others(cut: CutFrame, rows: Sequence[SegmentRow]) -> Iterator[SegmentClaim]:
    """What the segments that were not chosen say."""
    for row in rows:
        if len(row.masks) > 1:
            yield cut.union(row.masks, row.p_segment)
        elif (number := cut.number_of(row)) is not None:
            yield cut.part(row.masks[0], number, row.p_segment)
        else:
            yield cut.whole(row.masks[0], row.p_segment)


def _lies_on(image: LabelImage, annotation: LabelImage) -> dict[int, int]:
    """The cell that each region of an image lies on; regions that lie on none are not there."""
    regions = measure(image, "masks")
    cell, region, shared, size = overlaps_of_cells(image, annotation)
    order = np.lexsort((-cell, shared, region))
    last = order[np.append(np.diff(region[order]) != 0, True)] if len(order) else order
    area = regions.area[np.searchsorted(regions.label, region[last])]
    lies = (shared[last] >= HALF * area) | (shared[last] >= QUARTER * size[last])
    return dict(zip(region[last][lies].tolist(), cell[last][lies].tolist(), strict=True))
