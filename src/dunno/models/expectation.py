"""The E and M steps: what is expected under a model, and the model that makes it most likely."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dunno.assignment import Marginals, Rounds, marginals
from dunno.assignment.marginals import Method, marginals_of_likely
from dunno.models.model import Model
from dunno.terms import Step, Term, Ways
from dunno.terms.flow import Flow
from dunno.types import Bools, Floats, Ints
from dunno.types.stretch import Stretch

NEGLIGIBLE_WEIGHT = 1e-5  # probability; speed, benchmarks.fit
"""Edges below this are looked at roughly only, while a model is fitted or judged."""


@dataclass(frozen=True, eq=False)
class Expected:
    """The posterior of a stretch under a model."""

    model: Model  # The model
    stretch: Stretch  # The stretch
    ways: Ways  # In which ways its cells are lost and appear
    found: Marginals  # The marginals

    @cached_property
    def log_evidence(self) -> float:
        """With every normaliser."""
        return self.found.log_evidence + self.model.log_constant(self.stretch)

    @cached_property
    def single(self) -> Floats:
        """(E,) weight of each edge as a mother's only one."""
        return np.clip(self.found.edge - self.found.edge_dividing, 0.0, 1.0)

    @cached_property
    def interior(self) -> Floats:
        """(E,) 1 for edges far enough from the border for displacements to be judged, else 0."""
        return self.model.interior(self.stretch)[self.stretch.mother]

    def among(self, edges: Bools) -> Expected:
        """The same without some edges, which should be unlikely; nothing is solved again."""
        found, part = self.found, self.stretch.among(edges)
        triple = None if found.triple is None else self._triples_among(part, edges)
        found = replace(found, edge=found.edge[edges], edge_dividing=found.edge_dividing[edges], triple=triple)
        return replace(self, stretch=part, found=found)

    def _triples_among(self, part: Stretch, edges: Bools) -> Floats:
        """(K,) what was believed of the pairs of sisters that are left; 0 of those that only now are among a mother's shortest."""
        before, after = self.model.sisters(self.stretch), self.model.sisters(part)
        assert before is not None and after is not None and self.found.triple is not None
        number, n = np.flatnonzero(edges), len(edges)
        known, wanted = before.first * n + before.second, number[after.first] * n + number[after.second]
        order = np.argsort(known)
        place = np.searchsorted(known[order], wanted)
        row = np.append(order, len(order))[place]
        is_known = np.append(known, -1)[row] == wanted
        return np.where(is_known, np.append(self.found.triple, 0.0)[row], 0.0)

    def during(self, transitions: Ints) -> Expected:
        """The same of some transitions only; nothing is solved again, and probabilities of pairs of sisters are left out."""
        stretch, rows, edges = self.stretch.during(transitions)
        found, ways, model = self.found, self.ways, self.model
        varying = {name: model.value(name) for name, each in model.parameters.items() if each.varies}
        values = {name: value[transitions] for name, value in varying.items() if isinstance(value, np.ndarray)}
        found = replace(
            found,
            edge=found.edge[edges],
            edge_dividing=found.edge_dividing[edges],
            appear=found.appear[rows],
            disappear=found.disappear[rows],
            divide=found.divide[rows],
            triple=None,
        )
        ways = Ways(
            {name: way[rows] for name, way in ways.lost.items()},
            {name: way[rows] for name, way in ways.appear.items()},
            ways.total_lost[rows],
            ways.total_appear[rows],
        )
        return Expected(model.with_values(values), stretch, ways, found)

    @property
    def certainty(self) -> float:
        """Mean probability of each daughter's likeliest mother or ⊥."""
        best = np.zeros(self.stretch.n_rows)
        np.maximum.at(best, self.stretch.daughter, self.found.edge)
        sure = np.maximum(best, self.found.appear)[self.stretch.is_daughter]
        return float(sure.sum() / max(len(sure), 1))

    def totals(self) -> dict[str, float]:
        """Expected numbers of what happened to mothers and daughters."""
        mothers, daughters = self.stretch.is_mother, self.stretch.is_daughter
        found, ways = self.found, self.ways
        single, divided = (float(each[mothers].sum()) for each in (1 - found.disappear - found.divide, found.divide))
        lost = {
            term.lost_as: float((found.disappear * ways.lost_share(term.name))[mothers].sum())
            for term in self.model.terms
            if term.lost_as
        }
        appeared = {
            term.appears_as: float((found.appear * ways.appear_share(term.name))[daughters].sum())
            for term in self.model.terms
            if term.appears_as
        }
        return {"single": single, "divided": divided, **lost, **appeared}


def expect(model: Model, stretch: Stretch, method: Method = "auto", rounds: Rounds | None = None) -> Expected:
    """The E step: the posterior's marginals.

    `rounds` keeps what outlives a change of the model, where the same edges are looked at again.
    """
    ways = model.ways(stretch)
    find = marginals if rounds is None else rounds.marginals
    return Expected(model, stretch, ways, find(model.problem(stretch, ways), method))


def expect_all(model: Model, stretch: Stretch, rounds: Rounds) -> Expected:
    """The E step over many edges of which few are likely: these are looked at well, the others roughly."""
    ways = model.ways(stretch)
    problem = model.problem(stretch, ways)
    return Expected(
        model, stretch, ways, marginals_of_likely(problem, rounds.marginals(problem, "rough"), NEGLIGIBLE_WEIGHT)
    )


def maximise(
    expected: Expected,
    smooth: Floats | None = None,
    weight: Floats | None = None,
    held: frozenset[str] = frozenset(),
    fixed: Callable[[Term], bool] = lambda term: False,
) -> Model:
    """The M step: every term updates itself.

    `smooth` (R, R) says how much each transition counts for each one's varying parameters (pooled without), `weight` (R,) how
    often.
    """
    step = step_of(expected, smooth, held)
    if weight is not None:
        step = replace(step, smooth=step.smooth * weight, weight=weight)
    return updated(expected.model, step, fixed)


def step_of(expected: Expected, smooth: Floats | None = None, held: frozenset[str] = frozenset()) -> Step:
    """What terms update themselves from, with every transition counting once."""
    model, stretch = expected.model, expected.stretch
    sisters = model.sisters(stretch) if expected.found.triple is not None else None
    bound = model.bound if model.features else None
    return Step(
        stretch=stretch,
        model=model,
        ways=expected.ways,
        found=expected.found,
        single=expected.single,
        dividing=expected.found.edge_dividing,
        interior=expected.interior,
        smooth=np.ones((len(stretch), len(stretch))) if smooth is None else smooth,
        weight=np.ones(len(stretch)),
        held=held,
        sisters=sisters,
        divided=expected.found.triple,
        steady=1.0 if bound is None else bound.steady(model.single_ratio(stretch)),
        steady_sisters=1.0
        if bound is None or sisters is None
        else bound.steady_sisters(model.sister_ratio(stretch, sisters)),
    )


def updated(model: Model, step: Step, fixed: Callable[[Term], bool] = lambda term: False) -> Model:
    """The model whose terms have updated themselves, but for those that stay as they are."""
    return replace(model, terms=tuple(term if fixed(term) else term.updated(step) for term in model.terms))


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
