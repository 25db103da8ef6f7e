"""Costs: how unlikely is it that this daughter comes from that mother?

A cost is any callable `cost(pair, mother, daughter) -> (E,)` that gives each edge −log of its likelihood: lower is
better, negative is fine, `inf` means impossible. It may also have anything that `Cost` has, which says what each is for.

Each module here holds one; a user's own needs no registration, and need not derive from `Cost`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import numpy as np

from dunno import rooms
from dunno.errors import InputError
from dunno.perturbations import Perturbation
from dunno.types import Bools, Candidates, Detections, EventCosts, Floats, FramePair, Ints, RunInfo

EdgeCost = Callable[[FramePair, Ints, Ints], Floats]
"""All that a user's own cost must be."""


class Cost:
    """What a cost may say, and what holds where it does not.

    Attributes:
        name: What the command line and the tables call it.
        perturbation: The natural way to make it uncertain (see `dunno.perturbations`).
        is_motion: Whether it is a motion model: one with a `spread` is.
        fitted: Names of its parameters that a fitted motion model takes the place of.
        needs_pixels: Whether `spread` looks at masks or images.
        window: How many frames around a pair it looks at, given to it as `pair.window`; 0 if just the two.
    """

    name: str = ""
    perturbation: Perturbation | None = None
    is_motion: bool = False
    fitted: tuple[str, ...] = ()
    needs_pixels: bool = False
    window: int = 0

    def __init_subclass__(cls) -> None:
        cls.name, cls.is_motion = cls.name or cls.__name__, cls.spread is not Cost.spread

    def __call__(self, pair: FramePair, mother: Ints, daughter: Ints) -> Floats:
        """(E,) cost of the edges between `pair.mothers[mother]` and `pair.daughters[daughter]`."""
        costs: Floats = self.given(pair, mother, daughter)
        return costs

    def event_costs(self, pair: FramePair) -> EventCosts | None:
        """What appearing, disappearing and dividing cost in its units; `None` where it does not know."""
        return None

    def candidates(self, pair: FramePair) -> Candidates | None:
        """Edges worth a cost although they are longer than the gate."""
        return None

    def spread(self, pair: FramePair) -> Floats:
        """(m,) what each mother's squared displacements are in proportion to."""
        return np.ones(len(pair.mothers))

    def can_link(self, costs: Floats) -> Bools:
        """Which edges may be links, by their costs; the others are only there to share the probability."""
        return np.ones(costs.shape, np.bool_)

    def features(self, cells: Detections) -> Floats | None:
        """(n, q) vectors that noise goes on, instead of the cells' centres."""
        return None

    def feature_unit(self, pair: FramePair) -> float:
        """What counts as 1 in its features."""
        return 1.0

    def drawn(self, pair: FramePair, k: int, rate: float | None, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield k times the (m, n) costs of all edges, each from one pass with parts of a network left out."""
        raise InputError("dropout perturbs a network, and this cost has none; it is for --cost transformer")

    @property
    def given(self) -> Any:
        """The object that a user gave."""
        return vars(self).get("_given", self)

    def linkable(self, costs: Floats) -> Floats:
        """The costs, infinite where the edge may be no link."""
        return np.where(self.can_link(costs), costs, np.inf)

    def changed(self) -> dict[str, Any]:
        """Those of its `fitted` parameters that are not at their defaults."""
        defaults = signature(type(self.given)).parameters
        now = {name: getattr(self.given, name) for name in self.fitted}
        return {name: value for name, value in now.items() if value != defaults[name].default}


def cost_of(given: str | EdgeCost, **parameters: Any) -> Cost:
    """The cost of a name, or a user's own, with all that may be asked of it."""
    cost = rooms.adapted(Cost, "costs", given, **parameters)
    if cost.given is not cost:
        cost.is_motion = vars(cost).get("is_motion", "spread" in vars(cost))
    return cost


def cost_that_made(about: RunInfo) -> Cost:
    """The cost of a result by what that says, which may come from anybody: nothing is imported for its sake."""
    if ":" in about.cost:
        raise InputError(f"the result was made with {about.cost!r:.60}, and a file may not say what to import")
    return cost_of(about.cost, **about.cost_parameters)


def evaluate(cost: Cost, pair: FramePair, candidates: Candidates) -> Floats:
    """Call a cost and check what comes back."""
    values = np.asarray(cost(pair, candidates.mother, candidates.daughter))
    if values.shape != (len(candidates),) or values.dtype.kind not in "iuf":
        raise InputError(
            f"cost {cost.name!r} returned {values.dtype} of shape {values.shape}; "
            f"expected one number per edge, ({len(candidates)},)"
        )
    if np.isnan(values).any():
        bad = int(np.isnan(values).argmax())
        mother = pair.mothers.label[candidates.mother[bad]]
        daughter = pair.daughters.label[candidates.daughter[bad]]
        raise InputError(
            f"cost {cost.name!r} is NaN between mother {mother} in frame {pair.mothers.frame} and "
            f"daughter {daughter} in frame {pair.daughters.frame}; use inf for an impossible edge"
        )
    return values.astype(np.float64)
