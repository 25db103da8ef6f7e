"""What is decided before the first pair is tracked."""

from __future__ import annotations

from dataclasses import dataclass

from dunno.calibration import Calibration
from dunno.costs import Cost
from dunno.io.links import Links
from dunno.methods import Method
from dunno.perturbations import Perturbation


@dataclass(frozen=True)
class Plan:
    """Everything that is decided before the first pair is tracked.

    `evidence` names the terms that speak beside places in a model that is fitted; `None` lets skipping frames decide.
    """

    cost: Cost
    method: Method
    perturbation: Perturbation | None
    gate: float
    max_distance: float
    appear_cost: float | None
    disappear_cost: float | None
    divide_cost: float | None
    no_mother: bool
    seed: int
    links: Links | None
    calibration: Calibration | None
    evidence: tuple[str, ...] | None = None

    @property
    def window(self) -> int:
        """How many frames around a pair its cost looks at; 0 if just the two."""
        return int(getattr(self.cost, "window", None) or 0)
