"""Costs: how unlikely is it that this daughter comes from that mother?

A cost is any callable `cost(pair, mother, daughter) -> (E,)` that gives each edge −log of its likelihood: lower is
better, negative is fine, `inf` means impossible. It may also have

- `name`: what the command line and the tables call it,
- `event_costs(pair) -> EventCosts`: what appearing, disappearing and dividing cost in its units,
- `perturbation`: the natural way to make it uncertain (see `dunno.perturbations`),
- `candidates(pair) -> Candidates`: edges worth a cost although they are longer than the gate,
- `spread(pair) -> (m,)`: that it is a motion model, with squared displacements of each mother in proportion to this,
- `fitted`: names of its parameters that a fitted motion model takes the place of,
- `window`: how many frames around a pair it looks at, given to it as `pair.window`,
- `can_link(cost) -> (E,)`: which edges may be links; the others are only there to share the probability.

Each module here holds one; a user's own class needs no registration.
"""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from dunno.errors import InputError
from dunno.types import Candidates, EventCosts, Floats, FramePair, Ints


class Cost(Protocol):
    """What every cost can do."""

    def __call__(self, pair: FramePair, mother: Ints, daughter: Ints) -> Floats:
        """(E,) cost of the edges between `pair.mothers[mother]` and `pair.daughters[daughter]`."""
        ...


@runtime_checkable
class HasEventCosts(Protocol):
    """A cost that knows what events cost in its own units."""

    def event_costs(self, pair: FramePair) -> EventCosts:
        """What appearing, disappearing and dividing cost."""
        ...


def name_of(cost: Any) -> str:
    """What to call a cost: its `name`, else its class's or function's name."""
    name = getattr(cost, "name", None) or getattr(cost, "__name__", None) or type(cost).__name__
    return str(name)


def linkable(cost: Any, values: Floats) -> Floats:
    """(E,) the costs, infinite where the edge may be no link."""
    return values if not hasattr(cost, "can_link") else np.where(cost.can_link(values), values, np.inf)


def evaluate(cost: Cost, pair: FramePair, candidates: Candidates) -> Floats:
    """Call a cost and check what comes back."""
    values = np.asarray(cost(pair, candidates.mother, candidates.daughter))
    if values.shape != (len(candidates),) or values.dtype.kind not in "iuf":
        raise InputError(
            f"cost {name_of(cost)!r} returned {values.dtype} of shape {values.shape}; "
            f"expected one number per edge, ({len(candidates)},)"
        )
    if np.isnan(values).any():
        bad = int(np.isnan(values).argmax())
        mother = pair.mothers.label[candidates.mother[bad]]
        daughter = pair.daughters.label[candidates.daughter[bad]]
        raise InputError(
            f"cost {name_of(cost)!r} is NaN between mother {mother} in frame {pair.mothers.frame} and "
            f"daughter {daughter} in frame {pair.daughters.frame}; use inf for an impossible edge"
        )
    return values.astype(np.float64)
