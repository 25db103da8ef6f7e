"""Terms: what a model knows about cells, one idea per file.

A model is a sum of terms. A term has named parameters, says how probable edges and events are, and updates itself from
what is expected under the whole model. Each module here holds one; adding a file adds a choice.

A term is a frozen dataclass that derives from `Term`, whose methods all have defaults that say nothing:

- `log_single(stretch)`, `log_dividing(stretch)`: (E,) log densities of a daughter being there, alone or as one of two,
- `log_triple(stretch, sisters)`: (K,) log density of a mother dividing into exactly these two, beyond what both edges say,
- `lost(model, stretch)`: (N,) probability that a mother is lost in this way; ways add up,
- `appear(model, stretch)`: (N,) density of a daughter appearing in this way; ways add up,
- `appearances(model, stretch)`: (R,) how many are expected to appear in this way,
- `updated(step)`: the same term, fitted to what is expected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

import numpy as np

from dunno.types import Floats, Ints
from dunno.types.field import Field
from dunno.types.stretch import Stretch, Value

if TYPE_CHECKING:
    from dunno.assignment import Marginals

Link = Literal["log", "logit", "none"]


@dataclass(frozen=True)
class Parameter:
    """What a term says about one of its parameters.

    Attributes:
        name: Unique among all terms.
        value: The number, the mean over time where it varies.
        unit: In words; "length" is the movie's unit of length.
        bounds: It never leaves them.
        prior: What is believed before the movie, in words.
        link: The scale on which it is free: the logarithm of a positive number, the logit of a share, or none.
        varies: Whether it may vary in time.
        words: How a person is told: a name, a unit, and what is done to the number before it is printed.
    """

    name: str
    value: float
    unit: str
    bounds: tuple[float, float]
    prior: str
    link: Link
    varies: bool
    words: Words | None

    def free(self) -> float:
        """The value on the scale of the link."""
        return to_free(self.value, self.link)

    def bound(self, free: float) -> float:
        """The value that belongs to a number on the scale of the link, within the bounds."""
        return float(np.clip(from_free(free, self.link), *self.bounds))


@dataclass(frozen=True)
class Words:
    """How a parameter is told to a person: "motion per axis 3.1 px per step"."""

    name: str
    unit: str
    change: Literal["as it is", "root", "percent", "growth"] = "as it is"

    def number(self, value: float) -> float:
        """The number as it is printed."""
        if self.change == "root":
            return float(np.sqrt(value))
        if self.change == "growth":
            return 100 * float(np.expm1(value))
        return 100 * value if self.change == "percent" else value


def to_free(value: float, link: Link) -> float:
    """A value on the scale on which it is free."""
    if link == "none":
        return value
    return float(np.log(value) if link == "log" else np.log(value) - np.log1p(-value))


def from_free(free: float, link: Link) -> float:
    """The reverse of `to_free`."""
    if link == "none":
        return free
    return float(np.exp(free) if link == "log" else 1 / (1 + np.exp(-free)))


def parameter(
    unit: str,
    bounds: tuple[float, float],
    prior: str,
    *,
    link: Link = "log",
    varies: bool = False,
    words: Words | None = None,
    default: float | None = None,
) -> Any:
    """Declare a field of a term as a parameter."""
    told = {"unit": unit, "bounds": bounds, "prior": prior, "link": link, "varies": varies, "words": words}
    metadata = {"parameter": told}
    return field(metadata=metadata) if default is None else field(default=default, metadata=metadata)


class Surroundings(Protocol):
    """What a term may know of the model that it is part of."""

    @property
    def field(self) -> Field:
        """The box in which cells are seen."""
        ...

    def value(self, name: str) -> Value:
        """Another term's parameter."""
        ...


@dataclass(frozen=True, eq=False)
class Ways:
    """In which ways cells are lost and appear; ways add up.

    Attributes:
        lost: By term, (N,) probability of each mother to be lost in this way.
        appear: By term, (N,) density of each daughter appearing in this way.
        total_lost: (N,) f₀, kept away from 0 and 1.
        total_appear: (N,) kept away from 0.
    """

    lost: Mapping[str, Floats]
    appear: Mapping[str, Floats]
    total_lost: Floats
    total_appear: Floats

    def lost_share(self, name: str) -> Floats:
        """(N,) which share of being lost is this term's way."""
        return np.minimum(self.lost[name] / self.total_lost, 1.0)

    def appear_share(self, name: str) -> Floats:
        """(N,) which share of appearing is this term's way."""
        return np.minimum(self.appear[name] / self.total_appear, 1.0)


@dataclass(frozen=True, eq=False)
class Sisters:
    """Pairs of edges of one mother that may be a division's.

    Attributes:
        first: (K,) one of the edges.
        second: (K,) the other.
    """

    first: Ints
    second: Ints
    _kept: dict[str, tuple[Stretch, Any]] = field(default_factory=dict, repr=False)

    def kept(self, name: str, stretch: Stretch, make: Callable[[], Any]) -> Any:
        """What depends on these pairs of a stretch and on nothing that is fitted, made when it is first asked for."""
        if name not in self._kept or self._kept[name][0] is not stretch:
            self._kept[name] = (stretch, make())
        return self._kept[name][1]


@dataclass(frozen=True, eq=False)
class Step:
    """All that a term needs in order to update itself.

    Attributes:
        stretch: The cells and edges.
        model: The model under which the expectations were formed.
        ways: In which ways cells are lost and appear under it.
        found: The posterior's marginals under it.
        single: (E,) expected weight of each edge as a mother's only one.
        dividing: (E,) expected weight of each edge as one of two.
        interior: (E,) 1 for edges far enough from the border for displacements to be judged, else 0.
        smooth: (R, R) how much each transition counts for each one's varying parameters; all ones pools them.
        weight: (R,) how often each transition counts.
        held: Names of parameters that stay as they are.
        sisters: Pairs of edges that may be a division's, where a term looks at them.
        divided: (K,) expected weight of each such pair.
        steady: (E,) probability that features of the edge, if it is a single link, did not jump.
        steady_sisters: (K,) the same of divisions.
    """

    stretch: Stretch
    model: Surroundings
    ways: Ways
    found: Marginals
    single: Floats
    dividing: Floats
    interior: Floats
    smooth: Floats
    weight: Floats
    held: frozenset[str] = frozenset()
    sisters: Sisters | None = None
    divided: Floats | None = None
    steady: Floats | float = 1.0
    steady_sisters: Floats | float = 1.0

    @property
    def pooled(self) -> bool:
        """Whether parameters do not vary in time."""
        return bool((self.smooth == self.smooth[:1]).all())

    def kept(self, values: Floats) -> Value:
        """A varying parameter's new (R,) values: one number where they are pooled."""
        return float(values[0]) if self.pooled else values


@dataclass(frozen=True)
class Term:
    """A term that says nothing; see the package's description."""

    name: ClassVar[str] = ""
    sees_sisters: ClassVar[bool] = False
    """Whether it looks at both daughters of a division together."""

    rank: ClassVar[int] = 0
    """In which order terms are tried on a movie by their loss; 0 for those that are not."""

    is_feature: ClassVar[bool] = False
    """Whether it has `single_ratio` and `sister_ratio`, which the term `jumps` bounds together with the others'."""

    @property
    def has_ways(self) -> bool:
        """Whether it has a way of being lost or of appearing."""
        kind = type(self)
        return kind.lost is not Term.lost or kind.appear is not Term.appear

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: Surroundings) -> Self:
        """The term before anything is fitted; terms that come earlier are in the model already."""
        return cls()

    @classmethod
    def can_see(cls, stretch: Stretch) -> bool:
        """Whether what it looks at was measured."""
        return True

    def parameters(self) -> tuple[Parameter, ...]:
        """What is fitted, with all that is to be known about it."""
        own = [each for each in fields(self) if "parameter" in each.metadata]
        return tuple(
            Parameter(each.name, _mean(getattr(self, each.name)), **each.metadata["parameter"]) for each in own
        )

    def with_values(self, values: Mapping[str, Value]) -> Self:
        """The same with other values of those of its parameters that are named."""
        own = {
            each.name: values[each.name]
            for each in fields(self)
            if "parameter" in each.metadata and each.name in values
        }
        return replace(self, **own) if own else self

    def log_single(self, stretch: Stretch) -> Floats | None:
        """(E,) log density of each daughter as her mother's only one."""
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

    def lost(self, model: Surroundings, stretch: Stretch) -> Floats | None:
        """(N,) probability of each mother to be lost in this way."""
        return None

    def appear(self, model: Surroundings, stretch: Stretch) -> Floats | None:
        """(N,) density of each daughter appearing in this way."""
        return None

    def appearances(self, model: Surroundings, stretch: Stretch) -> Floats | None:
        """(R,) how many daughters are expected to appear in this way."""
        return None

    def updated(self, step: Step) -> Self:
        """The term that makes the expectations most likely."""
        return self


def _mean(value: Value) -> float:
    return value if isinstance(value, float) else float(np.mean(value))
