"""How often masks are missing: fitted to a sample, and whether links across gaps are worth looking for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.calibration.verdict import SkipTest
from dunno.models import Fit
from dunno.models.climbing import Climb
from dunno.models.expectation import expect, maximise
from dunno.terms.missed import Missed
from dunno.terms.motion import Motion
from dunno.tracking.gaps import expected_gaps, gap_candidates
from dunno.tracking.sampling import Sample

MOST_GAP = 3
"""The longest gap that is looked for by itself."""

ROUNDS = 4
LEAST_LINKS, LEAST_SHARE = 1.0, 2e-4
"""Expected links across gaps, all and per link, below which none are looked for."""

LEAST_OF_ALL = 0.03
"""A gap as long as this is looked for if such a share of all links across gaps has it."""

LAG_POWERS = (0.0, 1.5)


def with_gaps(fit: Fit, sample: Sample, gate: float, test: SkipTest | None, asked: int | None) -> Fit:
    """The fit with the term `missed`, where masks are missing; the same where they are not.

    Args:
        fit: Of single steps.
        sample: The frames.
        gate: Longest edge between neighbouring frames.
        test: Of skipped frames: how fast motion grows with the number of steps.
        asked: The longest gap; `None` to find out.
    """
    if asked == 0 or fit.problems:
        return fit
    most = MOST_GAP if asked is None else asked
    power = 1.0 if test is None else float(np.clip(np.log(test.growth) / np.log(test.step), *LAG_POWERS))
    climb = _missed(fit.best, replace(Missed(0.01), max_gap=most), power, gate)
    if asked is None:
        most = _longest(climb)
        if most == 0:
            return fit
    missed = replace(climb.model.term(Missed.name), max_gap=most)
    return replace(fit, best=_with(fit.best, missed, power), pooled=_with(fit.pooled, missed, power))


def _missed(climb: Climb, missed: Missed, power: float, gate: float) -> Climb:
    """Rounds with edges across gaps, in which nothing but the share of missing masks is fitted."""
    model = _with(climb, missed, power).model
    stretch = climb.expected.stretch
    mother, daughter, lag = gap_candidates(model, stretch, climb.expected.found, gate)
    if not len(mother):
        return Climb(replace(climb.expected, model=model), 0, True)
    stretch = stretch.with_gaps(mother, daughter, lag)
    one = np.ones((len(stretch), len(stretch)))
    for _ in range(ROUNDS):
        new = maximise(expect(model, stretch), one).term(Missed.name)
        model = replace(model, terms=tuple(new if term.name == Missed.name else term for term in model.terms))
    return Climb(expect(model, stretch), ROUNDS, True)


def _longest(climb: Climb) -> int:
    """The longest gap worth looking for; 0 for none."""
    stretch, found = climb.expected.stretch, climb.expected.found
    counts = expected_gaps(stretch.lags, found.edge, MOST_GAP)
    if counts.sum() < max(LEAST_LINKS, LEAST_SHARE * float(found.edge.sum())):
        return 0
    return int(np.flatnonzero(counts >= LEAST_OF_ALL * counts.sum()).max() + 1)


def _with(climb: Climb, missed: Missed, power: float) -> Climb:
    """The climb's model with the term, and with motion that grows over several steps."""
    old = [term for term in climb.model.terms if term.name != Missed.name]
    terms = [replace(term, lag_power=power) if isinstance(term, Motion) else term for term in old]
    return replace(climb, expected=replace(climb.expected, model=replace(climb.model, terms=(*terms, missed))))
