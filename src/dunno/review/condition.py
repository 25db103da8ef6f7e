"""A pair's posterior given what a person decided: solved again, with all that follows for the neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dunno.assignment import Problem, marginals, solve
from dunno.assignment.distributions import normalise
from dunno.errors import DecisionError
from dunno.review.constraints import APPEARS, Constraints, constrained, constraints_of, with_decided_edges
from dunno.review.decisions import Decision
from dunno.types import Bools, Floats, GapEdges, PairPosterior

HARD, KEEP = 1e6, 1e3
"""What it is worth, in decisions, to follow a person, and to keep a link that the person did not speak about."""


@dataclass(frozen=True)
class Rules:
    """How an output's pairs are conditioned.

    Attributes:
        no_mother: Whether ⊥ takes part where nothing was decided.
        keep_links: Whether reported links stay where no decision is against them: those of a method that reports other links
            than the posterior's, or somebody's own (`--links`).
    """

    no_mother: bool = True
    keep_links: bool = False


def condition(pair: PairPosterior, decisions: Sequence[Decision], rules: Rules) -> PairPosterior:
    """The posterior given decisions on the pair's cells; the pair itself where they say nothing.

    Where the pair has its assignment problem (method JP), every probability is the posterior's given the decisions. Elsewhere
    only what a decision rules out is taken away, and each daughter's distribution sums to one again.
    """
    said = constraints_of(pair, decisions)
    if said.is_empty:
        return pair
    before = pair.log_no_mother
    pair = with_decided_edges(pair, decisions)
    pair = _without_problem(pair, said, rules) if pair.problem is None else _solved(pair, pair.problem, said, rules)
    selected = _links(pair, said, rules.keep_links or pair.problem is None)
    gaps = None if pair.gaps is None else _gaps(pair, pair.gaps, before, said.settled | ~_alone(pair, selected))
    return replace(pair, selected=selected, samples=None, reviewed=said.settled, gaps=gaps)


def _gaps(pair: PairPosterior, gaps: GapEdges, before: Floats, taken: Bools) -> GapEdges:
    """Edges across gaps: none for daughters who are decided on or linked here; for others, their share of no mother here."""
    with np.errstate(invalid="ignore"):
        more = np.nan_to_num((pair.log_no_mother - before)[gaps.daughter], nan=0.0, posinf=0.0)
    own = taken[gaps.daughter]
    return replace(
        gaps,
        log_probability=np.where(
            own & np.isneginf(pair.log_no_mother)[gaps.daughter], -np.inf, gaps.log_probability + more
        ),
        selected=gaps.selected & ~own,
    )


def _solved(pair: PairPosterior, problem: Problem, said: Constraints, rules: Rules) -> PairPosterior:
    problem = constrained(problem, said)
    found = marginals(problem)
    with np.errstate(divide="ignore"):
        told = _settled(pair, np.log(found.edge), np.log(found.appear), said, rules)
        lost, divides = np.log(found.disappear), np.log(found.divide)
    lost = np.where(said.disappears, 0.0, np.where(said.divides | (said.confirmed > 0), -np.inf, lost))
    divides = np.where(said.divides, 0.0, np.where(said.single | said.disappears, -np.inf, divides))
    return replace(told, log_disappear=lost, log_divide=divides, problem=problem)


def _without_problem(pair: PairPosterior, said: Constraints, rules: Rules) -> PairPosterior:
    possible = said.allowed(pair.mother, pair.daughter)
    log_edge = np.where(possible, pair.log_probability, -np.inf)
    return _settled(pair, log_edge, pair.log_no_mother, said, rules)


def _settled(pair: PairPosterior, log_edge: Floats, log_none: Floats, said: Constraints, rules: Rules) -> PairPosterior:
    """Exact ones and zeros where a person decided; the rest sums to one."""
    own = said.mother[pair.daughter]
    log_edge = np.where(said.settled[pair.daughter], np.where(own == pair.mother, 0.0, -np.inf), log_edge)
    lonely = _alone(pair, log_edge > -np.inf) & ~_alone(
        pair, pair.log_probability > -np.inf
    )  # then ⊥ is all that is left
    none = log_none if rules.no_mother else np.full(len(log_none), -np.inf)
    none = np.where(said.settled, np.where(said.mother == APPEARS, 0.0, -np.inf), np.where(lonely, 0.0, none))
    log_probability, log_no_mother, entropy = normalise(log_edge, none, pair.daughter)
    return replace(pair, log_probability=log_probability, log_no_mother=log_no_mother, entropy=entropy)


def _alone(pair: PairPosterior, edges: Bools) -> Bools:
    """(n,) daughters without any of these edges."""
    alone = np.ones(len(pair.daughters), np.bool_)
    alone[pair.daughter[edges]] = False
    return alone


def _links(pair: PairPosterior, said: Constraints, keep: bool) -> Bools:
    """(E,) the assignment of most expected right decisions among those that agree with the person.

    Raises `DecisionError` where none does.
    """
    stay = KEEP if keep else 0.0
    decided = said.mother[pair.daughter] == pair.mother
    value = pair.probability + stay * pair.selected + HARD * decided
    impossible = (pair.log_probability == -np.inf) | said.disappears[pair.mother]
    appear = -np.exp(pair.log_no_mother) - stay * _alone(pair, pair.selected)
    disappear = np.where(said.divides, HARD, 0.0)
    divide = np.where(said.divides, -HARD, np.where(said.single, HARD, 0.0))
    ends = (pair.mother, pair.daughter, np.where(impossible, np.inf, -value), len(pair.mothers), len(pair.daughters))
    edge = solve(Problem(*ends, appear, disappear, divide)).edge
    selected = np.zeros(len(pair.mother), np.bool_)
    selected[edge[edge >= 0]] = True
    _check(pair, said, selected)
    return selected


def _check(pair: PairPosterior, said: Constraints, selected: Bools) -> None:
    load = np.bincount(pair.mother[selected], minlength=len(pair.mothers))
    short = np.flatnonzero(said.divides & (load != 2))
    if len(short):
        label = int(pair.mothers.label[short[0]])
        raise DecisionError(
            f"cell {label} of frame {pair.mother_frame} cannot divide: what else was decided leaves fewer than two "
            "cells that could be its daughters; link the daughter to it first if the tracker did not think of it"
        )
    if (load[said.disappears] > 0).any() or (load[said.single] > 1).any():
        raise DecisionError(
            f"frames {pair.mother_frame} and {pair.daughter_frame}: these decisions contradict each other"
        )
