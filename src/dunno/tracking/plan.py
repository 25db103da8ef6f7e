"""What is decided before the first pair is tracked, and the fit of the motion model to the movie itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dunno.calibration.motion_model import Field, MotionPair
from dunno.calibration.self_calibration import find_fit
from dunno.costs import Cost
from dunno.errors import MovieError
from dunno.io.links import Links
from dunno.methods import Method
from dunno.perturbations import Perturbation
from dunno.tracking.blocks import BLOCK, Block
from dunno.tracking.gate import find_candidates
from dunno.types import Detections, Floats, FramePair, Movie
from dunno.types.detections import typical_diameter
from dunno.work.progress import Tell
from dunno.work.schedule import in_order


@dataclass(frozen=True)
class Plan:
    """Everything that is decided before the first pair is tracked."""

    cost: Cost
    method: Method
    perturbation: Perturbation | None
    gate: float
    max_distance: float
    appear_cost: float | None
    disappear_cost: float | None
    divide_cost: float | None
    no_mother: bool
    seed: int
    links: Links | None
    calibration: Any

    @property
    def window(self) -> int:
        """How many frames around a pair its cost looks at; 0 if just the two."""
        return int(getattr(self.cost, "window", None) or 0)


FIT_PAIRS, FIT_CELLS = 100, 10_000
"""How much of the movie, spread over it, a self-calibration looks at: frame pairs, and mothers in them."""

TAIL_BEYOND = 1e-3
"""Share of displacements that may be longer than the gate; one that cuts more would make cells look slower."""

WIDENINGS = 3

THREADED_CROWD = 500
"""Cells per frame above which the fit's steps run in threads; below, they would mostly wait for Python's lock."""


class SeenPair(NamedTuple):
    """What a fit needs of a frame pair, whatever the gate: its cells without pixels, and the mothers' spread."""

    mothers: Detections
    daughters: Detections
    spread: Floats

    def within(self, gate: float) -> MotionPair:
        """The pair with its candidates."""
        return MotionPair.between(
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
    """Fit the motion model to the movie itself, widening the gate until it cuts next to nothing of the motion's tail.

    Frames are read by the executor, once; the fit runs in threads here: it goes over the same few megabytes again and again.
    """
    seen = see_pairs(plan.cost, movie, executor, workers, tell)
    cells = _by_frame(seen)
    field = Field.around([each for each in cells if len(each)] or cells)
    size = typical_diameter(cells)
    widest = 3 * plan.gate
    crowd = float(np.mean([len(pair.mothers) for pair in seen]))
    with ThreadPoolExecutor(workers, thread_name_prefix="dunno-fit") as threads:
        each = _telling(threads.map if crowd > THREADED_CROWD else map, tell)
        for _ in range(WIDENINGS):
            pairs = [pair.within(plan.gate) for pair in seen]
            found = find_fit(pairs, field, size, each)
            spreads = np.concatenate([pair.spread for pair in pairs])
            needed = found.model.reach(TAIL_BEYOND) * np.sqrt(np.median(spreads) if len(spreads) else 1.0)
            if not may_widen or needed <= plan.gate or plan.gate >= widest:
                break
            plan = replace(plan, gate=min(float(needed), widest))
        return replace(plan, calibration=found.calibration(about, each))


def _telling(apply: Callable[..., Any], tell: Tell) -> Callable[..., list[Any]]:
    """A `map` that returns a list and tells how often it was called."""
    rounds = 0

    def each(function: Callable[..., Any], *items: Any) -> list[Any]:
        nonlocal rounds
        rounds += 1
        tell("fitting the motion model, rounds", rounds, 0)
        return list(apply(function, *items))

    return each


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
