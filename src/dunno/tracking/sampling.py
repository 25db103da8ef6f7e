"""Some frames of a movie, in runs of consecutive ones spread over it: what fits and tests look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from dunno.calibration.kinds.model import transition_of
from dunno.costs import Cost
from dunno.errors import MovieError
from dunno.models import Fit, find_fit
from dunno.models.model import Model
from dunno.tracking.gate import find_candidates
from dunno.tracking.plan import BLOCK, frames_around
from dunno.types import Detections, Floats, FramePair, Ints, Movie
from dunno.types.clock import usual_steps
from dunno.types.detections import typical_diameter
from dunno.types.field import Field
from dunno.types.stage import stage_between
from dunno.types.stretch import Stretch, Transition
from dunno.work.progress import Tell
from dunno.work.schedule import Pool, in_order

MOST_FRAMES, MOST_CELLS = 100, 10_000  # frames, cells; benchmarks.fit
"""How much of a movie is looked at."""

GROWS, MORE_CELLS = 10.0, 3  # times; benchmarks.embryo
"""Where cells become so many times as many, motion changes with their age: so many times as much is looked at."""

MOST_MOTHERS_FITTED = 16  # mothers; benchmarks.bounds
"""Candidates of a daughter in a fit: what it looks at is kept in memory as a whole, and farther ones hardly change it."""

FRAMES_PER_RUN = 6  # frames; judged: skipping looks four steps ahead
"""Consecutive frames in a run, where not all are looked at."""

TAIL_BEYOND = 1e-3  # share; judged
"""Share of displacements that may be longer than the gate; one that cuts more would make cells look slower."""

WIDENINGS = 3  # times; judged; how often a gate that cuts is doubled


@dataclass(frozen=True, eq=False)
class Sample:
    """Some frames of a movie."""

    cells: Mapping[int, Detections]  # Each frame's cells without pixels, by position in the movie
    cost: Cost | None  # What links are judged by; a motion cost that needs pixels sees its frames again
    movie: Movie  # The movie

    @property
    def frames(self) -> list[Detections]:
        """The frames' cells, in order."""
        return [self.cells[t] for t in sorted(self.cells)]

    @property
    def field(self) -> Field:
        """The box in which cells are seen."""
        frames = self.frames
        return Field.around([each for each in frames if len(each)] or frames)

    @cached_property
    def cell_size(self) -> float:
        """A typical diameter."""
        return typical_diameter(self.frames)

    @cached_property
    def first_row(self) -> dict[int, int]:
        """By original index of a frame, the row of its first cell in a table of all cells of the sample."""
        frames = self.frames
        ends = np.cumsum([0, *(len(each) for each in frames)]).tolist()
        return {each.frame: end for each, end in zip(frames, ends, strict=False)}

    @property
    def n_rows(self) -> int:
        """How many cells there are."""
        return sum(len(each) for each in self.cells.values())

    def rows(self, stretch: Stretch) -> Ints:
        """(N,) the rows of a stretch's cells in the table of all cells of the sample."""
        parts = [self.first_row[each.frame] + np.arange(len(each)) for each in stretch.cells]
        return np.concatenate(parts).astype(np.int64)

    def jumps(self, step: int) -> list[tuple[int, int]]:
        """Frames `step` apart between which all are in the sample: positions of the earlier and the later one.

        Steps that take longer than usual, or shorter, are left out.
        """
        usual = usual_steps(self.movie.clock, len(self.movie))
        whole = [t for t in sorted(self.cells) if all(t + k in self.cells for k in range(1, step + 1))]
        return [(t, t + step) for t in whole if usual[t : t + step].all()]

    def stretch(self, jumps: list[tuple[int, int]], gate: float) -> Stretch:
        """The transitions between some frames, with candidates within the gate."""
        return Stretch.of([self._transition(early, late, gate) for early, late in jumps])

    @cached_property
    def _stages(self) -> dict[int, Floats]:
        """By position, by how much the stage jumped until the next frame; only where it did."""
        found = {t: stage_between(self.cells[t], self.cells[t + 1]) for t in self.cells if t + 1 in self.cells}
        return {t: stage for t, stage in found.items() if stage is not None}

    def stage(self, early: int, late: int) -> Floats | None:
        """By how much the stage jumped from one frame to another, all steps between together."""
        jumped = [self._stages[t] for t in range(early, late) if t in self._stages]
        return np.asarray(np.sum(jumped, axis=0)) if jumped else None

    def _transition(self, early: int, late: int, gate: float) -> Transition:
        mothers, daughters = self.cells[early], self.cells[late]
        stage = self.stage(early, late)
        candidates = find_candidates(mothers, daughters, gate, stage, MOST_MOTHERS_FITTED)
        if self.cost is None or (self.cost.is_motion and not self.cost.needs_pixels):
            return Transition(mothers, daughters, candidates, np.ones(len(mothers)), stage=stage)
        found = transition_of(self._pair(early, late, gate), candidates, self.cost)
        return found._replace(mothers=mothers, daughters=daughters, stage=stage)

    def _pair(self, early: int, late: int, gate: float) -> FramePair:
        """Two frames with their pixels, and those around them for a cost that asks for them."""
        step, window = late - early, 0 if self.cost is None else self.cost.window
        view = self.movie.part(slice(early % step, None, step))
        around = frames_around(early // step, max(window, 2), len(view))
        frames = {t: view.detections(t) for t in around}
        pair = frames[early // step], frames[early // step + 1]
        return FramePair(*pair, gate, self.movie.scale, tuple(frames.values()) if window else ())


def fit_sample(
    sample: Sample, step: int, gate: float, may_widen: bool, tell: Tell, divisions: bool = True
) -> tuple[Fit, float]:
    """Fit a model at a frame step, widening the gate until it cuts next to nothing of the motion's tail."""
    field, size, widest = sample.field, sample.cell_size, 3 * gate
    for _ in range(WIDENINGS):
        stretch = sample.stretch(sample.jumps(step), gate)
        fit = find_fit(stretch, field, size, lambda rounds: tell("fitting the model, rounds", rounds, 0), divisions)
        needed = reach_of(fit.model, stretch)
        if not may_widen or needed <= gate or gate >= widest:
            break
        gate = min(needed, widest)
    return fit, gate


def reach_of(model: Model, stretch: Stretch) -> float:
    """How far next to all of a stretch's cells move at the most."""
    spread = stretch.spread[stretch.is_mother]
    reach = model.reach(TAIL_BEYOND)
    return float(reach * np.sqrt(np.median(spread) if len(spread) else 1.0))


def take_sample(cost: Cost | None, movie: Movie, pool: Pool, tell: Tell) -> Sample:
    """Read some frames spread over the movie; those that cannot be read are passed over."""
    runs = _runs(movie)
    cells: dict[int, Detections] = {}
    problem: MovieError | None = None
    total = sum(len(run) for run in runs)
    tell("reading frames", 0, total)
    for found, wrong in in_order(_read, _pieces(movie, runs), pool):
        cells |= found
        problem = problem or wrong
        tell("reading frames", len(cells), total)
    sample = Sample(cells, cost, movie)
    if problem is not None and 2 * len(sample.jumps(1)) < sum(len(run) - 1 for run in runs):
        raise problem
    return sample


def _runs(movie: Movie) -> list[range]:
    """The frames to look at: all of a short movie, else runs that are spread evenly."""
    n = len(movie)
    first, crowd, last = (max(_crowd(movie, t), 1) for t in (0, (n - 1) // 2, n - 1))
    more = MORE_CELLS if last > GROWS * first or first > GROWS * last else 1
    most = max(min(MOST_FRAMES, more * MOST_CELLS // crowd), 2 * FRAMES_PER_RUN)
    if n <= most:
        return [range(n)]
    starts = np.unique(np.linspace(0, n - FRAMES_PER_RUN, most // FRAMES_PER_RUN).astype(int)).tolist()
    return [range(start, start + FRAMES_PER_RUN) for start in starts]


def _pieces(movie: Movie, runs: list[range]) -> Iterator[tuple[int, Movie]]:
    """Runs cut into what one worker reads at a time: its first position, and the frames."""
    for run in runs:
        edges = [*range(run.start, run.stop, BLOCK), run.stop]
        yield from ((first, movie.part(slice(first, last))) for first, last in pairwise(edges))


def _crowd(movie: Movie, t: int) -> int:
    """How many cells a frame has, or the first one where it cannot be read; 0 where neither can."""
    for frame in (t, 0):
        try:
            return len(movie.detections(frame))
        except MovieError:
            continue
    return 0


def _read(piece: tuple[int, Movie]) -> tuple[dict[int, Detections], MovieError | None]:
    """Some frames' cells by position, and what was wrong with one that is left out."""
    first, movie = piece
    found, problem = {}, None
    for t in range(len(movie)):
        try:
            found[first + t] = replace(movie.detections(t).without_pixels(), time=None)  # fits see usual steps
        except MovieError as error:
            problem = problem or error
    return found, problem
