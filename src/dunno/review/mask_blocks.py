"""Blocks of an output whose masks are judged, solved again under what a person said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from dunno.assignment import Marginals
from dunno.calibration import ModelCalibration, load_calibration
from dunno.calibration.kinds.model import transition_of
from dunno.errors import DunnoError
from dunno.models.masks import solve_masks
from dunno.models.model import Model
from dunno.review.clamping import Clamps, Edge, clamped
from dunno.review.constraints import Constraints, constrained, with_decided_edges
from dunno.review.decisions import Decision
from dunno.review.retracking import plan_of
from dunno.review.statements import constraints_of
from dunno.runs.workspace import CALIBRATION_FILE
from dunno.tracking.candidates import candidates_of
from dunno.tracking.gate import merge
from dunno.tracking.masks import block_of_masks, with_gap_edges
from dunno.tracking.plan import Plan
from dunno.tracking.spans import Span, spans_of
from dunno.types import Block, Candidates, FramePair, Movie, RunInfo
from dunno.types.stretch import Stretch


class MaskBlocks:
    """Solves a block again; only for outputs whose own model judges masks.

    Args:
        plan: How the output was tracked.
        movie: Opens the movie, of whose cells nothing is read but their table.
    """

    def __init__(self, plan: Plan, movie: Callable[[], Movie]) -> None:
        self._plan = plan
        self._movie = movie
        self._spans: list[Span] | None = None

    @classmethod
    def of(cls, folder: Path, about: RunInfo, movie: Callable[[], Movie]) -> MaskBlocks | None:
        """Those of an output; `None` where its masks are not judged, or the links are somebody else's."""
        if about.links is not None or not about.judges_masks:
            return None
        return cls(plan_of(about, load_calibration(folder / CALIBRATION_FILE)), movie)

    def opened(self) -> bool:
        """Whether the movie is there; without it, its frame pairs are taken one by one."""
        if self._spans is None:
            try:
                self._spans = list(spans_of(self._movie(), self._plan.window, self._plan.block, self._plan.halo))
            except DunnoError:
                self._spans = []
        return bool(self._spans)

    def solve(self, pairs: range, decisions: Sequence[Decision], stored: Block) -> Block:
        """A block given decisions; `DecisionError` where they contradict each other.

        Args:
            pairs: The numbers of its pairs.
            decisions: Those in force in any of them.
            stored: The block as it was tracked.
        """
        assert self._spans is not None
        span = self._spans[pairs.start // self._plan.block]
        plan, calibration = self._plan, self._plan.calibration
        assert isinstance(calibration, ModelCalibration)
        own = with_decided_edges(stored, decisions)
        said = constraints_of(own, decisions)
        frames = list(replace(span, first=0, n_pairs=len(span.movie) - 1).pairs(plan.window, plan.max_distance))
        parts = [transition_of(pair, _candidates(plan, pair, own, said), plan.cost) for pair in frames]
        model, stretch = calibration.posed(Stretch.of(parts))
        first = int(np.searchsorted(stretch.frames, own.frames[0]))
        clamps = Clamps.of(said, own, int(np.searchsorted(stretch.row_frame, first)))
        stretch, pairwise = _with_edges(model, *with_gap_edges(model, stretch, plan.gate), clamps.edges)
        tempering = calibration.softening.tempering
        solution = solve_masks(model, stretch, pairwise, tempering, clamp=partial(clamped, clamps=clamps))
        found = calibration.apply(block_of_masks(solution, range(span.first, span.first + span.n_pairs)))
        return finished(found, decisions)


def _candidates(plan: Plan, pair: FramePair, block: Block, said: Constraints) -> Candidates:
    """The pair's candidates, and what was decided."""
    found = candidates_of(plan, pair)
    t = int(np.searchsorted(block.frames, pair.daughters.frame))
    if t not in block.own or block.frames[t] != pair.daughters.frame:
        return found
    mothers, daughters = block.rows(t - 1), block.rows(t)
    for decided in (np.where(said.third, -1, said.mother), said.also):
        own = decided[daughters]
        daughter = np.flatnonzero((own >= mothers.start) & (own < mothers.stop))
        found = merge(found, Candidates(own[daughter] - mothers.start, daughter), len(pair.mothers))
    return found


def _with_edges(
    model: Model, stretch: Stretch, pairwise: Marginals, edges: Sequence[Edge]
) -> tuple[Stretch, Marginals]:
    """The stretch with decided edges, none of which is too unlikely to be looked at."""
    mother, daughter = np.array(edges, np.int64).reshape(-1, 2).T
    lag = stretch.row_frame[daughter] - stretch.row_frame[mother]
    key = stretch.mother * stretch.n_rows + stretch.daughter
    longest = model.max_gap + 1  # beyond, nothing tells what a gap costs
    new = ~np.isin(mother * stretch.n_rows + daughter, key) & (lag > 1) & (lag <= longest)
    if new.any():
        stretch = stretch.with_gaps(mother[new], daughter[new], lag[new])
    key = stretch.mother * stretch.n_rows + stretch.daughter
    edge = np.concatenate([pairwise.edge, np.ones(int(new.sum()))])
    edge[np.isin(key, mother * stretch.n_rows + daughter)] = 1.0
    return stretch, replace(pairwise, edge=edge)


def finished(solved: Block, decisions: Sequence[Decision]) -> Block:
    """A block that was solved under constraints with exact ones and zeros where a person decided."""
    block = with_decided_edges(solved, decisions)
    said = constraints_of(block, decisions)
    decided = (said.mother[block.daughter] == block.mother) | (said.also[block.daughter] == block.mother)
    open_second = said.two & (said.also < 0)
    settled = said.settled & ~open_second
    shares = np.isin(np.arange(len(block.cells)), said.also)  # a mother with a cell in a mask of two may have another
    gone = (said.disappears & ~shares)[block.mother] | (said.missed[block.mother] & (block.gap == 0))
    excluded = (settled[block.daughter] | gone) & ~decided
    across = np.zeros(len(block.cells), np.bool_)
    across[block.daughter[decided & (block.gap > 0)]] = True
    no_mother = (said.mother < 0) | across
    none = np.where(said.settled, np.where(no_mother, 0.0, -np.inf), block.log_no_mother)
    lost = np.where(said.divides | (said.confirmed > 0) | said.goes_on | said.missed, -np.inf, block.log_disappear)
    single = said.single | (said.disappears & ~shares)
    daughters = np.isfinite(block.log_no_mother) | np.isneginf(block.log_no_mother)
    mothers = np.isfinite(block.log_disappear) | np.isneginf(block.log_disappear)
    cell = (said.mother >= 0) | (said.confirmed > 0)
    assert block.problem is not None
    return replace(
        block,
        log_probability=np.where(decided, 0.0, np.where(excluded, -np.inf, block.log_probability)),
        log_no_mother=np.where(daughters, none, block.log_no_mother),
        entropy=np.where(settled & daughters, 0.0, block.entropy),
        selected=decided | (block.selected & ~excluded),
        log_disappear=np.where(mothers, np.where(said.disappears & ~said.goes_on, 0.0, lost), block.log_disappear),
        log_divide=np.where(
            mothers, np.where(said.divides, 0.0, np.where(single, -np.inf, block.log_divide)), block.log_divide
        ),
        problem=constrained(block.problem, said, block.gap),
        p_false=np.where(said.false, 1.0, np.where(said.two | cell, 0.0, block.p_false)),
        p_two=np.where(said.two, 1.0, np.where(said.false, 0.0, block.p_two)),
        reviewed=(said.settled | said.two) & daughters,
        is_reviewed=True,
    )
