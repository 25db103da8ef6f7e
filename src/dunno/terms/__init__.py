"""Terms: what a model knows about cells, one idea per file.

A model is a sum of terms. A term has named parameters, says how probable edges and events are, and updates itself from
what is expected under the whole model. Each module here holds one; adding a file adds a choice.

A term is a frozen dataclass that derives from `Term`, whose methods all have defaults that say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from dunno.terms._parameter import Parameter, Prior, Words, from_free, parameter, share, to_free
from dunno.types import Floats, Ints
from dunno.types.field import Field
from dunno.types.stretch import Stretch, Value

if TYPE_CHECKING:
    from dunno.assignment import Marginals

__all__ = [
    "ModelView",
    "Parameter",
    "Prior",
    "Sisters",
    "Step",
    "Term",
    "Ways",
    "Words",
    "from_free",
    "parameter",
    "share",
    "to_free",
]

PLACES = ("motion", "division", "turnover", "border")
"""The terms that every model has, in the order in which they start."""

BOUND = "jumps"
"""The term that joins with the first feature."""

TAIL = 4.0  # degrees of freedom; judged
"""Degrees of freedom of all Student laws but the motion's."""


class ModelView(Protocol):
    """What a term may know of the model that it is part of."""

    @property
    def field(self) -> Field:
        """The box in which cells are seen."""
        ...

    def value(self, name: str) -> Value:
        """Another term's parameter: one number, or one per transition."""
        ...

    def mean(self, name: str) -> float:
        """Its mean over time."""
        ...


@dataclass(frozen=True, eq=False)
class Ways:
    """In which ways cells are lost and appear; ways add up."""

    lost: Mapping[str, Floats]  # By term, (N,) probability of each mother to be lost in this way
    appear: Mapping[str, Floats]  # By term, (N,) density of each daughter appearing in this way
    total_lost: Floats  # (N,) f₀, kept away from 0 and 1
    total_appear: Floats  # (N,) kept away from 0

    def lost_share(self, name: str) -> Floats:
        """(N,) which share of being lost is this term's way."""
        return np.minimum(self.lost[name] / self.total_lost, 1.0)

    def appear_share(self, name: str) -> Floats:
        """(N,) which share of appearing is this term's way."""
        return np.minimum(self.appear[name] / self.total_appear, 1.0)


@dataclass(frozen=True, eq=False)
class Sisters:
    """Pairs of edges of one mother that may be a division's."""

    first: Ints  # (K,) one of the edges
    second: Ints  # (K,) the other


@dataclass(frozen=True, eq=False)
class Step:
    """All that a term needs in order to update itself."""

    stretch: Stretch  # The cells and edges
    model: ModelView  # The model under which the expectations were formed
    ways: Ways  # In which ways cells are lost and appear under it
    found: Marginals  # The posterior's marginals under it
    single: Floats  # (E,) expected weight of each edge as a mother's only one
    dividing: Floats  # (E,) expected weight of each edge as one of two
    interior: Floats  # (E,) 1 for edges far enough from the border for displacements to be judged, else 0
    smooth: Floats  # (R, R) how much each transition counts for each one's varying parameters; all ones pools them
    weight: Floats  # (R,) how often each transition counts
    held: frozenset[str] = frozenset()  # Names of parameters that stay as they are
    sisters: Sisters | None = None  # Pairs of edges that may be a division's, where a term looks at them
    divided: Floats | None = None  # (K,) probability of each such pair to be one
    steady: Floats | float = 1.0  # (E,) probability that features of the edge, if it is a single link, did not jump
    steady_sisters: Floats | float = 1.0  # (K,) the same of divisions

    @property
    def counts(self) -> Floats:
        """(E,) how often each edge's transition counts."""
        return np.asarray(self.weight[self.stretch.edge_transition])

    @property
    def divisions(self) -> tuple[Sisters, Floats] | None:
        """Pairs of edges that may be a division's, and their expected weights."""
        if self.sisters is None or self.divided is None:
            return None
        return self.sisters, self.counts[self.sisters.first] * self.divided

    def kept(self, values: Floats) -> Value:
        """A varying parameter's new (R,) values: one number where they are pooled."""
        return float(values[0]) if (self.smooth == self.smooth[:1]).all() else values

    def total(self, prior: Prior, count: Floats, possible: Floats) -> float:
        """The share of (R,) counts among what was possible, in all transitions."""
        return float(prior.posterior_mean((self.weight * count).sum(), (self.weight * possible).sum()))

    def share(self, prior: Prior, count: Floats, possible: Floats) -> Value:
        """(R,) shares that lean on the movie's as it leans on the prior; one number where parameters do not vary."""
        movie = replace(prior, mean=self.total(prior, count, possible))
        return self.kept(np.asarray(movie.posterior_mean(self.smooth @ count, self.smooth @ possible)))


@dataclass(frozen=True)
class Term:
    """A term that says nothing; see the package's description."""

    name: ClassVar[str] = ""
    rank: ClassVar[int] = 0  # in which order terms are tried on a movie by their loss; 0 for those that are not
    joins_by_rule: ClassVar[bool] = False  # something else than the loss decides; it may be asked for all the same
    is_place: ClassVar[bool] = False  # sees places alone, and so is fitted before evidence is added
    is_unit: ClassVar[bool] = False  # says in which units displacements count
    is_drift: ClassVar[bool] = False  # says where mothers are carried
    sees_sisters: ClassVar[bool] = False  # looks at both daughters of a division together
    is_feature: ClassVar[bool] = False  # has `single_ratio` and `sister_ratio`, which one term bounds with the others'
    bounds_features: ClassVar[bool] = False  # is that term
    lost_as: ClassVar[str] = ""  # what its way of being lost is called where expected numbers are told
    appears_as: ClassVar[str] = ""  # likewise of appearing

    @property
    def longest_gap(self) -> int:
        """How many frames a link may skip."""
        return 0

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: ModelView) -> Self:
        """The term before anything is fitted; terms that come earlier are in the model already."""
        return cls()

    def measured(self, stretch: Stretch) -> Stretch:
        """The stretch in the units in which displacements count."""
        return stretch

    @classmethod
    def can_see(cls, stretch: Stretch) -> bool:
        """Whether what it looks at was measured."""
        return True

    @property
    def prefix(self) -> str:
        """What its parameters' names begin with, where several terms have the same ones."""
        return ""

    def parameters(self) -> tuple[Parameter, ...]:
        """What is fitted, with all that is to be known about it."""
        return tuple(each for name in self.__dataclass_fields__ if (each := self.parameter(name)) is not None)

    def parameter(self, name: str) -> Any:
        """The parameter in a field; `None` where there is another thing in it."""
        told: Parameter | None = self.__dataclass_fields__[name].metadata.get("parameter")
        if told is None:
            return None
        prior = told.prior
        prior = replace(prior, mean=getattr(self, prior.mean)) if isinstance(prior.mean, str) else prior
        return replace(told, name=self.prefix + name, value=float(np.mean(getattr(self, name))), prior=prior)

    def prior(self, name: str) -> Prior:
        """What is believed of the parameter in a field."""
        prior: Prior = self.parameter(name).prior
        return prior

    def with_values(self, values: Mapping[str, Value]) -> Self:
        """The same with other values of those of its parameters that are named."""
        names = {self.prefix + each.name: each.name for each in fields(self) if "parameter" in each.metadata}
        return replace(self, **{names[name]: value for name, value in values.items() if name in names})

    def fitted(self, **values: Any) -> Self:
        """The same with other values of some fields, parameters within their bounds."""
        for name in values:
            if told := self.parameter(name):
                within = np.clip(values[name], *told.bounds)
                values[name] = within if np.ndim(within) else float(within)
        return replace(self, **values)

    def student(self, value: Floats, weight: Floats, mean: str, spread: str | float) -> dict[str, float]:
        r"""The mean (0 without a name) and the spread (which stays, if it is a number) of a Student law, one step on.

        $μ ← \sum w u x / \sum w u$, $s^2 ← \sum w u (x - μ)^2 / \sum w$, $u = (ν + 1) / (ν + (x - μ)^2 / s^2)$, priors included,
        for values on the scale of the mean's link.
        """
        found, own = {}, self.parameter(mean) if mean else None
        centre = 0.0 if own is None else own.free()
        width = getattr(self, spread) if isinstance(spread, str) else spread
        robust = robust_weight(weight, (value - centre) ** 2 / width**2)
        if own is not None:
            prior = replace(own.prior, mean=to_free(float(own.prior.mean), own.link))
            centre = prior.posterior_mean(float((robust * value).sum()), float(robust.sum()))
            found[mean] = from_free(centre, own.link)
        if isinstance(spread, str):
            prior = self.prior(spread)
            squares = replace(prior, mean=float(prior.mean) ** 2)
            total = float((robust * (value - centre) ** 2).sum())
            found[spread] = float(np.sqrt(squares.posterior_mean(total, float(weight.sum()))))
        return found

    def student_scale(self, squared: Floats, weight: Floats, scale: str, d: int) -> float:
        """The squared scale per axis of a d-dimensional Student law around 0, one step on from weighted squared distances."""
        prior, robust = self.prior(scale), robust_weight(weight, squared / getattr(self, scale), TAIL, d)
        total = float((robust * squared).sum()) + prior.worth * d * float(prior.mean)
        return total / (d * (float(weight.sum()) + prior.worth))

    def log_single(self, stretch: Stretch) -> Floats | None:
        """(E,) log density of each daughter as its mother's only one."""
        return None

    def log_dividing(self, stretch: Stretch) -> Floats | None:
        """(E,) log density of each daughter as one of two."""
        return None

    def log_triple(self, stretch: Stretch, sisters: Sisters) -> Floats | None:
        """(K,) log density of a mother dividing into exactly these two, beyond what both edges say."""
        return None

    def log_ready(self, stretch: Stretch) -> Floats | None:
        """(N,) what is added to the log odds of each mother to divide."""
        return None

    def lost(self, model: ModelView, stretch: Stretch) -> Floats | None:
        """(N,) probability of each mother to be lost in this way."""
        return None

    def appear(self, model: ModelView, stretch: Stretch) -> Floats | None:
        """(N,) density of each daughter appearing in this way."""
        return None

    def appearances(self, model: ModelView, stretch: Stretch) -> Floats | None:
        """(R,) how many daughters are expected to appear in this way."""
        return None

    def updated(self, step: Step) -> Self:
        """The term that makes the expectations most likely."""
        return self


def robust_weight(weight: Any, ratio: Floats, tail: float = TAIL, d: int = 1) -> Any:
    """What values weigh in a d-dimensional Student law: little far out; `ratio` is squared distance over squared scale."""
    return weight if np.isinf(tail) else weight * (tail + d) / (tail + ratio)


def bounded(ratio: Floats, odd: float, most: float) -> Floats:
    """What a log ratio says where a share of all cases is odd, of which it says nothing, and at most so much."""
    return np.asarray(np.log((1 - odd) * np.exp(np.minimum(ratio, most)) + odd))
