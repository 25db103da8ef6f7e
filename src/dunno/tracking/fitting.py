"""The fit of a model to the movie itself: some frame pairs spread over it, seen once and fitted together."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dunno.calibration import ModelCalibration
from dunno.costs import Cost
from dunno.errors import DunnoWarning, MovieError
from dunno.models import Fit, find_fit
from dunno.tracking.blocks import BLOCK, Block
from dunno.tracking.gate import find_candidates
from dunno.tracking.plan import Plan
from dunno.types import Detections, Floats, FramePair, Movie
from dunno.types.detections import typical_diameter
from dunno.types.field import Field
from dunno.types.stretch import Stretch, Transition
from dunno.work.progress import Tell
from dunno.work.schedule import in_order

FIT_PAIRS, FIT_CELLS = 100, 10_000
"""How much of the movie, spread over it, a self-calibration looks at: frame pairs, and mothers in them."""

TAIL_BEYOND = 1e-3
"""Share of displacements that may be longer than the gate; one that cuts more would make cells look slower."""

WIDENINGS = 3


class SeenPair(NamedTuple):
    """What a fit needs of a frame pair, whatever the gate: its cells without pixels, and the mothers' spread."""

    mothers: Detections
    daughters: Detections
    spread: Floats

    def within(self, gate: float) -> Transition:
        """The pair with its candidates."""
        return Transition(
            self.mothers, self.daughters, find_candidates(self.mothers, self.daughters, gate), self.spread
        )


def fit_plan(
    plan: Plan,
    movie: Movie,
    about: Mapping[str, Any],
    *,
    may_widen: bool,
    executor: Executor,
    workers: int,
    tell: Tell,
) -> Plan:
    """Fit a model to the movie itself, widening the gate until it cuts next to nothing of the motion's tail.

    Frames are read by the executor, once; the fit goes over the same few megabytes again and again, here.
    """
    seen = see_pairs(plan.cost, movie, executor, workers, tell)
    cells = _by_frame(seen)
    field = Field.around([each for each in cells if len(each)] or cells)
    size = typical_diameter(cells)
    widest = 3 * plan.gate
    for _ in range(WIDENINGS):
        stretch = Stretch.of([pair.within(plan.gate) for pair in seen])
        fit = find_fit(stretch, field, size, lambda rounds: tell("fitting the model, rounds", rounds, 0))
        spreads = stretch.spread[stretch.is_mother]
        reach = fit.model.term("motion").reach(TAIL_BEYOND, field.n_dimensions)
        needed = reach * np.sqrt(np.median(spreads) if len(spreads) else 1.0)
        if not may_widen or needed <= plan.gate or plan.gate >= widest:
            break
        plan = replace(plan, gate=min(float(needed), widest))
    if not fit.converged and not fit.problems:
        warnings.warn("the fit of the model stopped before it converged", DunnoWarning, stacklevel=2)
    return replace(plan, calibration=calibration_of(fit, about))


def calibration_of(fit: Fit, about: Mapping[str, Any]) -> ModelCalibration:
    """A fit as a calibration, ready to be used."""
    frames = fit.best.expected.stretch.transition_frame.tolist() if fit.varies else []
    return ModelCalibration(
        model=fit.model,
        fitted="self",
        frames=tuple(frames),
        courses=fit.courses(),
        problems=fit.problems,
        intervals=fit.intervals(),
        summary=fit.summary(),
        fitted_for=dict(about),
    )


def see_pairs(cost: Cost | None, movie: Movie, executor: Executor, workers: int, tell: Tell) -> list[SeenPair]:
    """See some pairs spread over the movie; those with a frame that cannot be read are passed over."""
    starts = _sampled(movie)
    seen: list[SeenPair] = []
    problem: MovieError | None = None
    tell("reading frames", 0, len(starts))
    for found, wrong in in_order(partial(_see, cost), _runs(movie, starts), executor, 2 * workers):
        seen += found
        problem = problem or wrong
        tell("reading frames", len(seen), len(starts))
    if problem is not None and 2 * len(seen) < len(starts):
        raise problem
    return seen


def _sampled(movie: Movie) -> list[int]:
    """The first frames of the pairs that a fit looks at."""
    n = len(movie) - 1
    crowd = max(_crowd(movie, n // 2), 1)
    most = min(FIT_PAIRS, max(FIT_CELLS // crowd, 10), n)
    starts: list[int] = np.unique(np.linspace(0, n - 1, most).astype(int)).tolist()
    return starts


def _crowd(movie: Movie, t: int) -> int:
    """How many cells a frame has, or the first one where it cannot be read."""
    try:
        return len(movie.detections(t))
    except MovieError:
        return len(movie.detections(0))


def _runs(movie: Movie, starts: list[int]) -> Iterator[Block]:
    """Cut pairs into blocks of consecutive ones, so that frames are read once."""
    breaks = [0, *(i for i in range(1, len(starts)) if starts[i] != starts[i - 1] + 1), len(starts)]
    for begin, end in pairwise(breaks):
        for first in range(begin, end, BLOCK):
            n = min(BLOCK, end - first)
            yield Block(movie.part(slice(starts[first], starts[first] + n + 1)), 0, n)


def _see(cost: Any, block: Block) -> tuple[list[SeenPair], MovieError | None]:
    """See a block's pairs, and what was wrong with one that is left out."""
    try:
        return [
            SeenPair(pair.mothers.without_pixels(), pair.daughters.without_pixels(), _spread(cost, pair))
            for pair in block.pairs(0, np.inf)
        ], None
    except MovieError as error:
        if block.n_pairs == 1:
            return [], error
        alone = [_see(cost, Block(block.movie.part(slice(t, t + 2)), 0, 1))[0] for t in range(block.n_pairs)]
        return [pair for found in alone for pair in found], error


def _spread(cost: Any, pair: FramePair) -> Floats:
    return np.ones(len(pair.mothers)) if cost is None else np.asarray(cost.spread(pair))


def _by_frame(seen: list[SeenPair]) -> list[Detections]:
    """Every frame's cells, once, in order."""
    frames = {cells.frame: cells for pair in seen for cells in (pair.mothers, pair.daughters)}
    return [frames[frame] for frame in sorted(frames)]


def seen_field(movie: Movie, executor: Executor, workers: int, tell: Tell) -> Field:
    """The box in which the movie shows cells."""
    return Field.around(_by_frame(see_pairs(None, movie, executor, workers, tell)))
