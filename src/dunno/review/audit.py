"""The audit: daughters drawn at random, because those chosen for being doubtful say nothing about the confident ones.

The daughters of a movie are put into a random order once. With the chance of `SHARE` a question is the next in that order that
has no answer yet, instead of the queue's best. Those before it in the order, whoever asked about them, are a simple random sample
of all daughters: what share of them the tracker had wrong estimates the movie's error rate without a bias.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dunno.review.daughters import Table
from dunno.review.decisions import MOTHER, RIGHT_TRACK, SKIP
from dunno.review.log import LoggedAnswer
from dunno.types import Bools, Ints

SHARE = 0.1
ENOUGH_AUDITED = 30
"""With fewer audited daughters than this, an error rate says next to nothing."""


@dataclass(frozen=True)
class ErrorRate:
    """How often the tracker was wrong, as an audit saw it."""

    n: int  # Audited daughters with an answer
    wrong: int  # How many of them the tracker had wrong
    skipped: int  # Audited daughters about whom the person could not say; they are left out
    low: float  # The rate's 95 % interval (Clopper–Pearson); `high` likewise
    high: float

    @property
    def rate(self) -> float | None:
        """The estimate; `None` before the first answer."""
        return self.wrong / self.n if self.n else None

    @property
    def enough(self) -> bool:
        """Whether there are enough answers to take the rate seriously."""
        return self.n >= ENOUGH_AUDITED


class Audit:
    """Draws questions at random, the same ones for the same seed."""

    def __init__(self, n_daughters: int, seed: int, share: float = SHARE) -> None:
        self.order: Ints = np.random.default_rng([seed, n_daughters]).permutation(n_daughters)
        self.share = share
        self._seed = seed

    def is_due(self, question: int) -> bool:
        """Whether question number `question` is an audit."""
        return bool(np.random.default_rng([self._seed, question]).random() < self.share)

    def next(self, unanswered: Bools) -> int | None:
        """The next row in the random order that has no answer."""
        left = np.flatnonzero(unanswered[self.order])
        return int(self.order[left[0]]) if len(left) else None

    def rate(self, asked: set[int], wrong: Mapping[int, bool | None]) -> ErrorRate:
        """Estimate the error rate."""
        reached = np.flatnonzero(np.isin(self.order, list(asked)))
        sample = self.order[: reached[-1] + 1].tolist() if len(reached) else []
        verdicts = [wrong[row] for row in sample if row in wrong]
        said = [verdict for verdict in verdicts if verdict is not None]
        return ErrorRate(len(said), sum(said), len(verdicts) - len(said), *interval(sum(said), len(said)))


def interval(hits: int, n: int) -> tuple[float, float]:
    """The Clopper–Pearson 95 % interval of a share.

    Example:
        >>> [round(end, 3) for end in interval(0, 30)]
        [0.0, 0.116]
    """
    from scipy.special import betaincinv

    low = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, 0.025))
    high = 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 0.975))
    return low, high


def error_rate(audit: Audit, answers: Mapping[int, Sequence[LoggedAnswer]], table: Table) -> ErrorRate:
    """How often the tracker was wrong, from the answers by row."""
    asked = {row for row, given in answers.items() if any(a.question and a.question["audit"] for a in given)}
    return audit.rate(asked, {row: was_wrong(given[-1], table.cell(row)) for row, given in answers.items()})


def was_wrong(answer: LoggedAnswer, cell: tuple[int, int] | None = None) -> bool | None:
    """Whether the tracking had another decision on a cell than the person; `None` where the person could not say.

    Of what is said of a whole track, `cell` is the one that counts.
    """
    decision, before = answer.decision, answer.before
    if decision.kind == SKIP:
        return None
    if decision.kind == RIGHT_TRACK:
        return list(cell or (decision.frame, decision.label)) in before["other"]
    said = (decision.mother, decision.mother_frame) if decision.kind == MOTHER else (None, None)
    return bool((before["tracked"], before.get("tracked_frame")) != said)
