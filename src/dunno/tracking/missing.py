"""How often masks are missing: fitted to a sample, and whether links across gaps are worth looking for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dunno.assignment import Rounds
from dunno.models import Fit
from dunno.models.em import EMResult
from dunno.models.expectation import Expected, expect, maximise
from dunno.models.intervals import Intervals
from dunno.models.model import Model
from dunno.terms.missed import Missed
from dunno.terms.motion import Motion
from dunno.terms.turnover import Turnover
from dunno.tracking.gaps import expected_gaps, gap_candidates

MOST_GAP_FITTED = 3  # frames; benchmarks.gaps
"""The longest gap that is looked for by itself."""

MISSING_ROUNDS, SETTLED_WITHIN = 5, 0.05  # rounds, scale of the link; benchmarks.gaps
"""Rounds at most, and the change on the scales of the links below which they end."""

FITTED, RATES = (Missed.name, Turnover.name), ("p_lost",)
"""Terms that are fitted with gaps, and the rates that are taken from there. The density of appearing stays: fitted anew it falls so
low that cells which begin beside another one are taken for its daughters, with certainty."""

LEAST_GAP_LINKS, LEAST_SHARE_MISSED = 1.0, 2e-4  # links, share; benchmarks.gaps
"""Expected links across gaps, all and per link, below which none are looked for."""

MISSED_EDGES_FROM = 1e-5  # probability; judged
"""Edges below this take no part in finding out, first those between neighbouring frames, then those across gaps."""

LEAST_OF_ALL = 0.03  # share; benchmarks.gaps
"""A gap as long as this is looked for if such a share of all links across gaps has it."""

LAG_POWERS = (
    0.0,
    1.5,
)  # exponent; judged: from standing still to beyond Brownian motion; how motion may grow with a gap


def with_gaps(fit: Fit, gate: float, power: float, asked: int | None) -> tuple[Fit, Expected | None]:
    """The fit of single steps with the term `missed`, where masks are missing, and what is expected with it; else the same.

    Squared motion grows with the number of steps to a `power`; `asked` is the longest gap, `None` to find out.
    """
    if asked == 0 or fit.problems:
        return fit, None
    most = MOST_GAP_FITTED if asked is None else asked
    climb = _missed(fit.best, replace(Missed(0.01), max_gap=most), power, gate)
    if asked is None:
        most = _longest(climb)
        if most == 0:
            return fit, None
    missed = replace(climb.model.term(Missed.name), max_gap=most)
    rates = {name: float(np.mean(climb.model.value(name))) for name in RATES}
    best, pooled = (_scaled(_with(each, missed, power), fit.model, rates) for each in (fit.best, fit.pooled))
    return replace(fit, best=best, pooled=pooled), climb.expected


def _scaled(climb: EMResult, before: Model, rates: Mapping[str, float]) -> EMResult:
    """The climb's model with rates that are what they were times how much the pooled ones have changed."""
    values = {name: climb.model.value(name) * rates[name] / float(np.mean(before.value(name))) for name in rates}
    return climb.with_model(climb.model.with_values(values))


def intervals_with_gaps(intervals: Mapping[str, tuple[float, float]], before: Model, after: Model) -> Intervals:
    """Intervals of a model without gaps for the same with them: those of rates move as far as the rates have."""
    found = dict(intervals)
    for name in RATES:
        if name in found and name in after.parameters:
            ratio = float(np.mean(after.value(name))) / float(np.mean(before.value(name)))
            low, high = (end * ratio for end in found[name])
            found[name] = low, min(high, 1.0)
    return found


def lag_power(growth: float, step: int) -> float:
    """How squared motion grows with time, where it has grown so much over some steps."""
    return float(np.clip(np.log(growth) / np.log(step), *LAG_POWERS))


def with_lag_power(model: Model, power: float) -> Model:
    """The model with motion that grows so over longer times."""
    terms = [replace(term, lag_power=power) if isinstance(term, Motion) else term for term in model.terms]
    return replace(model, terms=tuple(terms))


def _missed(climb: EMResult, missed: Missed, power: float, gate: float) -> EMResult:
    """Rounds with edges across gaps, in which the share of missing masks is fitted, and how many cells are then lost and appear.

    Without gaps, every missing mask is a cell that is lost and one that appears.
    """
    model = _with(climb, missed, power).model
    likely = climb.expected.among(climb.expected.found.edge > MISSED_EDGES_FROM)
    stretch = likely.stretch
    mother, daughter, lag = gap_candidates(model, stretch, likely.found, gate)
    if not len(mother):
        return EMResult(replace(climb.expected, model=model), 0, True)
    stretch = stretch.with_gaps(mother, daughter, lag)
    expected = expect(model, stretch, method="rough")
    expected = expected.among(expected.found.edge > MISSED_EDGES_FROM)
    rounds = Rounds()
    for _ in range(MISSING_ROUNDS):
        before, model = model, maximise(expected, fixed=lambda term: term.name not in FITTED)
        expected = expect(model, expected.stretch, "rough", rounds)
        if np.abs(model.free - before.free).max() < SETTLED_WITHIN:
            break
    return EMResult(expect(model, expected.stretch), MISSING_ROUNDS, True)


def _longest(climb: EMResult) -> int:
    """The longest gap worth looking for; 0 for none."""
    stretch, found = climb.expected.stretch, climb.expected.found
    counts = expected_gaps(stretch.lags, found.edge, MOST_GAP_FITTED)
    if counts.sum() < max(LEAST_GAP_LINKS, LEAST_SHARE_MISSED * float(found.edge.sum())):
        return 0
    return int(np.flatnonzero(counts >= LEAST_OF_ALL * counts.sum()).max() + 1)


def _with(climb: EMResult, missed: Missed, power: float) -> EMResult:
    """The climb's model with the term, and with motion that grows over several steps."""
    return climb.with_model(with_lag_power(climb.model, power).plus(missed))
