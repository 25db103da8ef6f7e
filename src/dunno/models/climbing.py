"""Expectation–maximisation: rounds of both steps until the evidence stands still."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dunno.assignment import Rounds
from dunno.assignment.marginals import Method
from dunno.models.correction import Correction
from dunno.models.expectation import Expected, expect, expect_all, maximise
from dunno.models.free import extrapolated, from_free_values, to_free
from dunno.models.model import Model
from dunno.types import Bools, Floats
from dunno.types.stretch import Stretch

ITERATIONS = 60
TOLERANCE, FINE_TOLERANCE = 5e-5, 1e-5
"""Change in log evidence per cell below which it stands still, in rough rounds and once they are corrected; the evidence itself
depends on the unit of length."""

UNLIKELY = 1e-4
"""Edges below this are left out of most rounds."""

MOST_LEFT_OUT = 1e-3
"""Share of daughters whose mother may be among the edges left out, once they are looked at again."""

REFINING = 4
"""Rounds that correct what rough ones did."""

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
    """Expects and maximises, and tells how often.

    Most rounds leave out the edges that the last round over all of them found unlikely; a last round looks at all again. Rounds
    are rough, and so is the evidence by which ascents are compared; `refined` and `finish` mend that once it is known which model
    it is.
    """

    def __init__(self, tell: Tell, most: int = ITERATIONS) -> None:
        self._tell = tell
        self._most = most
        self._rounds = 0
        self._kept: dict[Method, Rounds] = defaultdict(Rounds)  # rough messages would begin from others otherwise

    def climb(
        self,
        model: Model,
        stretch: Stretch,
        kernel: Floats,
        held: frozenset[str] = frozenset(),
    ) -> Climb:
        """Expect and maximise until the evidence stands still; expectations and model belong together at the end.

        Args:
            model: The model to begin with.
            stretch: What it is to explain.
            kernel: (R, R) how much each transition counts for each one's varying parameters.
            held: Names of parameters that stay as they are.
        """
        first = self._rounds
        expected = self._expect(model, stretch)
        while self._rounds - first < self._most:
            likely = expected.found.edge > UNLIKELY
            light = self._ascend(expected.among(likely), kernel, held, self._most - (self._rounds - first))
            expected = self._expect(light.model, stretch)
            if light.converged and _left_out(expected, likely) < MOST_LEFT_OUT:
                return Climb(expected, self._rounds - first, True)
        return Climb(expected, self._rounds - first, False)

    def go_on(
        self,
        start: Climb,
        stretch: Stretch,
        kernel: Floats,
        held: frozenset[str] = frozenset(),
        *,
        known: bool = False,
        most: int | None = None,
    ) -> Climb:
        """Climb from where another ascent ended, with the edges of a stretch and no others.

        Args:
            start: The other ascent.
            stretch: Its stretch, or the same with another drift.
            kernel: As for `climb`.
            held: As for `climb`.
            known: Whether the first expectations are those of the other ascent.
            most: How many rounds at most; `None` for as many as ever.
        """
        expected = start.expected if known else self._expect(start.model, stretch)
        return self._ascend(expected, kernel, held, most or self._most)

    def finish(
        self, light: Climb, stretch: Stretch, likely: Bools, kernel: Floats, held: frozenset[str] = frozenset()
    ) -> Climb:
        """Look at all edges after an ascent among likely ones, and climb on where others have become likely and rounds are left.

        Args:
            light: The ascent.
            stretch: With all edges.
            likely: (E,) which of them it had.
            kernel: As for `climb`.
            held: As for `climb`.
        """
        expected = self._expect_all(light.model, stretch)
        if _left_out(expected, likely) < MOST_LEFT_OUT or self._rounds >= self._most:
            return Climb(expected, light.rounds + 1, light.converged)
        climb = self.climb(light.model, stretch, kernel, held)
        return replace(climb, expected=self._expect_all(climb.model, stretch))

    def refined(self, light: Climb, kernel: Floats, held: frozenset[str] = frozenset()) -> Climb:
        """Climb on from the end of an ascent, with its edges, by rounds that are as good as those that are not rough."""
        stretch = light.expected.stretch
        rough, fine = self._expect(light.model, stretch), self._expect(light.model, stretch, "auto")
        found = self._ascend(fine, kernel, held, REFINING, Correction(rough.found, fine.found))
        return Climb(found.expected, light.rounds + found.rounds, light.converged)

    def _ascend(
        self, expected: Expected, kernel: Floats, held: frozenset[str], most: int, correction: Correction | None = None
    ) -> Climb:
        """Rounds with the edges of some expectations."""
        stretch, first = expected.stretch, self._rounds
        tolerance, trail = TOLERANCE if correction is None else FINE_TOLERANCE, [expected]
        still = tolerance * stretch.n_rows + 0.01
        while self._rounds - first < most:
            before = trail[-1].log_evidence
            model = maximise(trail[-1], kernel, held=held)
            expected = self._leap(trail, model, correction) or self._expect(model, stretch, correction=correction)
            if abs(expected.log_evidence - before) < still:
                return Climb(expected, self._rounds - first, True)
            trail = [expected] if len(trail) == 2 else [*trail, expected]
        return Climb(expected, most, False)

    def _leap(self, trail: list[Expected], model: Model, correction: Correction | None) -> Expected | None:
        """From two rounds and the model after them, try where they lead; `None` where that is no better."""
        varying = (name for name, each in model.parameters.items() if each.varies)
        if len(trail) < 2 or any(np.ndim(model.value(name)) for name in varying):
            return None
        place = extrapolated([to_free(trail[0].model), to_free(trail[1].model), to_free(model)])
        if place is None:
            return None
        expected = self._expect(from_free_values(model, place), trail[-1].stretch, correction=correction)
        return expected if expected.log_evidence > trail[-1].log_evidence else None

    def _expect_all(self, model: Model, stretch: Stretch) -> Expected:
        self._count()
        return expect_all(model, stretch, self._kept["rough"])

    def _expect(
        self, model: Model, stretch: Stretch, method: Method = "rough", correction: Correction | None = None
    ) -> Expected:
        self._count()
        expected = expect(model, stretch, method=method, rounds=self._kept[method])
        return expected if correction is None else replace(expected, found=correction.of(expected.found))

    def _count(self) -> None:
        self._rounds += 1
        self._tell(self._rounds)


def _left_out(expected: Expected, likely: Bools) -> float:
    """The expected share of daughters whose mother is at the other end of an edge that was left out."""
    return float(expected.found.edge[~likely].sum()) / max(float(expected.stretch.n_daughters.sum()), 1.0)
