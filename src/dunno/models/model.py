"""A generative model of cells between frames: a sum of terms, and the assignment problem that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from dunno import rooms
from dunno.assignment import NEVER, Problem, Triples, every_pair
from dunno.errors import InputError
from dunno.terms import PLACES, Parameter, Sisters, Term, Ways
from dunno.types import Floats, Ints
from dunno.types.density import reach_of_student
from dunno.types.field import Field
from dunno.types.records import OwnForm, ValueRange, from_json, misplaced
from dunno.types.stretch import Stretch, Value

IS_PLACE: Callable[[Term], bool] = attrgetter("is_place")

SISTER_REACH = 3.5  # standard deviations; judged
"""Pairs of daughters are looked at where each lies within so many of a division's standard deviations."""

MOST_DAUGHTERS = 12  # daughters; benchmarks.bounds
"""Of a mother's edges, the shortest so many may be a division's: pairs grow with their square."""

SMALLEST = 1e-12  # probability; exact: keeps a logarithm finite
"""Rates are kept this far from 0 and 1, so that no event is impossible."""


@dataclass(frozen=True)
class Model(OwnForm):
    r"""The terms and the field, and the likelihood that they give an assignment.

    A mother is lost, has one daughter or divides. With $f_0$ the sum of the ways of being lost, $f_1 = (1 - π_0)(1 - q)$,
    $f_2 = 2 (1 - π_0) q$ (a division's daughters have no order; $π_0$ is `p_lost`, $q$ is `p_divide`), $g$ and $h$ the products
    of the terms' densities of single and of dividing edges and ρ the sum of the ways of appearing, it is

    $$\prod_{i: 0} f_0 \prod_{i \to j} f_1\, g_{ij} \prod_{i \to j,k} f_2\, h_{ij} h_{ik} \prod_{j: ⊥} ρ_j \cdot e^{-\int ρ}$$
    """

    terms: tuple[Term, ...]
    field: Field

    @property
    def n_dimensions(self) -> int:
        """2 or 3."""
        return self.field.n_dimensions

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """All parameters of all terms, by name."""
        return {each.name: each for term in self.terms for each in term.parameters()}

    def term(self, name: str) -> Any:
        """A term by its name."""
        return next(term for term in self.terms if term.name == name)

    def where(self, keep: Callable[[Term], bool]) -> Model:
        """The same with the terms for which something holds, and no others."""
        return replace(self, terms=tuple(filter(keep, self.terms)))

    def plus(self, *terms: Term) -> Model:
        """The same with some more terms, in the place of those of their names."""
        names = {term.name for term in terms}
        return replace(self, terms=(*self.where(lambda term: term.name not in names).terms, *terms))

    @property
    def max_gap(self) -> int:
        """How many frames a link may skip."""
        return max((term.longest_gap for term in self.terms), default=0)

    @property
    def drift(self) -> Any:
        """The term that says where mothers are carried; `None` without it."""
        return next((term for term in self.terms if term.is_drift), None)

    def measured(self, stretch: Stretch) -> Stretch:
        """A stretch in the units in which displacements count."""
        for term in self.terms:
            stretch = term.measured(stretch)
        return stretch

    def reach(self, beyond: float) -> float:
        """The distance beyond which a share `beyond` of the displacements of single daughters goes."""
        return reach_of_student(beyond, self.mean("motion_scale"), self.mean("tail"), self.n_dimensions)

    def value(self, name: str) -> Value:
        """A parameter, of whichever term: one number, or one per transition."""
        value: Value = next(getattr(term, name) for term in self.terms if name in term.__dataclass_fields__)
        return value

    def mean(self, name: str) -> float:
        """A parameter's mean over time."""
        return float(np.mean(self.value(name)))

    def with_values(self, values: Mapping[str, Value]) -> Model:
        """The same with other values of some parameters."""
        return replace(self, terms=tuple(term.with_values(values) for term in self.terms))

    @property
    def free(self) -> Floats:
        """(P,) all parameters on the scales of their links."""
        return np.array([each.free() for each in self.parameters.values()])

    def with_free(self, free: Floats) -> Model:
        """The same with parameters from the scales of their links, within their bounds."""
        parameters = self.parameters.values()
        return self.with_values({each.name: each.bound(x) for each, x in zip(parameters, free.tolist(), strict=True)})

    def over_time(self, duration: Floats) -> Model:
        """The same for transitions that take (R,) usual steps each.

        Squared motion grows as over several frames (`lag_power`); in equal times, equal shares of the cells are lost and divide.
        """
        shares = {name: 1 - (1 - np.asarray(self.value(name))) ** duration for name in ("p_lost", "p_divide")}
        grown = {"motion_scale": duration ** self.value("lag_power"), "appear_density": duration}
        return self.with_values(
            {name: np.clip(share, *self.parameters[name].bounds) for name, share in shares.items()}
            | {name: np.asarray(self.value(name) * factor, np.float64) for name, factor in grown.items()}
        )

    def ways(self, stretch: Stretch) -> Ways:
        """In which ways cells are lost and appear."""
        lost = {term.name: way for term in self.terms if (way := term.lost(self, stretch)) is not None}
        appear = {term.name: way for term in self.terms if (way := term.appear(self, stretch)) is not None}
        return Ways(
            lost,
            appear,
            total_lost=np.clip(_sum(lost.values(), stretch.n_rows), SMALLEST, 1 - SMALLEST),
            total_appear=np.maximum(_sum(appear.values(), stretch.n_rows), SMALLEST / self.field.size),
        )

    def problem(self, stretch: Stretch, ways: Ways | None = None) -> Problem:
        """The assignment problem whose posterior this model gives: every row as a mother against every row as a daughter.

        Rows that are no mothers, or no daughters, in this stretch cost nothing.
        """
        costs = self._costs(stretch, ways or self.ways(stretch))
        sisters = self._triples(stretch)
        n = stretch.n_rows
        return Problem(stretch.mother, stretch.daughter, n_mothers=n, n_daughters=n, **costs, triples=sisters)

    def pair_problem(self, stretch: Stretch) -> Problem:
        """The same for a stretch of one transition, its mothers against its daughters."""
        costs = self._costs(stretch, self.ways(stretch))
        m, n = int(stretch.is_mother.sum()), int(stretch.is_daughter.sum())
        mothers = {name: costs.pop(name)[:m] for name in ("disappear", "divide")}
        appear = costs.pop("appear")[m:]
        mother, daughter = stretch.mother, stretch.daughter - m
        sisters = self._triples(stretch)
        return Problem(mother, daughter, n_mothers=m, n_daughters=n, **costs, **mothers, appear=appear, triples=sisters)

    def sisters(self, stretch: Stretch) -> Sisters | None:
        """Pairs of edges that may be a division's, as far as places say; `None` where no term asks for them."""
        looked_at = any(term.sees_sisters for term in self.terms)
        if not looked_at and stretch.lag is None:
            return None
        scale = self.value("division_scale")
        if not isinstance(scale, float):
            return _near_pairs(stretch, scale, looked_at)
        found: Sisters = stretch.latest("sisters", (looked_at, scale), lambda: _near_pairs(stretch, scale, looked_at))
        return found

    def _triples(self, stretch: Stretch) -> Triples | None:
        sisters = self.sisters(stretch)
        if sisters is None:
            return None
        total = self._total("log_triple", len(sisters.first), stretch, sisters)
        if self.features:
            ratio = self.sister_ratio(stretch, sisters)
            total = total + (ratio if self.bound is None else self.bound.bounded_of_sisters(ratio))
        return Triples(sisters.first, sisters.second, -total)

    @property
    def bound(self) -> Any:
        """The term that bounds what features say; `None` without it."""
        return next((term for term in self.terms if term.bounds_features), None)

    @property
    def features(self) -> list[Any]:
        """The terms that compare a measured number of mother and daughter."""
        return [term for term in self.terms if term.is_feature]

    def single_ratio(self, stretch: Stretch) -> Floats:
        """(E,) what all features together say of each edge."""
        return _sum([each.single_ratio(stretch) for each in self.features], len(stretch.mother))

    def sister_ratio(self, stretch: Stretch, sisters: Sisters) -> Floats:
        """(K,) what they say of each division."""
        return _sum([each.sister_ratio(stretch, sisters) for each in self.features], len(sisters.first))

    def _costs(self, stretch: Stretch, ways: Ways) -> dict[str, Any]:
        """What a problem needs beside its edges."""
        lost, divide = stretch.by_mother(self.value("p_lost")), self._p_divide(stretch)
        single, dividing = (1 - lost) * (1 - divide), 2 * (1 - lost) * divide
        return {
            "cost": -self._log_single(stretch),
            "dividing_cost": -self._total("log_dividing", len(stretch.mother), stretch),
            "appear": np.where(stretch.is_daughter, -np.log(ways.total_appear), 0.0),
            "disappear": np.where(stretch.is_mother, -np.log(ways.total_lost / single), 0.0),
            "divide": np.where(stretch.is_mother, NEVER if self.never_divides else -np.log(dividing / single), 0.0),
        }

    @property
    def never_divides(self) -> bool:
        """Whether cells are known not to divide."""
        return bool(self.term("division").never)

    def without_divisions(self) -> Model:
        """The same where cells are known not to divide."""
        division = self.term("division").without_divisions()
        return replace(self, terms=tuple(division if term.name == division.name else term for term in self.terms))

    def _p_divide(self, stretch: Stretch) -> Floats:
        """(N,) the probability of each surviving mother to divide."""
        usual = stretch.by_mother(self.value("p_divide"))
        if all(term.log_ready(stretch) is None for term in self.terms):
            return usual
        odds = np.log(usual) - np.log1p(-usual) + self._total("log_ready", stretch.n_rows, stretch)
        return np.clip(1 / (1 + np.exp(-odds)), SMALLEST, 1 - 1e-6)

    def _log_single(self, stretch: Stretch) -> Floats:
        own = self._total("log_single", len(stretch.mother), stretch)
        if not self.features:
            return own
        ratio = self.single_ratio(stretch)
        return own + (ratio if self.bound is None else self.bound.bounded(ratio))

    def _total(self, kind: str, length: int, *given: Any) -> Floats:
        """What all terms that have something to say say together."""
        parts = (getattr(term, kind)(*given) for term in self.terms)
        return _sum((part for part in parts if part is not None), length)

    def log_constant(self, stretch: Stretch) -> float:
        """What the problem leaves out of the evidence: Σ log π₁ over mothers, and −∫ρ."""
        appearances = self._total("appearances", len(stretch), self, stretch).sum()
        single = np.log((1 - stretch.by_mother(self.value("p_lost"))) * (1 - self._p_divide(stretch)))
        return float(single[stretch.is_mother].sum() - appearances)

    def interior(self, stretch: Stretch) -> Floats:
        """(N,) 1 for mothers so far from the border that hardly a daughter is lost across it, 0 for others.

        Near the border the long displacements leave, and those that are seen look short. All ones in transitions with few inside.
        """
        distance = stretch.latest("to the border", self.field, lambda: self._to_border(stretch))
        widest = np.maximum(*(stretch.by_mother(self.value(name)) for name in ("motion_scale", "division_scale")))
        inside = (distance > 2.5 * np.sqrt(widest)).astype(np.float64)
        share = stretch.per_transition(inside, stretch.leads) / np.maximum(stretch.n_mothers, 1)
        return np.where(share[stretch.leads] > 0.3, inside, 1.0)

    def _to_border(self, stretch: Stretch) -> Floats:
        """(N,) how far each mother is from the border, in units of each axis."""
        low, high = np.array(self.field.low), np.array(self.field.high)
        distance = np.minimum(stretch.place_after - low, high - stretch.place_after) / stretch.axis_widths
        return np.asarray(distance.min(axis=1, initial=np.inf))

    def to_json(self) -> dict[str, Any]:
        """The field, and each term under its name."""
        return {"field": self.field, "terms": {path_of(term): term for term in self.terms}}

    @classmethod
    def of_json(cls, content: dict[str, Any], where: str) -> Model:
        """The reverse of `to_json`."""
        stored = from_json(StoredModel, content, where)
        if missing := set(PLACES) - set(stored.terms):
            raise InputError(f"{where}.terms.{min(missing)} is missing")
        return cls(tuple(_term(name, each, f"{where}.terms") for name, each in stored.terms.items()), stored.field)


@dataclass(frozen=True)
class StoredModel:
    """What files hold of a model."""

    field: Field
    terms: Mapping[str, Any]


def _term(name: str, content: Any, where: str) -> Any:
    """A term of a file, which may be a user's own but nothing else that could be made; its parameters are within their bounds."""
    kind = rooms.find("terms", name)
    if not (isinstance(kind, type) and issubclass(kind, Term)):
        raise InputError(f"{where}.{name:.40} is no term")
    term = from_json(kind, content, f"{where}.{name}")
    for each in term.parameters():
        if not each.bounds[0] <= each.value <= each.bounds[1]:
            raise misplaced(each.value, f"{where}.{name}.{each.name}", f"expected {ValueRange(*each.bounds)}")
    return term


def start_model(stretch: Stretch, field: Field, cell_size: float, names: Sequence[str] = PLACES) -> Model:
    """A model to begin with: each term starts from the data and from those before it."""
    model = Model((), field)
    for name in names:
        model = model.plus(rooms.find("terms", name).start(stretch, cell_size, model))
    return model


def _near_pairs(stretch: Stretch, scale: Value, all_lags: bool) -> Sisters:
    """Pairs of edges of one mother, each within reach of a division; only those with an edge across a gap, or all."""
    near = stretch.squared < SISTER_REACH**2 * np.asarray(stretch.by_edge(scale))
    edges = np.flatnonzero(near if all_lags else near & (stretch.lags > 1))
    edges = _shortest(edges, stretch.mother, stretch.squared)
    first, second = every_pair(stretch.mother[edges])
    return Sisters(edges[first], edges[second])


def _shortest(edges: Ints, mother: Ints, squared: Floats) -> Ints:
    """Those of some edges that are among the `MOST_DAUGHTERS` shortest of their mothers, in their order."""
    if np.bincount(mother[edges]).max(initial=0) <= MOST_DAUGHTERS:
        return edges
    order = np.lexsort((squared[edges], mother[edges]))
    owner = mother[edges][order]
    rank = np.arange(len(order)) - np.searchsorted(owner, owner)
    return np.sort(edges[order[rank < MOST_DAUGHTERS]])


def path_of(term: Term) -> str:
    """A term's name in the room, or where to import a user's own from."""
    kind = type(term)
    return term.name if kind.__module__.startswith("dunno.terms.") else f"{kind.__module__}:{kind.__qualname__}"


def _sum(parts: Any, length: int) -> Floats:
    total = np.zeros(length)
    for part in parts:
        total = total + part
    return total
