"""Edges across gaps, given what a person decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dunno.errors import DecisionError
from dunno.lineage.tracks import LONGEST
from dunno.review.constraints import index_of
from dunno.review.decisions import MOTHER, Decision
from dunno.types import Bools, Detections, Floats, GapEdges, PairPosterior


@dataclass(frozen=True)
class Found:
    """A frame of the output.

    Attributes:
        t: Its place among the frames.
        cells: Its cells.
    """

    t: int
    cells: Detections


def across_gaps(
    pair: PairPosterior,
    before: Floats,
    decisions: Sequence[Decision],
    taken: Bools,
    find: Callable[[int], Found] | None,
) -> GapEdges | None:
    """Edges across gaps: none for daughters who are decided on or linked here; for others, their share of no mother here.

    Args:
        pair: The pair given the decisions.
        before: (n,) its `log_no_mother` before them.
        decisions: Those in force.
        taken: (n,) daughters who are decided on, or linked in the pair.
        find: Finds a frame.
    """
    gaps = pair.gaps if pair.gaps is None else _shared_again(pair, pair.gaps, before, taken)
    gaps = gaps if gaps is None else _without_false(pair, gaps, decisions)
    for decision in decisions:
        far = decision.kind == MOTHER and decision.mother_frame not in (None, pair.mother_frame)
        if far and decision.frame == pair.daughter_frame and find is not None:
            gaps = _with_mother(pair, gaps, decision, find)
    return gaps


def _shared_again(pair: PairPosterior, gaps: GapEdges, before: Floats, taken: Bools) -> GapEdges:
    with np.errstate(invalid="ignore"):
        more = np.nan_to_num((pair.log_no_mother - before)[gaps.daughter], nan=0.0, posinf=0.0)
    own = taken[gaps.daughter]
    impossible = own & np.isneginf(pair.log_no_mother)[gaps.daughter]
    return replace(
        gaps,
        log_probability=np.where(impossible, -np.inf, gaps.log_probability + more),
        selected=gaps.selected & ~own,
    )


def _without_false(pair: PairPosterior, gaps: GapEdges, decisions: Sequence[Decision]) -> GapEdges:
    """Edges from or to masks that are no cells are impossible."""
    false = np.zeros(len(gaps), np.bool_)
    labels = pair.daughters.label[gaps.daughter]
    for decision in decisions:
        if decision.is_false:
            false |= (gaps.mother_frame == decision.frame) & (gaps.mother_label == decision.label)
            false |= (labels == decision.label) & (decision.frame == pair.daughter_frame)
    if not false.any():
        return gaps
    return replace(
        gaps, log_probability=np.where(false, -np.inf, gaps.log_probability), selected=gaps.selected & ~false
    )


def _with_mother(
    pair: PairPosterior, gaps: GapEdges | None, decision: Decision, find: Callable[[int], Found]
) -> GapEdges:
    """The decided link across a gap, and no other one of its daughter."""
    frame, label = int(decision.mother_frame or 0), int(decision.mother or 0)
    earlier, here = find(frame), find(pair.daughter_frame)
    skipped = here.t - earlier.t - 1
    if skipped >= LONGEST:
        raise DecisionError(f"a link across {skipped} frames; {LONGEST - 1} can be skipped at most")
    daughter, mother = index_of(pair.daughters, decision.label), index_of(earlier.cells, label)
    if gaps is not None:
        own = gaps.daughter == daughter
        gaps = replace(
            gaps, log_probability=np.where(own, -np.inf, gaps.log_probability), selected=gaps.selected & ~own
        )
        gaps = gaps.only(~(own & (gaps.mother_frame == frame) & (gaps.mother == mother)))
    cost = float(pair.cost[np.isfinite(pair.cost)].max(initial=0.0))
    frame_of, index, label_of, own_index, gap = (np.array([n]) for n in (frame, mother, label, daughter, skipped))
    sure = (np.array([cost]), np.zeros(1), np.ones(1, np.bool_))
    new = GapEdges(frame_of, index, label_of, own_index, gap, *sure)
    if gaps is None:
        return new
    names = [each.name for each in fields(gaps) if each.name != "weights"]  # which `only` has left out
    columns: dict[str, Any] = {name: np.concatenate([getattr(gaps, name), getattr(new, name)]) for name in names}
    return GapEdges(**columns)
