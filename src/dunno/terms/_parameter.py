"""Parameters: the numbers that a term fits, each with its unit, its bounds and what is believed of it before the movie."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from typing import Any, Literal

import numpy as np

Link = Literal["log", "logit", "none"]


@dataclass(frozen=True)
class Prior:
    """What is believed of a parameter before the movie: a mean that weighs as much as some observations of it.

    Attributes:
        mean: A number, or the name of the term's field that holds it, where the movie has a say.
        worth: How many observations it weighs; 0 where nothing is believed.
        of: What these observations are.
        source: Where the mean is from, if it is not the same for all movies.
    """

    mean: float | str = 0.0
    worth: float = 0.0
    of: str = ""
    source: str = ""

    def __str__(self) -> str:
        if self.worth == 0:
            return self.source or "none"
        return f"{self.source or f'{float(self.mean):g}'}, worth {self.worth:g} {self.of}".rstrip()

    def posterior_mean(self, total: Any, weight: Any) -> Any:
        """The mean of the prior's observations and of others, whose weights sum to `weight` and whose values to `total`."""
        return (total + self.worth * float(self.mean)) / (weight + self.worth)


NOTHING_KNOWN = Prior()


@dataclass(frozen=True)
class Parameter:
    """What a term says about one of its parameters."""

    name: str  # Unique among all terms
    value: float  # The number, the mean over time where it varies
    unit: str  # In words; "length" is the movie's unit of length
    bounds: tuple[float, float]  # It never leaves them
    prior: Prior  # What is believed before the movie
    link: Link  # The scale on which it is free: the logarithm of a positive number, the logit of a share, or none
    varies: bool  # Whether it may vary in time
    words: Words | None  # How a person is told: a name, a unit, and what is done to the number before it is printed

    def free(self) -> float:
        """The value on the scale of the link."""
        return to_free(self.value, self.link)

    def bound(self, free: float) -> float:
        """The value that belongs to a number on the scale of the link, within the bounds."""
        return float(np.clip(from_free(free, self.link), *self.bounds))


@dataclass(frozen=True)
class Words:
    """How a parameter is told to a person: "motion per axis 3.1 px per step"; in hundredths where the unit begins with %."""

    name: str
    unit: str
    change: Literal["as it is", "root", "growth"] = "as it is"

    def number(self, value: float) -> float:
        """The number as it is printed."""
        if self.change == "root":
            return float(np.sqrt(value))
        if self.change == "growth":
            return 100 * float(np.expm1(value))
        return 100 * value if self.unit.startswith("%") else value


def parameter(
    unit: str,
    bounds: tuple[float, float],
    prior: Prior = NOTHING_KNOWN,
    *,
    link: Link = "log",
    varies: bool = False,
    words: Words | None = None,
    default: float | None = None,
) -> Any:
    """Declare a field of a term as a parameter; it starts at the prior's mean if no default is given and that is a number."""
    told = Parameter("", np.nan, unit, bounds, prior, link, varies, words)
    if default is None and prior.worth and not isinstance(prior.mean, str):
        default = float(prior.mean)
    return field(default=MISSING if default is None else default, metadata={"parameter": told})


def share(
    unit: str,
    bounds: tuple[float, float],
    prior: Prior,
    words: Words | None = None,
    *,
    varies: bool = False,
    default: float | None = None,
) -> Any:
    """Declare a field of a term as a share, or a probability: free is its logit."""
    return parameter(unit, bounds, prior, link="logit", varies=varies, words=words, default=default)


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
