"""Blocks of an output whose masks are judged, solved again under what a person said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from dunno.assignment import Marginals
from dunno.calibration import ModelCalibration, load_calibration
from dunno.calibration.kinds.model import transition_of
from dunno.errors import DunnoError
from dunno.lineage.gaps import one_link_each
from dunno.lineage.tracks import LONGEST
from dunno.models.masks import solve_masks
from dunno.models.model import Model
from dunno.review.clamping import Clamps, Edge, clamped
from dunno.review.constraints import Constraints, constrained, with_decided_edges
from dunno.review.decisions import MOTHER, Decision
from dunno.review.far import Found, across_gaps
from dunno.review.retracking import plan_of
from dunno.review.statements import constraints_of
from dunno.runs.workspace import CALIBRATION_FILE
from dunno.tracking.blocks import Block, blocks_of
from dunno.tracking.candidates import candidates_of
from dunno.tracking.gate import merge
from dunno.tracking.masks import told, with_gap_edges
from dunno.tracking.plan import Plan
from dunno.tracking.telling import tell_pairs
from dunno.types import Candidates, FramePair, Held, Movie, PairPosterior, RunInfo
from dunno.types.stretch import Stretch

Get = Callable[[int], PairPosterior]
Find = Callable[[int], Found]


@dataclass(frozen=True)
class Said:
    """What was said about a block's pairs.

    Attributes:
        decisions: Those in force in any of its pairs.
        constraints: By pair.
    """

    decisions: Sequence[Decision]
    constraints: dict[int, Constraints]


class MaskBlocks:
    """Solves a block again; only for outputs whose own model judges masks.

    Args:
        plan: How the output was tracked.
        movie: Opens the movie, of whose cells nothing is read but their table.
    """

    def __init__(self, plan: Plan, movie: Callable[[], Movie]) -> None:
        self._plan = plan
        self._movie = movie
        self._blocks: list[Block] | None = None

    @property
    def size(self) -> int:
        """How many pairs are solved together."""
        return self._plan.block

    @classmethod
    def of(cls, folder: Path, about: RunInfo, movie: Callable[[], Movie]) -> MaskBlocks | None:
        """Those of an output; `None` where its masks are not judged, or the links are somebody else's."""
        if about.links is not None or not about.judges_masks:
            return None
        return cls(plan_of(about, load_calibration(folder / CALIBRATION_FILE)), movie)

    def opened(self) -> bool:
        """Whether the movie is there; without it, its frame pairs are taken one by one."""
        if self._blocks is None:
            try:
                self._blocks = list(blocks_of(self._movie(), self._plan.window, self.size, self._plan.halo))
            except DunnoError:
                self._blocks = []
        return bool(self._blocks)

    def solve(self, pairs: range, decisions: Sequence[Decision], get: Get, find: Find) -> dict[int, PairPosterior]:
        """The pairs of a block given decisions; `DecisionError` where they contradict each other.

        Args:
            pairs: Its numbers.
            decisions: Those in force in any of them.
            get: A pair as it was tracked.
            find: Finds a frame.
        """
        assert self._blocks is not None
        block = self._blocks[pairs.start // self.size]
        own = {t: with_decided_edges(get(t), decisions) for t in pairs}
        said = Said(decisions, {t: constraints_of(pair, decisions) for t, pair in own.items()})
        solved = self._solved(block, pairs, said, find)
        before = [get(t) for t in range(max(pairs.start - LONGEST, 0), pairs.start)]
        linked = list(one_link_each(chain(before, solved)))[len(before) :]
        return {t: finished(pair, said.constraints[t], decisions, find) for t, pair in zip(pairs, linked, strict=True)}

    def _solved(self, block: Block, pairs: range, said: Said, find: Find) -> list[PairPosterior]:
        plan, calibration = self._plan, self._plan.calibration
        assert isinstance(calibration, ModelCalibration)
        offset = pairs.start - block.first
        frames = list(replace(block, first=0, n_pairs=len(block.movie) - 1).pairs(plan.window, plan.max_distance))
        parts = [
            transition_of(pair, self._candidates(pair, said.constraints.get(offset + r)), plan.cost)
            for r, pair in enumerate(frames)
        ]
        model, stretch = calibration.posed(Stretch.of(parts))
        clamps = clamps_of(stretch, said, offset, find)
        stretch, pairwise = with_gap_edges(model, stretch, plan.gate)
        stretch, pairwise = _with_edges(model, stretch, pairwise, clamps.edges)
        tempering = calibration.softening.tempering
        solution = solve_masks(model, stretch, pairwise, tempering, clamp=partial(clamped, clamps=clamps))
        own = range(block.first, block.first + block.n_pairs)
        return tell_pairs(told(solution), own, calibration.apply)

    def _candidates(self, pair: FramePair, said: Constraints | None) -> Candidates:
        found = candidates_of(self._plan, pair)
        if said is None:
            return found
        for mother in (np.where(said.third, -1, said.mother), said.also):
            daughter = np.flatnonzero(mother >= 0)
            found = merge(found, Candidates(mother[daughter], daughter), len(pair.mothers))
        return found


def clamps_of(stretch: Stretch, said: Said, offset: int, find: Find) -> Clamps:
    """What was said, by rows of a stretch whose first transition is pair number `offset`."""
    clamps = Clamps()
    begin = np.searchsorted(stretch.row_frame, np.arange(len(stretch.frames) + 1)).tolist()
    for t, each in said.constraints.items():
        early, late = stretch.transitions[t - offset].tolist()
        clamps.take(each, begin[early], begin[late], _far(stretch, begin, late, said.decisions, offset, find))
    return clamps


def _far(
    stretch: Stretch, begin: list[int], late: int, decisions: Sequence[Decision], offset: int, find: Find
) -> dict[int, Edge]:
    """By daughter of a frame, the decided edge across a gap, where its mother is in the stretch."""
    found, frame = {}, int(stretch.frames[late])
    for decision in decisions:
        if decision.kind == MOTHER and decision.mother_frame is not None and decision.frame == frame:
            earlier = find(decision.mother_frame).t - offset
            if 0 <= earlier < late - 1:
                mother = int(np.searchsorted(stretch.cells[earlier].label, decision.mother or 0))
                daughter = int(np.searchsorted(stretch.cells[late].label, decision.label))
                found[daughter] = (begin[earlier] + mother, begin[late] + daughter)
    return found


def _with_edges(
    model: Model, stretch: Stretch, pairwise: Marginals, edges: Sequence[Edge]
) -> tuple[Stretch, Marginals]:
    """The stretch with decided edges, none of which is too unlikely to be looked at."""
    mother, daughter = np.array(edges, np.int64).reshape(-1, 2).T
    lag = stretch.row_frame[daughter] - stretch.row_frame[mother]
    key = stretch.mother * stretch.n_rows + stretch.daughter
    longest = model.term("missed").max_gap + 1 if model.has("missed") else 1  # beyond, nothing tells what a gap costs
    new = ~np.isin(mother * stretch.n_rows + daughter, key) & (lag > 1) & (lag <= longest)
    if new.any():
        stretch = stretch.with_gaps(mother[new], daughter[new], lag[new])
    key = stretch.mother * stretch.n_rows + stretch.daughter
    edge = np.concatenate([pairwise.edge, np.ones(int(new.sum()))])
    edge[np.isin(key, mother * stretch.n_rows + daughter)] = 1.0
    return stretch, replace(pairwise, edge=edge)


def finished(pair: PairPosterior, said: Constraints, decisions: Sequence[Decision], find: Find) -> PairPosterior:
    """A pair that was solved under constraints with exact ones and zeros where a person decided."""
    if said.is_empty:
        nobody = np.zeros(len(pair.daughters), np.bool_)
        return replace(pair, gaps=across_gaps(pair, pair.log_no_mother, decisions, nobody, find))
    pair = with_decided_edges(pair, decisions)
    before = pair.log_no_mother
    decided = (said.mother[pair.daughter] == pair.mother) | (said.also[pair.daughter] == pair.mother)
    open_second = said.two & (said.also < 0)
    fixed = (said.settled & ~open_second)[pair.daughter]
    shares = np.isin(
        np.arange(len(said.disappears)), said.also
    )  # a mother with a cell in a mask of two may have another
    gone = (said.disappears & ~shares)[pair.mother]
    log_probability = np.where(decided, 0.0, np.where(fixed | gone, -np.inf, pair.log_probability))
    none = np.where(said.settled, np.where(said.mother < 0, 0.0, -np.inf), before)
    selected = decided | (pair.selected & ~fixed & ~gone)
    assert pair.log_disappear is not None and pair.log_divide is not None and pair.problem is not None
    lost = np.where(said.divides | (said.confirmed > 0) | said.goes_on, -np.inf, pair.log_disappear)
    single = said.single | (said.disappears & ~shares)
    pair = replace(
        pair,
        log_probability=log_probability,
        log_no_mother=none,
        entropy=np.where(said.settled & ~open_second, 0.0, pair.entropy),
        selected=selected,
        log_disappear=np.where(said.disappears & ~said.goes_on, 0.0, lost),
        log_divide=np.where(said.divides, 0.0, np.where(single, -np.inf, pair.log_divide)),
        problem=constrained(pair.problem, said),
        daughters_held=_held(pair.daughters_held, said.false, said.two, said.mother >= 0),
        mothers_held=_held(pair.mothers_held, said.mother_false, said.mother_two, said.confirmed > 0),
        reviewed=said.settled | said.two,
    )
    linked = np.zeros(len(pair.daughters), np.bool_)
    linked[pair.daughter[selected]] = True
    return replace(pair, gaps=across_gaps(pair, before, decisions, said.settled | linked, find))


def _held(held: Held | None, false: Any, two: Any, cell: Any) -> Held | None:
    """How many cells masks hold, where a person said so, and as the model says elsewhere."""
    if held is None:
        return None
    return Held(
        np.where(false, 1.0, np.where(two | cell, 0.0, held.p_false)),
        np.where(two, 1.0, np.where(false, 0.0, held.p_two)),
    )
