"""Expectation–maximisation: rounds of both steps until the evidence stands still."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dunno.models.expectation import Expected, expect, maximise
from dunno.models.model import Model
from dunno.types import Floats
from dunno.types.stretch import Stretch

ITERATIONS = 60
TOLERANCE = 5e-5
"""Change in log evidence per cell below which it stands still; the evidence itself depends on the unit of length."""

Tell = Callable[[int], None]
"""Is told the number of each round."""


@dataclass(frozen=True, eq=False)
class Climb:
    """An ascent of the evidence, as far as it came.

    Attributes:
        expected: What is expected under the last model.
        rounds: How many rounds it took.
        converged: Whether the evidence stood still at its end.
    """

    expected: Expected
    rounds: int
    converged: bool

    @property
    def model(self) -> Model:
        """The model."""
        return self.expected.model

    @property
    def log_evidence(self) -> float:
        """Of the whole stretch."""
        return self.expected.log_evidence


class Climber:
    """Expects and maximises, and tells how often."""

    def __init__(self, tell: Tell, most: int = ITERATIONS) -> None:
        self._tell = tell
        self._most = most
        self._rounds = 0

    def climb(self, model: Model, stretch: Stretch, kernel: Floats, held: frozenset[str] = frozenset()) -> Climb:
        """Expect and maximise until the evidence stands still; expectations and model belong together at the end."""
        before, still = -np.inf, TOLERANCE * stretch.n_rows + 0.01
        for iteration in range(1, self._most + 1):
            expected = expect(model, stretch)
            self._rounds += 1
            self._tell(self._rounds)
            evidence = expected.log_evidence
            if iteration > 3 and abs(evidence - before) < still:
                return Climb(expected, iteration, True)
            before = evidence
            model = maximise(expected, kernel, held=held)
        return Climb(expect(model, stretch), self._most, False)
