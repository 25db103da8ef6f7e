"""A movie played backwards under the model that was fitted forwards: it has no divisions, so those that are seen are false."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dunno.calibration import ModelCalibration
from dunno.models.expectation import Expected, expect
from dunno.tracking.sampling import Sample
from dunno.types.arrow_counts import ArrowCounts

REVERSED_TOGETHER = 12_000  # cells; speed, benchmarks.embryo
"""So many cells are looked at together: usual samples have fewer, and crowded ones many edges."""


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
    parts = (pooled.posed(backwards.stretch(jumps, gate)) for jumps in _in_parts(backwards))
    early, late = np.sum([_halves(expect(*each), backwards) for each in parts], axis=0).tolist()
    return ArrowCounts(_halves(forwards, sample), (late, early), len(sample.cells))


def _in_parts(sample: Sample) -> Iterator[list[tuple[int, int]]]:
    """Steps of a sample, so few at a time that they have about `REVERSED_TOGETHER` daughters: each is solved for itself."""
    part: list[tuple[int, int]] = []
    n_daughters = 0
    for jump in sample.jumps(1):
        n_daughters += len(sample.cells[jump[1]])
        part.append(jump)
        if n_daughters >= REVERSED_TOGETHER:
            yield part
            part, n_daughters = [], 0
    if part:
        yield part


def _halves(expected: Expected, sample: Sample) -> tuple[float, float]:
    """Divisions in the first and in the second half of the movie."""
    stretch = expected.stretch
    frame = np.repeat([each.frame for each in stretch.cells], [len(each) for each in stretch.cells])
    is_late = 2 * frame >= sample.movie.frames[0] + sample.movie.frames[-1]
    divide = expected.found.divide * stretch.is_mother
    return float(divide[~is_late].sum()), float(divide[is_late].sum())
