"""Whether masks may hold no cell, or two: fitted where skipping frames says that divisions are seen which are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dunno.assignment import Marginals
from dunno.calibration.evidence_trials import Trial
from dunno.calibration.kinds.model import ModelCalibration
from dunno.calibration.verdict import SkipTest, judge, sees_false_divisions
from dunno.models import Fit
from dunno.models.drift import with_drift
from dunno.models.expectation import maximise
from dunno.models.fit import kernel
from dunno.models.intervals import Intervals
from dunno.models.mask_doubt import division_doubt
from dunno.models.mask_fit import ROUNDS, fit_masks, more_rounds
from dunno.models.masks import Solution, with_masks
from dunno.models.model import Model
from dunno.terms.masks import Masks
from dunno.tracking.masks import with_gap_edges
from dunno.tracking.plan import MASK_HALO
from dunno.tracking.sampling import Sample
from dunno.types.stretch import Stretch
from dunno.work.progress import Tell

FIRST, MORE = (8_000, 10), (30_000, 20)
"""On how many cells the model of masks is fitted first, and in about how many frames in a row; and on how many then. As many runs
as there is room for, because rates change over a movie."""

GLANCE, GLANCE_ROUNDS, CLEARLY = (2_000, 8), 8, 2.0
"""On how many cells, in about how many frames in a row and in how many rounds it is fitted at a glance; masks are clean where the
share that is wrong lies below the least one by so many standard errors."""

TOGETHER = 30_000
"""Masks that are solved together: the more, the nearer to the whole movie's posterior, and the more memory it takes."""

MORE_ROUNDS = 5
"""Rounds on more cells, where the first ones were not all."""

FITTING = "judging masks"

KEPT_COURSES = ("motion_scale", "division_scale")
"""What varies in time as before; the rate of division varies anew, other rates are those of the whole movie."""

SOME_MISSING = 0.005
"""Share of cells whose mask is missing, from which on masks may be wrong too: one look is cheap."""

LEAST_SPOILED = 0.015
"""The model of masks is kept where it says that at least such a share of them holds no cell, or two. On clean masks, and where some
are missing but none is wrong, it is .009 at the most, on spoiled ones .020 at the least (docs/masks.md)."""

LOOK_ROUNDS, CLEARLY_CLEAN = 6, 0.5 * LEAST_SPOILED
"""After so many rounds the fit is given up where the share is below this."""


def are_suspect(test: SkipTest | None, fit: Fit) -> bool:
    """Whether masks may be wrong: more divisions are seen than skipped frames have, or masks are missing; where links are clear.

    Args:
        test: What skipping frames says of places alone.
        fit: With gaps, where masks are missing.
    """
    missing = fit.model.max_gap > 0 and fit.model.mean("p_missed") >= SOME_MISSING
    return missing or (test is not None and sees_false_divisions(test))


@dataclass(frozen=True, eq=False)
class Judged:
    """The model of masks, fitted.

    Attributes:
        solution: What is believed of a sample's masks under it.
        doubt: How well the odds of divisions are known: the standard deviation of their common logarithm.
        together: How many frames are solved together.
    """

    solution: Solution
    doubt: float
    together: int

    @property
    def are_spoiled(self) -> bool:
        """Whether masks are wrong often enough for the model to be kept."""
        return share_spoiled(self.solution) >= LEAST_SPOILED


def judged_masks(fit: Fit, sample: Sample, gate: float, tell: Tell, *, asked: bool) -> Judged:
    """Fit a model in which masks may hold no cell, one, or two: to a part of the sample first, then to more of it.

    Args:
        fit: With gaps, where masks are missing.
        sample: The frames that it was fitted on.
        gate: Longest edge between neighbouring frames.
        tell: Is told how far it is.
        asked: Whether the model is kept in any case.
    """
    plain = fit.model
    first = _stretch_of(_long_runs(sample, *FIRST), plain, gate)
    model = with_masks(plain, first, sample.cell_size)
    if not asked:
        solution = _glance(fit, model, sample, gate, tell)
        if _clearly_clean(solution):
            return Judged(solution, 0.0, 0)
    solution = fit_masks(model, *_with_gaps(plain, first, gate), LOOK_ROUNDS, partial(tell, FITTING))
    if asked or share_spoiled(solution) >= CLEARLY_CLEAN:
        solution = more_rounds(solution, ROUNDS - LOOK_ROUNDS, partial(tell, FITTING))
    if not asked and share_spoiled(solution) < LEAST_SPOILED:
        return Judged(solution, 0.0, 0)
    more = _long_runs(sample, *MORE)
    share = 1.0
    doubted = solution
    if len(more.cells) > len(solution.graph.stretch.frames):
        second = _stretch_of(more, plain, gate)
        share = first.n_rows / second.n_rows
        stretch, pairwise = _with_gaps(plain, second, gate)
        solution = fit_masks(solution.graph.model, stretch, pairwise, MORE_ROUNDS, partial(tell, FITTING))
    return Judged(solution, division_doubt(doubted, share), _together(sample))


def _glance(fit: Fit, model: Model, sample: Sample, gate: float, tell: Tell) -> Solution:
    """The fit to a few cells, in most rounds of it."""
    few = _stretch_of(_long_runs(sample, *GLANCE), fit.model, gate)
    return fit_masks(model, *_with_gaps(fit.model, few, gate), GLANCE_ROUNDS, partial(tell, FITTING))


def _clearly_clean(solution: Solution) -> bool:
    """Whether masks are wrong so rarely that chance does not explain it."""
    share = share_spoiled(solution)
    return bool(share + CLEARLY * np.sqrt(share / max(len(solution.beliefs.state), 1)) < LEAST_SPOILED)


def _stretch_of(sample: Sample, model: Model, gate: float) -> Stretch:
    steps = [(t, t + 1) for t in sorted(sample.cells) if t + 1 in sample.cells]
    return sample.stretch(steps, gate)


def _with_gaps(model: Model, stretch: Stretch, gate: float) -> tuple[Stretch, Marginals]:
    return with_gap_edges(model, with_drift(model, stretch), gate)


def share_spoiled(solution: Solution) -> float:
    """Share of masks that hold no cell, or two."""
    state = solution.beliefs.state
    return float((state[:, 0] + state[:, 2]).mean()) if len(state) else 0.0


def with_judged_masks(calibration: ModelCalibration, judged: Judged, test: SkipTest | None) -> ModelCalibration:
    """The calibration with the model of masks.

    Args:
        calibration: Of single steps, tested.
        judged: The model of masks.
        test: What skipping frames said of places alone.
    """
    solution = judged.solution
    kept = {name: values for name, values in calibration.courses.items() if name in KEPT_COURSES}
    if kept:
        kept["p_divide"] = _divisions_over_time(solution, calibration.frames)
    tests = tuple(_with_divisions(each, solution) for each in calibration.skipping)
    nan = float("nan")
    excess = None if test is None or not test.divisions else test.divisions_between / test.divisions - 1
    trials = (*calibration.trials, Trial(Masks.name, nan, nan, nan, nan, joined=True, excess=excess))
    return replace(
        calibration,
        model=solution.graph.model,
        courses=kept,
        frames=calibration.frames if kept else (),
        trials=trials,
        intervals=_still_true(calibration, solution),
        skipping=tests,
        verdict=judge(tests[0] if tests else None, calibration.problems),
        division_doubt=judged.doubt,
        frames_per_block=judged.together,
    )


def _still_true(calibration: ModelCalibration, solution: Solution) -> Intervals:
    """The intervals that hold what was fitted anew; others were those of divisions and losses that are none."""
    new = solution.graph.model.parameters
    return {
        name: (low, high)
        for name, (low, high) in calibration.intervals.items()
        if name in new and low <= new[name].value <= high
    }


def _divisions_over_time(solution: Solution, frames: Sequence[int]) -> tuple[float, ...]:
    """The rate of division around each frame, as the model of masks sees it."""
    expected = solution.expected()
    found = maximise(expected, kernel(expected.stretch)).value("p_divide")
    return tuple(np.interp(frames, expected.stretch.transition_frame, np.asarray(found)).tolist())


def _together(sample: Sample) -> int:
    """How many frames are solved together: the whole movie with room for halos, or as many as there is memory for."""
    most = int(TOGETHER / _usual(sample))
    return most if len(sample.movie) > most else len(sample.movie) + 2 * MASK_HALO[1]


def _usual(sample: Sample) -> float:
    """Cells of a frame."""
    return max(float(np.mean([len(each) for each in sample.frames])), 1.0)


def _long_runs(sample: Sample, cells_wanted: int, in_a_row: int) -> Sample:
    """Frames in long runs: masks that merge stay so for a while."""
    movie, n = sample.movie, len(sample.movie)
    most = int(max(cells_wanted / _usual(sample), 2))
    if n <= most:
        chosen = list(range(n))
    else:
        runs = max(round(most / in_a_row), 1)
        length = most // runs
        starts = np.linspace(0, n - length, runs).astype(int).tolist() if runs > 1 else [(n - length) // 2]
        chosen = sorted({t for start in starts for t in range(start, start + length)})
    cells = {t: sample.cells[t] if t in sample.cells else movie.detections(t).without_pixels() for t in chosen}
    return Sample(cells, sample.cost, movie)


def _with_divisions(test: SkipTest, solution: Solution) -> SkipTest:
    """The skip test with the number of divisions that are left, so that what was explained away is not held against it."""
    stretch = solution.graph.stretch
    share = float(solution.divide.sum()) / max(float(stretch.is_mother.sum()), 1.0)
    return replace(test, divisions_between=min(test.divisions_between, share * test.links * test.step))
