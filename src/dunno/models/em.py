"""Expectation–maximisation: rounds of both steps until the evidence stands still. What hurries them is in `fast_em.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dunno.models.expectation import Expected, expect, maximise
from dunno.models.model import Model
from dunno.types import Floats
from dunno.types.stretch import Stretch

ITERATIONS = 60  # rounds; judged
EM_TOLERANCE = 5e-5  # nats per cell; judged
"""Change in log evidence per cell below which it stands still; the evidence itself depends on the unit of length."""

OnRounds = Callable[[int], None]
"""Is told the number of each round."""


@dataclass(frozen=True, eq=False)
class EMResult:
    """How far an ascent of the evidence came."""

    expected: Expected  # What is expected under the last model
    rounds: int  # How many rounds it took
    converged: bool  # Whether the evidence stood still at its end

    @property
    def model(self) -> Model:
        """The model."""
        return self.expected.model

    @property
    def log_evidence(self) -> float:
        """Of the whole stretch."""
        return self.expected.log_evidence

    def with_model(self, model: Model) -> EMResult:
        """The same for another model; nothing is solved again."""
        return replace(self, expected=replace(self.expected, model=model))


class EM:
    """Rounds of expectation and maximisation, counted over all ascents."""

    tolerance = EM_TOLERANCE

    def __init__(self, tell: OnRounds, most: int = ITERATIONS) -> None:
        self._tell = tell
        self._most = most
        self._rounds = 0

    def ascend(
        self,
        expected: Expected,
        kernel: Floats | None = None,
        held: frozenset[str] = frozenset(),
        most: int | None = None,
    ) -> EMResult:
        """Expect and maximise until the evidence stands still; expectations and model belong together at the end.

        The kernel (R, R) says how much each transition counts for each one's varying parameters; without it they are pooled.
        """
        first, most = self._rounds, most or self._most
        still = self.tolerance * expected.stretch.n_rows + 0.01
        while self._rounds - first < most:
            before = expected
            expected = self._round(before, maximise(before, kernel, held=held))
            if abs(expected.log_evidence - before.log_evidence) < still:
                return EMResult(expected, self._rounds - first, True)
        return EMResult(expected, most, False)

    def expect(self, model: Model, stretch: Stretch) -> Expected:
        """The E step."""
        self._count()
        return expect(model, stretch)

    def _round(self, before: Expected, model: Model) -> Expected:
        """What is expected after a round; `model` is the M step's."""
        return self.expect(model, before.stretch)

    def _count(self) -> None:
        self._rounds += 1
        self._tell(self._rounds)
