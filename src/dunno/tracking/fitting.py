"""The fit of a model to a sample of a movie."""

from __future__ import annotations

import numpy as np

from dunno.models import Fit, find_fit
from dunno.tracking.sampling import Sample
from dunno.work.progress import Tell

TAIL_BEYOND = 1e-3
"""Share of displacements that may be longer than the gate; one that cuts more would make cells look slower."""

WIDENINGS = 3


def fit_sample(
    sample: Sample, step: int, gate: float, may_widen: bool, tell: Tell, divisions: bool = True
) -> tuple[Fit, float]:
    """Fit a model at a frame step, widening the gate until it cuts next to nothing of the motion's tail."""
    field, size, widest = sample.field, sample.cell_size, 3 * gate
    for _ in range(WIDENINGS):
        stretch = sample.stretch(sample.jumps(step), gate)
        fit = find_fit(stretch, field, size, lambda rounds: tell("fitting the model, rounds", rounds, 0), divisions)
        spreads = stretch.spread[stretch.is_mother]
        reach = fit.model.term("motion").reach(TAIL_BEYOND, field.n_dimensions)
        needed = reach * np.sqrt(np.median(spreads) if len(spreads) else 1.0)
        if not may_widen or needed <= gate or gate >= widest:
            break
        gate = min(float(needed), widest)
    return fit, gate
