"""A pair's posterior given what a person decided: solved again, with all that follows for the neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dunno.assignment import Problem, marginals, solve
from dunno.assignment.distributions import normalise
from dunno.errors import DecisionError
from dunno.review.constraints import APPEARS, Constraints, constrained, with_decided_edges
from dunno.review.decisions import Decision
from dunno.review.far import Found, across_gaps
from dunno.review.statements import constraints_of
from dunno.types import Bools, Floats, Held, PairPosterior

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


def condition(
    pair: PairPosterior, decisions: Sequence[Decision], rules: Rules, find: Callable[[int], Found] | None = None
) -> PairPosterior:
    """The posterior given decisions on the pair's cells; the pair itself where they say nothing.

    Where the pair has its assignment problem (method JP), every probability is the posterior's given the decisions. Elsewhere
    only what a decision rules out is taken away, and each daughter's distribution sums to one again.

    Args:
        pair: The pair.
        decisions: Those in force, of any frames.
        rules: How the output's pairs are conditioned.
        find: Finds a frame, for decisions on mothers across gaps.
    """
    said = constraints_of(pair, decisions)
    if said.is_empty and pair.gaps is None:
        return pair
    if said.is_empty:  # a mask that was no cell may have had edges across gaps
        return replace(pair, gaps=across_gaps(pair, pair.log_no_mother, decisions, said.settled, find))
    before, own = pair.log_no_mother, pair
    pair = with_decided_edges(pair, decisions)
    pair = (
        _without_problem(pair, said, rules) if pair.problem is None else _solved(pair, pair.problem, own, said, rules)
    )
    selected = _links(pair, said, rules.keep_links or pair.problem is None)
    held = _held(said.false, said.two), _held(said.mother_false, said.mother_two)
    pair = replace(pair, selected=selected, samples=None, daughters_held=held[0], mothers_held=held[1])
    pair = replace(pair, reviewed=said.settled | said.two)
    gaps = across_gaps(pair, before, decisions, said.settled | ~_alone(pair, selected), find)
    return replace(_with_second_mothers(pair, said), gaps=gaps)


def _held(false: Bools, two: Bools) -> Held | None:
    """How many cells masks hold, where a person said so."""
    known = false | two
    return Held(np.where(known, false, np.nan), np.where(known, two, np.nan)) if known.any() else None


def _with_second_mothers(pair: PairPosterior, said: Constraints) -> PairPosterior:
    """Link the second cells of masks that hold two."""
    second = said.also[pair.daughter] == pair.mother
    if not second.any():
        return pair
    log_probability, selected = np.where(second, 0.0, pair.log_probability), pair.selected | second
    return replace(pair, log_probability=log_probability, selected=selected)


def _solved(
    pair: PairPosterior, problem: Problem, own: PairPosterior, said: Constraints, rules: Rules
) -> PairPosterior:
    problem = constrained(problem, said)
    found = marginals(problem)
    edge_before, none_before = _before(pair, own)
    with np.errstate(divide="ignore"):
        edge = _followed(pair.log_probability, edge_before, np.log(found.edge))
        edge = np.where(said.allowed(pair.mother, pair.daughter), edge, -np.inf)
        none = _followed(pair.log_no_mother, none_before, np.log(found.appear))
        told = _settled(pair, edge, none, said, rules)
        lost, divides = np.log(found.disappear), np.log(found.divide)
    lost = np.where(said.disappears, 0.0, np.where(said.divides | (said.confirmed > 0), -np.inf, lost))
    lost = np.where(said.goes_on, -np.inf, lost)
    single = said.single | said.disappears | said.mother_two
    divides = np.where(said.divides, 0.0, np.where(single, -np.inf, divides))
    return replace(told, log_disappear=lost, log_divide=divides, problem=problem)


def _before(pair: PairPosterior, own: PairPosterior) -> tuple[Floats, Floats]:
    """Logs of what the problem says without any decision, of the pair's edges and of no mother; none of edges that are new."""
    assert own.problem is not None
    found = marginals(own.problem)
    width = len(pair.mothers)
    place = np.searchsorted(pair.daughter * width + pair.mother, own.daughter * width + own.mother)
    edge = np.full(len(pair.mother), -np.inf)
    with np.errstate(divide="ignore"):
        edge[place] = np.log(found.edge)
        return edge, np.log(found.appear)


def _followed(reported: Floats, before: Floats, after: Floats) -> Floats:
    """What was reported, changed by as much as the problem's own posterior changes.

    What is reported may hold more than the problem says (a share for what the model does not know, other frames): whoever is not
    touched by a decision keeps it.
    """
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(before), np.where(np.isneginf(after), reported, after), reported + after - before)


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
    third = said.third[pair.daughter] & (said.mother[pair.daughter] == pair.mother)
    decided = (said.mother[pair.daughter] == pair.mother) & ~third
    value = pair.probability + stay * pair.selected + HARD * decided
    impossible = (pair.log_probability == -np.inf) | said.disappears[pair.mother] | third
    appear = -np.exp(pair.log_no_mother) - stay * _alone(pair, pair.selected)
    disappear = np.where(said.divides, HARD, 0.0)
    divide = np.where(said.divides, -HARD, np.where(said.single, HARD, 0.0))
    ends = (pair.mother, pair.daughter, np.where(impossible, np.inf, -value), len(pair.mothers), len(pair.daughters))
    edge = solve(Problem(*ends, appear, disappear, divide)).edge
    selected = np.zeros(len(pair.mother), np.bool_)
    selected[edge[edge >= 0]] = True
    _check(pair, said, selected)
    return np.asarray(selected | third)


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
