"""Costs divided by a number, and events at costs of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dunno.assignment import Problem
from dunno.calibration.base import Calibration
from dunno.calibration.verdict import UNTESTED, Verdict
from dunno.costs import Cost, evaluate
from dunno.types import Candidates, Floats, FramePair, Ints
from dunno.types.records import MaybeKnown, Positive

EVENT_COSTS = ("appear", "disappear", "divide")


@dataclass(frozen=True)
class TemperedCosts(Calibration):
    """Costs divided by a number, and events at costs of their own."""

    name: ClassVar[str] = "tempering and event costs"
    makes_costs: ClassVar[bool] = True

    tempering: Positive  # What all edge costs are divided by
    appear: float  # Cost of a daughter without mother, in units of the tempered costs; likewise disappear and divide
    disappear: float
    divide: float
    fitted_for: Mapping[str, Any] = field(default_factory=dict)  # What it was fitted on
    loss_before: MaybeKnown = float("nan")  # Mean −log P(truth) at the costs' own defaults
    loss_after: MaybeKnown = float("nan")  # The same when fitted
    verdict: Verdict = UNTESTED  # What may be said of its probabilities

    def problem(self, pair: FramePair, candidates: Candidates, cost: Cost) -> tuple[Floats, Problem]:
        costs = evaluate(cost, pair, candidates) / self.tempering
        sizes = (len(pair.mothers), len(pair.daughters))
        return costs, self.posed(candidates.mother, candidates.daughter, cost.linkable(costs), *sizes)

    def posed(self, mother: Ints, daughter: Ints, costs: Floats, m: int, n: int) -> Problem:
        """The problem of edges with tempered costs."""
        return Problem(mother, daughter, costs, m, n, self.appear, self.disappear, self.divide)

    def describe(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("tempering", *EVENT_COSTS)}
        told = {"verdict": self.verdict.word, "reason": self.verdict.reason}
        return {"kind": self.name, "fitted": "truth", **told, "data": self.fitted_for.get("movie"), **own}

    def rows(self) -> list[tuple[str, str]]:
        return [(name, f"{getattr(self, name):.4g}") for name in ("tempering", *EVENT_COSTS)]

    @property
    def losses(self) -> tuple[float, float]:
        return self.loss_before, self.loss_after
