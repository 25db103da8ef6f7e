"""Methods: from costs to probabilities.

A method is any callable `method(scored, rng) -> PairPosterior` with a `name`. Each module here holds one.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dunno.assignment import Problem
from dunno.costs import Cost
from dunno.types import Bools, Candidates, Floats, FramePair, PairPosterior


@dataclass(frozen=True, eq=False)
class ScoredPair:
    """A frame pair with everything a method may need.

    Attributes:
        pair: The two frames.
        candidates: The edges.
        problem: The edges with their costs and event costs.
        cost: The cost function itself, for methods that ask it again.
        no_mother: Whether ⊥ takes part in each daughter's distribution.
    """

    pair: FramePair
    candidates: Candidates
    problem: Problem
    cost: Cost
    no_mother: bool = True


class Method(Protocol):
    """What every method can do."""

    name: str

    def __call__(self, scored: ScoredPair, rng: np.random.Generator) -> PairPosterior:
        """Say how probable each edge is, and which are links."""
        ...


def normalise(scored: ScoredPair, log_weight: Floats, log_weight_no_mother: Floats, selected: Bools) -> PairPosterior:
    """Turn weights into each daughter's distribution over her mothers and ⊥.

    Args:
        scored: The pair.
        log_weight: (E,) of the edges.
        log_weight_no_mother: (n,) of ⊥; left out where `scored.no_mother` is false.
        selected: (E,) the reported links.
    """
    daughter, n = scored.candidates.daughter, scored.problem.n_daughters
    no_mother = log_weight_no_mother if scored.no_mother else np.full(n, -np.inf)
    largest = no_mother.copy()
    np.maximum.at(largest, daughter, log_weight)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    total = np.exp(no_mother - shift) + np.bincount(daughter, np.exp(log_weight - shift[daughter]), minlength=n)
    with np.errstate(divide="ignore"):
        log_total = np.where(total > 0, shift + np.log(total), 0.0)
    log_probability = log_weight - log_total[daughter]
    log_no_mother = no_mother - log_total
    return PairPosterior(
        mothers=scored.pair.mothers.without_pixels(),
        daughters=scored.pair.daughters.without_pixels(),
        mother=scored.candidates.mother,
        daughter=daughter,
        cost=scored.problem.cost,
        log_probability=log_probability,
        log_no_mother=log_no_mother,
        entropy=_surprise(log_no_mother) + np.bincount(daughter, _surprise(log_probability), minlength=n),
        selected=selected,
    )


def links(scored: ScoredPair, edge: np.ndarray) -> Bools:
    """(E,) which edges an assignment (n,) of edge indices selects."""
    selected = np.zeros(len(scored.candidates), dtype=np.bool_)
    selected[edge[edge >= 0]] = True
    return selected


def _surprise(log_probability: Floats) -> Floats:
    """−p log p, 0 where p is 0."""
    possible = np.isfinite(log_probability)
    finite = np.where(possible, log_probability, 0.0)
    return np.asarray(np.where(possible, -np.exp(finite) * finite, 0.0))
