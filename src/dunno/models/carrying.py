"""A stretch as a model sees it: cells are carried along where motion is collective."""

from __future__ import annotations

from dunno.assignment import Rounds
from dunno.models.expectation import Expected, expect
from dunno.models.model import Model
from dunno.terms.flow import Flow
from dunno.types.stretch import Stretch

NEGLIGIBLE = 1e-6
"""Edges below this carry nobody."""


def without_flow(model: Model) -> Model:
    """The same model, in which nobody is carried."""
    return model.where(lambda term: not term.is_drift)


def with_flow(model: Model, finder: Model) -> Model:
    """The same model, in which neighbours' displacements are first found by another one."""
    values = {name: each.value for name, each in finder.parameters.items()}
    return model.plus(Flow(values))


def carried_by(expected: Expected, stretch: Stretch) -> Stretch:
    """Predict each mother's place from what is expected of her neighbours, where some edges may have been left out."""
    return stretch.carried(Flow().carried(expected.stretch, expected.single).drift)


def seen(model: Model, stretch: Stretch, rounds: Rounds | None = None) -> Stretch:
    """The stretch as the model sees it.

    Args:
        model: The model.
        stretch: The stretch.
        rounds: Keeps what is found out about its edges for somebody who looks at them again.
    """
    stretch = model.measured(stretch)
    if model.drift is not None:
        finder = without_flow(model).with_values(model.drift.finder)
        first = expect(finder, stretch, method="rough", rounds=rounds)  # as in the fit
        likely = stretch.among(first.found.edge > NEGLIGIBLE)
        again = expect(without_flow(model), carried_by(first, likely), method="rough")
        stretch = carried_by(again, stretch)
    return stretch
