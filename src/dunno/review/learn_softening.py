"""The softening of a model from a review's answers: how much less sure it should be, as the output is really tracked.

The blocks that hold answers are tracked again, with their gaps and judged masks, at a few temperings. The answers are then the
truth that skipping frames has to do without, and what fits τ and ε to them, priors included, is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dunno.calibration import ModelCalibration
from dunno.calibration.comparison import Comparison
from dunno.calibration.softening import Softening, fit_softening
from dunno.review.lessons import Lessons
from dunno.review.retracking import plan_of
from dunno.review.review import Review
from dunno.tracking.spans import BLOCK, spans_of
from dunno.tracking.tracker import track_block
from dunno.types import PairPosterior


def learn_softening(review: Review, lessons: Lessons, calibration: ModelCalibration) -> Softening:
    """The softening with which the answers are most probable.

    Args:
        review: The review.
        lessons: Its answers.
        calibration: The model; its own τ is what is believed before.
    """

    def tempered(tempering: float) -> Comparison:
        softening = Softening(tempering, 0.0)
        pairs = dict(_tracked(review, lessons, replace(calibration, softening=softening)))
        return beside_answers(pairs, lessons)

    return fit_softening(tempered(1.0), tempered, calibration.softening.tempering)


def _tracked(review: Review, lessons: Lessons, calibration: ModelCalibration) -> Iterator[tuple[int, PairPosterior]]:
    """The pairs of all blocks that hold an answer, tracked again."""
    plan = plan_of(review.about, calibration)
    size = plan.block if plan.halo else BLOCK  # without halos, pairs are independent
    wanted = set((lessons.pair // size).tolist())
    for k, span in enumerate(spans_of(review.movie, plan.window, size, plan.halo)):
        if k in wanted:
            yield from enumerate(track_block(plan, span).pairs(), k * size)


def beside_answers(pairs: dict[int, PairPosterior], lessons: Lessons) -> Comparison:
    """What is believed of every answered daughter beside her answer; each answer is a row."""
    daughter, direct, answered, is_none = [], [], [], []
    for k in range(len(lessons)):
        pair, j, mother = pairs[int(lessons.pair[k])], int(lessons.daughter[k]), int(lessons.mother[k])
        own = np.flatnonzero(pair.daughter == j)
        daughter.append(np.full(len(own) + 1, k))
        direct.append(np.append(pair.probability[own], np.exp(pair.log_no_mother[j])))
        answered.append(np.append(pair.mother[own] == mother, mother < 0).astype(np.float64))
        is_none.append(np.append(np.zeros(len(own), np.bool_), True))
    given = np.concatenate(answered)
    owner = np.concatenate(daughter)
    return Comparison(
        daughter=owner,
        direct=np.concatenate(direct),
        composed=given,
        is_none=np.concatenate(is_none),
        judged=np.ones(len(lessons), np.bool_),
        unreached=1.0 - np.bincount(owner, given, minlength=len(lessons)).astype(np.float64),
    )
