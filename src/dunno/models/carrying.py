"""A stretch as a model sees it: cells are carried along where motion is collective."""

from __future__ import annotations

from dataclasses import replace

from dunno.models.expectation import expect
from dunno.models.model import Model
from dunno.terms.flow import Flow
from dunno.types.stretch import Stretch


def without_flow(model: Model) -> Model:
    """The same model, in which nobody is carried."""
    return replace(model, terms=tuple(term for term in model.terms if term.name != Flow.name))


def with_flow(model: Model, finder: Model) -> Model:
    """The same model, in which neighbours' displacements are first found by another one."""
    values = {name: each.value for name, each in finder.parameters.items()}
    return replace(model, terms=(*without_flow(model).terms, Flow(values)))


def carried(model: Model, stretch: Stretch) -> Stretch:
    """Predict each mother's place from what a model without flow expects of her neighbours."""
    return Flow().carried(stretch, expect(without_flow(model), stretch).single)


def seen(model: Model, stretch: Stretch) -> Stretch:
    """The stretch as the model sees it."""
    if not model.has(Flow.name):
        return stretch
    finder = without_flow(model).with_values(model.term(Flow.name).finder)
    return carried(model, carried(finder, stretch))
