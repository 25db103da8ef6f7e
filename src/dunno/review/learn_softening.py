"""The softening of a model from a review's answers: how much less sure it should be, as the output is really tracked.

The blocks that hold answers are tracked again, with their gaps and judged masks, at a few temperings. The answers are then the
truth that skipping frames has to do without, and what fits τ and ε to them, priors included, is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from dunno.calibration import ModelCalibration
from dunno.calibration.comparison import Comparison
from dunno.calibration.kinds.temperature import UNKNOWN_MOTHER, LabelledDaughters
from dunno.calibration.softening import Softening, fit_softening
from dunno.review.lessons import Lessons
from dunno.review.retracking import plan_of
from dunno.review.review import Review
from dunno.tracking.plan import BLOCK, spans_of
from dunno.tracking.tracker import track_block
from dunno.types import PairPosterior


def learn_softening(review: Review, lessons: Lessons, calibration: ModelCalibration) -> Softening:
    """The softening with which the answers are most probable."""

    def tempered(tempering: float) -> Comparison:
        softening = Softening(tempering, 0.0)
        pairs = dict(_tracked(review, lessons, replace(calibration, softening=softening)))
        return beside_answers(pairs.__getitem__, lessons)

    return fit_softening(tempered(1.0), tempered, calibration.softening.tempering)


def _tracked(review: Review, lessons: Lessons, calibration: ModelCalibration) -> Iterator[tuple[int, PairPosterior]]:
    """The pairs of all blocks that hold an answer, tracked again."""
    plan = plan_of(review.about, calibration)
    size = plan.block if plan.halo else BLOCK  # without halos, pairs are independent
    wanted = set((lessons.pair // size).tolist())
    for k, span in enumerate(spans_of(review.movie, plan.window, size, plan.halo)):
        if k in wanted:
            yield from enumerate(track_block(plan, span).pairs(), k * size)


def beside_answers(pairs: Callable[[int], PairPosterior], lessons: Lessons) -> LabelledDaughters:
    """What is believed of every answered daughter, by the number of its frame pair, beside its answer."""
    numbers = np.unique(lessons.pair).tolist()
    posteriors = [pairs(t) for t in numbers]
    mothers = [np.full(len(pair.daughters), UNKNOWN_MOTHER) for pair in posteriors]
    for t, mother in zip(numbers, mothers, strict=True):
        answered = lessons.pair == t
        mother[lessons.daughter[answered]] = lessons.mother[answered]
    return LabelledDaughters.beside(posteriors, mothers)
