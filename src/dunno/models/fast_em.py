"""What hurries expectation–maximisation; `python -m benchmarks.fit --plain` says by how much, and what it changes.

- Rough marginals in most rounds, which begin with the messages of the round before (`Rounds`).
- Likely edges: most rounds leave out those that the last round over all of them found unlikely.
- Leaps: from two rounds and the model after them, try where they lead.
- Corrected rounds at the end mend what rough ones did.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.assignment import Marginals, Rounds
from dunno.assignment.marginals import Method
from dunno.models.em import EM, EM_TOLERANCE, ITERATIONS, EMResult, OnRounds
from dunno.models.expectation import Expected, expect, expect_all
from dunno.models.model import Model
from dunno.types import Bools, Floats
from dunno.types.stretch import Stretch

ROUGH_EDGES_FROM = 1e-4  # probability; speed, benchmarks.fit
"""Edges below this are left out of most rounds."""

MOST_LEFT_OUT = 1e-3  # share; speed, benchmarks.fit
"""Share of daughters whose mother may be among the edges left out, once they are looked at again."""

REFINING, FINE_TOLERANCE = 4, 1e-5  # rounds, nats per cell; speed, benchmarks.fit
"""Rounds that correct what rough ones did, and the change in log evidence per cell at which they end."""

LONGEST_LEAP = 8.0  # strides; speed, benchmarks.fit
"""How many strides a leap goes at most."""


class FastEM(EM):
    """Rounds are rough, and so is the evidence by which ascents are compared; `refined` and `finished` mend that."""

    def __init__(self, tell: OnRounds, most: int = ITERATIONS) -> None:
        super().__init__(tell, most)
        self._kept: dict[Method, Rounds] = defaultdict(Rounds)  # rough messages would begin from others otherwise
        self._trail: list[Expected] = []
        self._correction: Correction | None = None

    def fit(
        self, model: Model, stretch: Stretch, kernel: Floats | None = None, held: frozenset[str] = frozenset()
    ) -> EMResult:
        """Ascend among likely edges, until all of them, looked at again, stay so."""
        first = self._rounds
        expected = self.expect(model, stretch)
        while self._rounds - first < self._most:
            likely = expected.found.edge > ROUGH_EDGES_FROM
            light = self.ascend(expected.among(likely), kernel, held, self._most - (self._rounds - first))
            expected = self.expect(light.model, stretch)
            if light.converged and _left_out(expected, likely) < MOST_LEFT_OUT:
                return EMResult(expected, self._rounds - first, True)
        return EMResult(expected, self._rounds - first, False)

    def finished(
        self,
        light: EMResult,
        stretch: Stretch,
        likely: Bools,
        kernel: Floats | None = None,
        held: frozenset[str] = frozenset(),
    ) -> EMResult:
        """Look at all edges of a stretch after an ascent among likely ones, and fit on where others have become likely."""
        expected = self._expect_all(light.model, stretch)
        if _left_out(expected, likely) < MOST_LEFT_OUT or self._rounds >= self._most:
            return EMResult(expected, light.rounds + 1, light.converged)
        whole = self.fit(light.model, stretch, kernel, held)
        return replace(whole, expected=self._expect_all(whole.model, stretch))

    def refined(self, light: EMResult, kernel: Floats | None = None, held: frozenset[str] = frozenset()) -> EMResult:
        """Some rounds on from an ascent's end, with its edges, that are as good as those that are not rough."""
        stretch = light.expected.stretch
        rough, fine = self.expect(light.model, stretch), self.expect(light.model, stretch, "auto")
        self._correction, self.tolerance = Correction(rough.found, fine.found), FINE_TOLERANCE
        result = self.ascend(fine, kernel, held, REFINING)
        self._correction, self.tolerance = None, EM_TOLERANCE
        return EMResult(result.expected, light.rounds + result.rounds, light.converged)

    def ascend(
        self,
        expected: Expected,
        kernel: Floats | None = None,
        held: frozenset[str] = frozenset(),
        most: int | None = None,
    ) -> EMResult:
        """The same as plain rounds, but for leaps."""
        self._trail = []
        return super().ascend(expected, kernel, held, most)

    def expect(self, model: Model, stretch: Stretch, method: Method = "rough") -> Expected:
        """The E step, rough and corrected."""
        self._count()
        expected = expect(model, stretch, method=method, rounds=self._kept[method])
        return expected if self._correction is None else replace(expected, found=self._correction.of(expected.found))

    def _expect_all(self, model: Model, stretch: Stretch) -> Expected:
        self._count()
        return expect_all(model, stretch, self._kept["rough"])

    def _round(self, before: Expected, model: Model) -> Expected:
        self._trail.append(before)
        if len(self._trail) < 2:
            return self.expect(model, before.stretch)
        trail, self._trail = self._trail, []
        return self._leap(trail, model) or self.expect(model, before.stretch)

    def _leap(self, trail: list[Expected], model: Model) -> Expected | None:
        """Where two rounds and the model after them lead; `None` where that is no better."""
        varying = (name for name, each in model.parameters.items() if each.varies)
        if any(np.ndim(model.value(name)) for name in varying):
            return None
        place = extrapolated([trail[0].model.free, trail[1].model.free, model.free])
        if place is None:
            return None
        expected = self.expect(model.with_free(place), trail[1].stretch)
        return expected if expected.log_evidence > trail[1].log_evidence else None


def extrapolated(trail: list[Floats]) -> Floats | None:
    r"""Where three (P,) places of a slow approach lead (SQUAREM's third scheme); `None` where that cannot be told.

    With $r = θ_1 - θ_0$, $v = (θ_2 - θ_1) - r$ and $α = \max(\|r\| / \|v\|, 1)$ it is $θ_0 + 2 α r + α^2 v$.
    """
    first, second, third = trail
    moved, bent = second - first, third - 2 * second + first
    with np.errstate(divide="ignore", invalid="ignore"):
        stride = np.clip(np.linalg.norm(moved) / np.linalg.norm(bent), 1.0, LONGEST_LEAP)
        place = first + 2 * stride * moved + stride**2 * bent
    return place if np.isfinite(place).all() else None


@dataclass(frozen=True, eq=False)
class Correction:
    """The difference between rough marginals and better ones of the same problem, while a model changes little.

    Rounds with rough marginals end where those make the evidence highest. With the difference added they end, to first order,
    where the better ones do.
    """

    rough: Marginals
    better: Marginals

    def of(self, found: Marginals) -> Marginals:
        """Rough marginals of a problem with the same edges, corrected."""
        names = [
            "edge",
            "edge_dividing",
            "appear",
            "disappear",
            "divide",
            *([] if found.triple is None else ["triple"]),
        ]
        probabilities = {name: np.clip(getattr(found, name) + self._difference(name), 0.0, 1.0) for name in names}
        return replace(found, **probabilities, log_evidence=found.log_evidence + self._difference("log_evidence"))

    def _difference(self, name: str) -> Any:
        return getattr(self.better, name) - getattr(self.rough, name)


def _left_out(expected: Expected, likely: Bools) -> float:
    """The expected share of daughters whose mother is at the other end of an edge that was left out."""
    return float(expected.found.edge[~likely].sum()) / max(float(expected.stretch.n_daughters.sum()), 1.0)
