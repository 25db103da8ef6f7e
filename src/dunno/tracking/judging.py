"""Whether masks may hold no cell, or two: fitted where skipping frames says that divisions are seen which are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dunno.calibration.evidence import Trial
from dunno.calibration.kinds.model import ModelCalibration
from dunno.calibration.verdict import SkipTest, judge, sees_false_divisions
from dunno.models import Fit
from dunno.models.carrying import seen
from dunno.models.expectation import maximise
from dunno.models.fit import kernel
from dunno.models.intervals import Intervals
from dunno.models.mask_fit import fit_masks
from dunno.models.masks import Solution, with_masks
from dunno.terms.masks import Masks
from dunno.tracking.masks import with_gap_edges
from dunno.tracking.sampling import Sample
from dunno.work.progress import Tell

MASK_CELLS, MASK_RUN = 12_000, 20
"""How many cells the model of masks is fitted on, and in how many frames in a row: as many runs as there is room for, because rates
change over a movie."""

FITTING = "judging masks"

KEPT_COURSES = ("motion_scale", "division_scale")
"""What varies in time as before; the rate of division varies anew, other rates are those of the whole movie."""

LEAST_SPOILED = 0.015
"""The model of masks is kept where it says that at least such a share of them holds no cell, or two. On clean masks, and where some
are missing but none is wrong, it is .004 at the most; settled on the shared movies, spoiled HeLa 02 and simulated colonies."""


def wants_masks(asked: Sequence[str] | None, test: SkipTest | None) -> bool:
    """Whether masks are judged: asked for by name, or because more divisions are seen than skipped frames have."""
    if asked is not None:
        return Masks.name in asked
    return test is not None and sees_false_divisions(test)


def judged_masks(fit: Fit, sample: Sample, gate: float, tell: Tell) -> Solution:
    """Fit a model in which masks may hold no cell, one, or two.

    Args:
        fit: With gaps, where masks are missing.
        sample: The frames that it was fitted on.
        gate: Longest edge between neighbouring frames.
        tell: Is told how far it is.
    """
    long = _long_runs(sample)
    steps = [(t, t + 1) for t in sorted(long.cells) if t + 1 in long.cells]
    plain = fit.model
    stretch = long.stretch(steps, gate)
    model = with_masks(plain, stretch, sample.cell_size)
    stretch = seen(plain, stretch)
    stretch, pairwise = with_gap_edges(plain, stretch, gate)
    return fit_masks(model, stretch, pairwise, tell=lambda done, of: tell(FITTING, done, of))


def are_spoiled(solution: Solution) -> bool:
    """Whether masks are wrong often enough for their model to be kept."""
    state = solution.beliefs.state
    return float((state[:, 0] + state[:, 2]).mean()) >= LEAST_SPOILED if len(state) else False


def with_judged_masks(calibration: ModelCalibration, solution: Solution, test: SkipTest | None) -> ModelCalibration:
    """The calibration with the model of masks.

    Args:
        calibration: Of single steps, tested.
        solution: What is believed of a sample's masks under the fitted model.
        test: What skipping frames said of places alone.
    """
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


def _long_runs(sample: Sample) -> Sample:
    """Frames in long runs: masks that merge stay so for a while."""
    movie, n = sample.movie, len(sample.movie)
    usual = max(float(np.mean([len(each) for each in sample.frames])), 1.0)
    most = int(max(MASK_CELLS / usual, 2))
    if n <= most:
        chosen = list(range(n))
    else:
        runs = max(most // MASK_RUN, 1)
        length = most // runs
        starts = np.linspace(0, n - length, runs).astype(int).tolist()
        chosen = sorted({t for start in starts for t in range(start, start + length)})
    cells = {t: sample.cells[t] if t in sample.cells else movie.detections(t).without_pixels() for t in chosen}
    return Sample(cells, sample.cost, movie)


def _with_divisions(test: SkipTest, solution: Solution) -> SkipTest:
    """The skip test with the number of divisions that are left, so that what was explained away is not held against it."""
    stretch = solution.graph.stretch
    share = float(solution.out_sum("divide").sum()) / max(float(stretch.is_mother.sum()), 1.0)
    return replace(test, divisions_between=min(test.divisions_between, share * test.links * test.step))
