"""How well masks detect and outline annotated cells (the challenge's DET and SEG, counted here), and what repairs made of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dunno.evaluation.held_cells import HeldCells
from dunno.evaluation.judged_segments import JudgedSegment, PromiseBin, judged_segments, promise_bins
from dunno.io.output import SegmentRow
from dunno.tracking import Tracking
from dunno.truth.matching import HALF, overlaps_of_cells
from dunno.types import Bools, Floats, Ints, Movie, Truth, where_is
from dunno.types.labels import LabelImage, as_labels, measure

MISSED_COST, FALSE_COST, SHARED_COST = 10, 1, 5
"""What a missed cell, a false mask, and each further cell in a mask cost in DET."""

SHARE_OF_A_MARKER = 0.5  # share of a mask; judged
"""Annotated cells whose median share of the masks that hold them is smaller are markers: they say nothing of outlines."""


@dataclass(frozen=True)
class MaskScores:
    """Masks beside annotated cells; a cell is detected by the mask that covers more than half of it."""

    cells: int  # Annotated ones
    masks: int  # How many there are
    missed: int  # Cells that no mask detects
    false: int  # Masks that detect no cell
    shared: int  # Cells beyond the first in a mask, summed
    seg: float  # Mean Jaccard index of cells and the masks that detect them; NaN where the annotation has markers only

    @property
    def det(self) -> float:
        """1 − the cost of all faults, of what it costs to draw all cells by hand."""
        if not self.cells:
            return float("nan")
        faults = MISSED_COST * self.missed + FALSE_COST * self.false + SHARED_COST * self.shared
        return max(1 - faults / (MISSED_COST * self.cells), 0.0)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **asdict(self),
            "seg": None if np.isnan(self.seg) else self.seg,
            "det": self.det if self.cells else None,
        }


def mask_scores(movie: Movie, truth: Truth, kept: Bools | None = None) -> MaskScores:
    """Score a movie's masks beside an annotation that has masks, too: of its (N,) cells, frame by frame, those that are `kept`."""
    assert truth.markers is not None
    counts, likeness, shares, first = np.zeros(5, np.int64), [], [], 0
    for t in range(len(movie)):
        masks = movie.masks(t)
        label = measure(masks, movie.where(t)).label
        own = label if kept is None else label[kept[first : first + len(label)]]
        first += len(label)
        faults, jaccard, share = _frame(masks, as_labels(truth.markers[t], where_is(truth.markers, t)), own)
        counts += faults
        likeness.append(jaccard)
        shares.append(share)
    share = np.concatenate(shares)
    outlined = len(share) > 0 and float(np.median(share)) >= SHARE_OF_A_MARKER
    seg = float(np.concatenate(likeness).mean()) if outlined else float("nan")
    cells, n_masks, missed, false, shared = counts.tolist()
    return MaskScores(cells, n_masks, missed, false, shared, seg)


def _frame(masks: LabelImage, markers: LabelImage, kept: Ints) -> tuple[Ints, Floats, Floats]:
    """Cells, masks, missed, false and shared; each cell's Jaccard index; of cells with a mask of their own, their share of it."""
    marked, found = measure(markers, "annotation"), measure(masks, "masks")
    cell, label, pixels, size = overlaps_of_cells(masks, markers)
    detects = (pixels > HALF * size) & np.isin(label, kept)
    cell, label, pixels, size = (column[detects] for column in (cell, label, pixels, size))
    area = found.area[np.searchsorted(found.label, label)]
    jaccard = np.zeros(len(marked.label))
    jaccard[np.searchsorted(marked.label, cell)] = pixels / (area + size - pixels)
    _, own, count = np.unique(label, return_inverse=True, return_counts=True)
    n_right, alone = len(count), count[own] == 1
    n_cells, n_masks = len(marked.label), len(kept)
    faults = [n_cells, n_masks, n_cells - len(cell), n_masks - n_right, len(cell) - n_right]
    return np.array(faults), jaccard, (size / area)[alone]


@dataclass(frozen=True)
class RepairScores:
    """What became of a movie's masks."""

    given: MaskScores  # How the masks score that the movie came with
    repaired: MaskScores  # The masks that were tracked
    cells: MaskScores  # Those of them that are cells more probably than debris
    # P(segment), promised and found, where the annotation can judge; empty where masks were not repaired
    segments: tuple[PromiseBin, ...]
    # P(cell), promised and found: whether objects cover a quarter of an annotated cell. This judges where every cell is
    # annotated
    objects: tuple[PromiseBin, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        scores = {name: getattr(self, name).to_dict() for name in ("given", "repaired", "cells")}
        return {**scores, **{name: [asdict(each) for each in getattr(self, name)] for name in ("segments", "objects")}}


def repair_scores(
    tracking: Tracking, given: Movie, truth: Truth, others: Mapping[int, Sequence[SegmentRow]]
) -> RepairScores:
    """Score the masks of an output; see `judged_segments`."""
    p_cell = tracking.cells.p_cell
    repaired = mask_scores(tracking.movie, truth)
    if np.isnan(p_cell).all():
        return RepairScores(repaired, repaired, repaired, (), ())
    cells = mask_scores(tracking.movie, truth, ~(p_cell < 0.5))
    segments = segment_bins(judged_segments(tracking, given, truth, others))
    return RepairScores(mask_scores(given, truth), repaired, cells, segments, _object_bins(tracking, truth))


def segment_bins(segments: Sequence[JudgedSegment]) -> tuple[PromiseBin, ...]:
    """Judged segments in bins of P(segment)."""
    return promise_bins(
        np.array([each.probability for each in segments]), np.array([each.right for each in segments], np.bool_)
    )


def _object_bins(tracking: Tracking, truth: Truth) -> tuple[PromiseBin, ...]:
    cells, covered = tracking.cells, HeldCells.of(tracking.movie, truth).covered
    position = tracking.block.frame_of.tolist()
    right = np.array([label in covered[t] for t, label in zip(position, cells.label.tolist(), strict=True)], np.bool_)
    known = ~np.isnan(cells.p_cell)
    return promise_bins(cells.p_cell[known], right[known])
