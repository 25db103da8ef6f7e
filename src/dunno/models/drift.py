"""Cells that are carried along where motion is collective: each mother's place is predicted from its neighbours' displacements."""

from __future__ import annotations

from dunno.assignment import Rounds
from dunno.models.expectation import Expected, expect
from dunno.models.model import Model
from dunno.terms.flow import Flow
from dunno.types.stretch import Stretch

MIN_EDGE_PROBABILITY_FOR_DRIFT = 1e-6  # probability; judged


def without_drift(model: Model) -> Model:
    """The same model, in which nobody is carried."""
    return model.where(lambda term: not term.is_drift)


def with_finder(model: Model, finder: Model) -> Model:
    """The model with drift, for which another one first finds the neighbours' displacements."""
    return model.plus(Flow({name: each.value for name, each in finder.parameters.items()}))


def carried_by(expected: Expected, stretch: Stretch) -> Stretch:
    """The stretch with the drift that follows from what is expected of it, where some edges may have been left out."""
    return stretch.carried(Flow().carried(expected.stretch, expected.single).drift)


def with_drift(model: Model, stretch: Stretch, rounds: Rounds | None = None) -> Stretch:
    """The stretch as the model sees it: in its units, and carried along; `rounds` keeps what is found out about its edges."""
    stretch = model.measured(stretch)
    if model.drift is None:
        return stretch
    finder = without_drift(model).with_values(model.drift.finder)
    first = expect(finder, stretch, method="rough", rounds=rounds)  # as in the fit
    likely = stretch.among(first.found.edge > MIN_EDGE_PROBABILITY_FOR_DRIFT)
    again = expect(without_drift(model), carried_by(first, likely), method="rough")
    return carried_by(again, stretch)
