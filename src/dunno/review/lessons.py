r"""What answers teach about the whole movie, doubtful or not: each is weighted by its known chance of being asked.

Doubtful daughters are asked first, so that answers as they come say little about the others. Let answer m of M be drawn with the
chance $q_m$ among the $N_m$ daughters that had no answer. With the weights

$$v_m = 1 + \frac{N_M - 1}{N_m - 1} \left(\frac{1}{N_m q_m} - 1\right)$$

the mean of $v_m \cdot loss_m$ is an unbiased estimate of the mean loss over all daughters (Farquhar, Gal & Rainforth, *On
statistical bias in active learning*, 2021). A daughter drawn at random then counts about ten times, a doubtful one hardly more
than for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dunno.calibration.kinds.temperature import UNKNOWN_MOTHER, LabelledDaughters
from dunno.errors import InputError
from dunno.review.constraints import index_of
from dunno.review.decisions import NO_MOTHER, SKIP, Decision
from dunno.review.log import LoggedAnswer
from dunno.review.review import Review
from dunno.types import Floats, Ints, PairPosterior

Values = dict[str, tuple[float, float, float]]
"""Parameters by name, each with its 95 % interval; NaN where it has none."""
LEAST_ANSWERS, ENOUGH = 10, 50
"""Answers below which nothing is fitted, and below which a fit is not to be trusted much; as if drawn at random, where weighted."""


@dataclass(frozen=True, eq=False)
class Lessons:
    """Answered daughters whose chance of being asked is known."""

    pair: Ints  # (L,) the number of each one's frame pair, ascending
    daughter: Ints  # (L,) its index in it
    mother: Ints  # (L,) the index of the mother, -1 for none
    weight: Floats  # (L,) how much it counts where all daughters are to be spoken for
    left_out: dict[str, int]  # How many answers are not used, and why

    def __len__(self) -> int:
        return len(self.pair)

    @property
    def effective(self) -> float:
        """How many answers drawn at random would be worth as much."""
        return float(self.weight.sum() ** 2 / (self.weight**2).sum()) if len(self) else 0.0

    def require(self, worth: float) -> None:
        """Refuse to fit on next to nothing: on answers that are worth fewer than a few."""
        if worth < LEAST_ANSWERS:
            more = f"{len(self)} answers" + (f", worth {worth:.0f} drawn at random," if worth < len(self) else "")
            raise InputError(
                f"{more} are too few to fit on ({LEAST_ANSWERS} are needed); "
                "go on reviewing: one question in ten is drawn at random"
            )


def lessons_of(review: Review) -> Lessons:
    """Collect the standing answers to questions; a daughter's last answer counts, its first question's chance."""
    asked: dict[int, tuple[LoggedAnswer, LoggedAnswer]] = {}
    left_out = {"not asked but chosen": 0, "skipped": 0}
    for answer in review.standing:
        row = review.row_of(answer.decision)
        if row is None:
            continue
        if row in asked:
            asked[row] = (asked[row][0], answer)
        elif answer.question is not None:
            asked[row] = (answer, answer)
        else:
            left_out["not asked but chosen"] += 1
    weights = weigh([(first.question or {}) for first, _ in asked.values()])
    rows = []
    for (_, last), weight in zip(asked.values(), weights.tolist(), strict=True):
        decision = last.decision
        reason = _no_lesson(decision)
        if reason is not None:
            left_out[reason] = left_out.get(reason, 0) + 1
            continue
        t = review.pair_of(decision)
        pair = review.original(t)
        mother = -1 if decision.kind == NO_MOTHER else index_of(pair.mothers, decision.mother or 0)
        rows.append((t, index_of(pair.daughters, decision.label), mother, weight))
    rows.sort()
    pairs, daughters, mothers, weight = np.array(rows, np.float64).reshape(-1, 4).T
    return Lessons(pairs.astype(np.int64), daughters.astype(np.int64), mothers.astype(np.int64), weight, left_out)


def _no_lesson(decision: Decision) -> str | None:
    """Why nothing about frame pairs is to be learned from an answer; `None` if there is."""
    if decision.kind == SKIP:
        return "skipped"
    if decision.is_false:
        return "no cell"
    return None if decision.mother_frame is None else "mother across a gap"


def weigh(questions: list[dict[str, float]]) -> Floats:
    """(M,) the weights of questions in the order in which they were asked.

    Example:
        >>> weigh([{"chance": 1 / 4, "left": 4}, {"chance": 1 / 3, "left": 3}]).tolist()  # at random: all the same
        [1.0, 1.0]
    """
    left = np.array([question["left"] for question in questions], np.float64)
    chance = np.array([question["chance"] for question in questions], np.float64)
    if not len(left):
        return left
    ratio = np.where(left > 1, (left[-1] - 1) / np.maximum(left - 1, 1), 0.0)
    return np.asarray(1 + ratio * (1 / (left * chance) - 1))


def beside_answers(pairs: Callable[[int], PairPosterior], lessons: Lessons) -> LabelledDaughters:
    """What is believed of every answered daughter, by the number of its frame pair, beside its answer."""
    numbers = np.unique(lessons.pair).tolist()
    posteriors = [pairs(t) for t in numbers]
    mothers = [np.full(len(pair.daughters), UNKNOWN_MOTHER) for pair in posteriors]
    for t, mother in zip(numbers, mothers, strict=True):
        answered = lessons.pair == t
        mother[lessons.daughter[answered]] = lessons.mother[answered]
    return LabelledDaughters.beside(posteriors, mothers)
