"""How well the odds of divisions are known where masks are wrong: the model is fitted again to frames that count by chance."""

from __future__ import annotations

import numpy as np

from dunno.models.mask_fit import one_round
from dunno.models.masks import Solution
from dunno.types import Floats

DRAWS, ROUNDS = 5, 3
"""How often it is fitted again, and in how many rounds."""

RUN, LEAST_RUNS = 5, 4
"""Frames that count alike, because masks stay wrong for some time; fewer where there would be too few such runs."""

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
    usual = _expected(solution, None)  # the fit may not have come to its end
    shifts = [(_expected(solution, _counts(solution, rng)) - usual) / slope for _ in range(DRAWS)]
    known_from_few = DRAWS / (DRAWS - 2)  # the variance of Student's law with so many degrees of freedom
    return float(min(np.sqrt(known_from_few * share * np.mean(np.square(shifts))), MOST))


def _expected(solution: Solution, counts: Floats | None) -> float:
    """Divisions that are expected after some more rounds in which frames count so often."""
    for _ in range(ROUNDS):
        solution = one_round(solution, counts)
    return float(solution.divide.sum())


def _counts(solution: Solution, rng: np.random.Generator) -> Floats:
    """(F,) how often each frame counts, once on average."""
    frame = np.asarray(solution.graph.stretch.frames)
    run = np.unique(frame // min(RUN, max(len(frame) // LEAST_RUNS, 1)), return_inverse=True)[1]
    drawn = rng.exponential(size=int(run.max()) + 1)[run]
    return np.asarray(drawn / drawn.mean())
