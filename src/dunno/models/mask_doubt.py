"""How well the odds of divisions are known where masks are wrong: the model is fitted again to frames that count by chance."""

from __future__ import annotations

import numpy as np

from dunno.models.mask_fit import one_round
from dunno.models.masks import Solution
from dunno.types import Floats

DRAWS, ROUNDS = 5, 3
"""How often it is fitted again, and in how many rounds."""

RUN = 5
"""Frames that count alike, because masks stay wrong for some time."""

MOST = 1.5
"""The largest doubt that is told, in nats."""


def division_doubt(solution: Solution, share: float = 1.0, seed: int = 0) -> float:
    r"""Standard deviation of the log odds of all divisions together.

    Every few frames in a row count $w \sim \mathrm{Exp}(1)$ times (the Bayesian bootstrap), and the model is fitted again. By how
    much the expected number of divisions changes, over $\sum p (1 - p)$, is the change of their common log odds.

    Args:
        solution: Beliefs about a stretch under the model that was fitted to it.
        share: Of the frames behind the model that is used, how many these are; the more there are, the less is doubted.
        seed: Of the chance.
    """
    divide = solution.divide
    slope = float((divide * (1 - divide)).sum())
    if slope <= 0:
        return 0.0
    rng = np.random.default_rng(seed)
    shifts = []
    for _ in range(DRAWS):
        other, counts = solution, _counts(solution, rng)
        for _ in range(ROUNDS):
            other = one_round(other, counts)
        shifts.append((float(other.divide.sum()) - float(divide.sum())) / slope)
    known_from_few = DRAWS / (DRAWS - 2)  # the variance of Student's law with so many degrees of freedom
    return float(min(np.sqrt(known_from_few * share * np.mean(np.square(shifts))), MOST))


def _counts(solution: Solution, rng: np.random.Generator) -> Floats:
    """(F,) how often each frame counts, once on average."""
    frame = np.asarray(solution.graph.stretch.frames)
    run = np.unique(frame // RUN, return_inverse=True)[1]
    drawn = rng.exponential(size=int(run.max()) + 1)[run]
    return np.asarray(drawn / drawn.mean())
