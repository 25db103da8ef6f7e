"""Methods: from costs to probabilities.

A method is any callable `method(scored, rng) -> Block`. It may also have anything that `Method` has, which says what each
is for. Each module here holds one; a user's own needs no registration, and need not derive from `Method`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np

from dunno import rooms
from dunno.assignment import Problem
from dunno.assignment.distributions import normalise
from dunno.costs import Cost, evaluate
from dunno.errors import InputError
from dunno.perturbations import Perturbation
from dunno.types import Block, Bools, Candidates, Floats, FramePair, Ints


@dataclass(frozen=True, eq=False)
class ScoredPair:
    """A frame pair with everything a method may need."""

    pair: FramePair  # The two frames
    candidates: Candidates  # The edges
    costs: Floats  # (E,) what each edge costs
    problem: Problem  # The edges that may be links, with their costs and event costs; the others are infinite there
    cost: Cost  # The cost function itself, for methods that ask it again
    perturbation: Perturbation | None = None  # How to make the pair uncertain, if there is a way
    no_mother: bool = True  # Whether ⊥ takes part in each daughter's distribution

    def with_costs(self, costs: Floats) -> ScoredPair:
        """The same pair with other costs on its edges."""
        given = self.problem
        events = (given.appear, given.disappear, given.divide)
        ends = (given.mother, given.daughter, self.cost.linkable(costs), given.n_mothers, given.n_daughters)
        return replace(self, costs=costs, problem=Problem(*ends, *events))

    def perturbed_costs(self, k: int, rng: np.random.Generator) -> Floats:
        """(K, E) the edges' costs in k perturbed versions of the pair."""
        if self.perturbation is None:
            raise InputError(f"cost {self.cost.name!r} names no perturbation; give one: Tracker(perturbation=…)")
        draws = self.perturbation.draws(self.pair, self.cost, k, rng)
        return np.array([evaluate(self.cost, draw, self.candidates) for draw in draws]).reshape(k, len(self.costs))


PairMethod = Callable[[ScoredPair, np.random.Generator], Block]
"""All that a user's own method must be."""


class Method:
    """What a method may say, and what holds where it does not.

    Attributes:
        name: What the command line and the tables call it.
        samples: K, how many assignments or perturbations it looks at; `None` where it does not count.
        is_random: Whether it draws at random.
        perturbs: Whether it asks for perturbed costs.
        joint: Whether it knows the joint posterior itself, so that a model may make its costs.
        solves_blocks: Whether what it tells is that posterior and nothing else, so that one call solves many pairs.
    """

    name: str = ""
    samples: int | None = None
    is_random: bool = False
    perturbs: bool = False
    joint: bool = False
    solves_blocks: bool = False

    def __init_subclass__(cls) -> None:
        cls.name = cls.name or cls.__name__

    def __call__(self, scored: ScoredPair, rng: np.random.Generator) -> Block:
        """Say how probable each edge is, and which are links."""
        told: Block = self.given(scored, rng)
        return told

    @property
    def given(self) -> Any:
        """The object that a user gave."""
        return vars(self).get("_given", self)


def method_of(given: str | PairMethod, samples: int | None = None) -> Method:
    """The method of a name, or a user's own, with all that may be asked of it."""
    if samples is not None and (isinstance(samples, bool) or int(samples) != samples or samples < 1):
        raise InputError(f"samples is {samples}; expected a whole number, at least 1")
    offered: Any = rooms.find("methods", given) if isinstance(given, str) else given
    takes_samples = samples is not None and isinstance(offered, type) and "samples" in signature(offered).parameters
    return rooms.adapted(Method, "methods", offered, **({"samples": samples} if takes_samples else {}))


def posterior(
    scored: ScoredPair, log_weight: Floats, log_weight_no_mother: Floats, selected: Bools, **more: Any
) -> Block:
    """Turn weights into each daughter's distribution over its mothers and ⊥.

    `selected` (E,) are the reported links; `more` is what else the method knows, as `Block.of_pair` takes it.
    """
    none = log_weight_no_mother if scored.no_mother else np.full(scored.problem.n_daughters, -np.inf)
    log_probability, log_no_mother, entropy = normalise(log_weight, none, scored.candidates.daughter)
    return Block.of_pair(
        scored.pair.mothers,
        scored.pair.daughters,
        (scored.candidates.mother, scored.candidates.daughter),
        of_daughters={"log_no_mother": log_no_mother, "entropy": entropy},
        cost=scored.costs,
        log_probability=log_probability,
        selected=selected,
        **more,
    )


def frequencies(scored: ScoredPair, edge: Ints, weight: Floats, selected: Bools, **more: Any) -> Block:
    """Turn weighted assignments into each daughter's distribution.

    (K, n) the edge per daughter, -1 where it appears; weights (K,) sum to 1; `more` as `Block.of_pair` takes it.
    """
    n, edges = scored.problem.n_daughters, len(scored.candidates)
    weights = np.broadcast_to(weight[:, None], edge.shape)
    chosen = np.bincount(edge[edge >= 0], weights[edge >= 0], minlength=edges)
    appears = np.where(edge < 0, weights, 0.0).sum(axis=0).reshape(n)
    with np.errstate(divide="ignore"):
        return posterior(scored, np.log(chosen), np.log(appears), selected, **more)


def links(scored: ScoredPair, edge: np.ndarray) -> Bools:
    """(E,) which edges an assignment (n,) of edge indices selects."""
    selected = np.zeros(len(scored.candidates), dtype=np.bool_)
    selected[edge[edge >= 0]] = True
    return selected
