"""When frames were taken, in units of the movie's usual step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dunno.errors import MovieError
from dunno.types.arrays import Bools, Floats, Ints

SAME = 0.01  # share; judged
"""Steps that differ by less than this share are the same."""

USUAL_STEP_WITHIN, FEWEST_STEPS = 0.1, 1 / 3  # share; judged
"""A step is usual if it is within this share of the median; where fewer are, there is no usual step."""


def clock_of(times: Floats | Ints) -> Floats | None:
    """(T,) when each frame was taken, in usual (median) steps; `None` where all steps are the same.

    Example:
        >>> clock_of(np.array([0, 1, 2, 5, 6]))
        array([0., 1., 2., 5., 6.])
        >>> clock_of(np.array([0, 10, 20])) is None
        True
    """
    steps = np.diff(np.asarray(times, np.float64))
    if len(steps) < 2 or (np.abs(steps - steps[0]) <= SAME * steps[0]).all():
        return None
    return np.asarray(times, np.float64) / float(np.median(steps))


def usual_steps(clock: Floats | None, length: int) -> Bools:
    """(T - 1,) which steps are about as long as the median, and serve to fit; all where too few are."""
    every = np.ones(max(length - 1, 0), np.bool_)
    if clock is None:
        return every
    usual = np.abs(np.diff(clock) - 1) <= USUAL_STEP_WITHIN
    return usual if usual.mean() >= FEWEST_STEPS else every


def check_times(times: Sequence[float] | Floats, length: int, name: str) -> Floats:
    """(T,) minutes, ascending, one for each frame; or say why not."""
    try:
        values = np.asarray(times, np.float64)
    except (TypeError, ValueError):
        raise MovieError(f"{name}: the times are no numbers; expected minutes, one for each frame") from None
    if values.shape != (length,):
        raise MovieError(f"{name}: {values.size} times for {length} frames; expected one for each frame, in minutes")
    if not np.isfinite(values).all():
        raise MovieError(f"{name}: a time is {values[~np.isfinite(values)][0]}; expected minutes")
    early = np.flatnonzero(np.diff(values) <= 0)
    if len(early):
        t = int(early[0])
        raise MovieError(
            f"{name}: the times do not ascend ({values[t]:g}, then {values[t + 1]:g} minutes, at frame {t + 1}); "
            "expected one for each frame, in the order of the frames"
        )
    return values
