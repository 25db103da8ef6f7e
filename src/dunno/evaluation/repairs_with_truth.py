"""Repaired masks beside the given ones: how well they detect and outline cells, and whether what is said of them is true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dunno.evaluation.held_cells import HeldCells
from dunno.evaluation.judged_segments import JudgedSegment, PromiseBin, judged_segments, promise_bins
from dunno.evaluation.mask_scores import MaskScores, mask_scores
from dunno.io.output import SegmentRow
from dunno.tracking import Tracking
from dunno.types import Movie, Truth


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
