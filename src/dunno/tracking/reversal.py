"""A movie played backwards under the model that was fitted forwards: it has no divisions, so those that are seen are false."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.calibration import ModelCalibration
from dunno.models.expectation import Expected, expect
from dunno.tracking.sampling import Sample
from dunno.types.arrow_counts import ArrowCounts


def reversed_sample(sample: Sample) -> Sample:
    """The same cells in a movie that is played backwards; no pixel is read."""
    movie, last = sample.movie.reversed(), len(sample.movie) - 1
    cells = {last - t: replace(each, frame=int(movie.frames[last - t])) for t, each in sample.cells.items()}
    return Sample(dict(sorted(cells.items())), sample.cost, movie)


def arrow_counts(calibration: ModelCalibration, sample: Sample, gate: float, forwards: Expected) -> ArrowCounts | None:
    """Divisions that are seen forwards and backwards; `None` where cells are known not to divide."""
    if calibration.never_divides:
        return None
    backwards = reversed_sample(sample)
    pooled = replace(calibration, frames=(), courses={})
    model, stretch = pooled.posed(backwards.stretch(backwards.jumps(1), gate))
    early, late = _halves(expect(model, stretch), backwards)
    return ArrowCounts(_halves(forwards, sample), (late, early), len(sample.cells))


def _halves(expected: Expected, sample: Sample) -> tuple[float, float]:
    """Divisions in the first and in the second half of the movie."""
    stretch = expected.stretch
    frame = np.repeat([each.frame for each in stretch.cells], [len(each) for each in stretch.cells])
    is_late = 2 * frame >= sample.movie.frames[0] + sample.movie.frames[-1]
    divide = expected.found.divide * stretch.is_mother
    return float(divide[~is_late].sum()), float(divide[is_late].sum())
