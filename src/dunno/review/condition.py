"""A block's posterior given what a person decided: solved again, with all that follows for its other cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dunno.assignment import Marginals, Problem, marginals, solve
from dunno.assignment.distributions import normalise
from dunno.errors import DecisionError
from dunno.review.constraints import APPEARS, Constraints, constrained, with_decided_edges
from dunno.review.decisions import Decision
from dunno.review.statements import constraints_of
from dunno.types import Block, Bools, Floats

HARD, KEEP = 1e6, 1e3
"""What it is worth, in decisions, to follow a person, and to keep a link that the person did not speak about."""


@dataclass(frozen=True)
class Rules:
    """How an output's blocks are conditioned."""

    no_mother: bool = True  # Whether ⊥ takes part where nothing was decided
    # Whether reported links stay where no decision is against them: those of a method that reports other links than
    # the posterior's, or somebody's own (`--links`)
    keep_links: bool = False


def condition(own: Block, decisions: Sequence[Decision], rules: Rules) -> Block:
    """The posterior given decisions on a block's cells; the block itself where they say nothing.

    Where it has its assignment problem (method JP), every probability is the posterior's given the decisions, those of edges
    across gaps among them. Elsewhere only what a decision rules out is taken away, and each daughter's distribution sums to one
    again.
    """
    block = with_decided_edges(own, decisions)
    said = constraints_of(block, decisions)
    if said.is_empty:
        return own
    if block.problem is None:
        possible = said.allowed(block.mother, block.daughter, block.gap)
        block = _settled(block, np.where(possible, block.log_probability, -np.inf), block.log_no_mother, said, rules)
    else:
        block = _solved(own, block, block.problem, said, rules)
    keep = rules.keep_links or block.problem is None
    return _with_second_mothers(
        replace(
            block,
            selected=_links(block, said, keep),
            samples=block.samples[:0],
            p_segment=np.where(said.false, 0.0, np.where(said.two, 1.0, block.p_segment)),
            p_cell=np.where(said.false, 0.0, np.where(said.two, 1.0, block.p_cell)),
            two=block.two & ~said.false | said.two,
            reviewed=block.reviewed | _as_daughters(block, said.settled | said.two),
            is_reviewed=True,
        ),
        said,
    )


def _as_daughters(block: Block, rows: Bools) -> Bools:
    """Those of some rows whose mothers the block tells of."""
    found = rows.copy()
    found[: block.begin[block.first + 1]] = False
    return found


def _with_second_mothers(block: Block, said: Constraints) -> Block:
    """Link the second cells of masks that hold two."""
    second = said.also[block.daughter] == block.mother
    log_probability = np.where(second, 0.0, block.log_probability)
    return replace(block, log_probability=log_probability, selected=block.selected | second)


def _solved(own: Block, block: Block, problem: Problem, said: Constraints, rules: Rules) -> Block:
    problem = constrained(problem, said, block.gap)
    found = marginals(problem)
    edge_before, none_before = _before(own, block)
    with np.errstate(divide="ignore"):
        edge = _followed(block.log_probability, edge_before, np.log(found.edge))
        edge = np.where(said.allowed(block.mother, block.daughter, block.gap), edge, -np.inf)
        none = _followed(block.log_no_mother, none_before, _log_none(block, found))
        lost, divides = np.log(found.disappear), np.log(found.divide)
    block = _settled(block, edge, none, said, rules)
    lost = np.where(said.disappears, 0.0, np.where(said.divides | (said.confirmed > 0), -np.inf, lost))
    lost = np.where(said.goes_on | (said.missed & (said.confirmed == 0)), -np.inf, lost)
    single = said.single | said.disappears | said.two | said.missed & (said.confirmed < 2)
    divides = np.where(said.divides, 0.0, np.where(single, -np.inf, divides))
    mothers = np.isfinite(block.log_disappear) | np.isneginf(block.log_disappear)
    return replace(
        block,
        log_disappear=np.where(mothers, lost, block.log_disappear),
        log_divide=np.where(mothers, divides, block.log_divide),
        problem=problem,
    )


def _log_none(block: Block, found: Marginals) -> Floats:
    """(N,) log probability of having no mother in the frame before."""
    far = block.gap > 0
    earlier = np.bincount(block.daughter[far], found.edge[far], minlength=len(block.cells))
    with np.errstate(divide="ignore"):
        return np.log(np.clip(found.appear + earlier, 0.0, 1.0))


def _before(own: Block, block: Block) -> tuple[Floats, Floats]:
    """Logs of what the problem says without any decision, of the block's edges and of no mother; none of edges that are new."""
    assert own.problem is not None
    found, n = marginals(own.problem), len(block.cells)
    known = np.isin(block.daughter * n + block.mother, own.daughter * n + own.mother)
    edge = np.full(len(block.mother), -np.inf)
    with np.errstate(divide="ignore"):
        edge[known] = np.log(found.edge)
    return edge, _log_none(own, found)


def _followed(reported: Floats, before: Floats, after: Floats) -> Floats:
    """What was reported, changed by as much as the problem's own posterior changes.

    What is reported may hold more than the problem says (a share for what the model does not know, other frames): whatever is not
    touched by a decision keeps it.
    """
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(before), np.where(np.isneginf(after), reported, after), reported + after - before)


def _settled(block: Block, log_edge: Floats, log_none: Floats, said: Constraints, rules: Rules) -> Block:
    """Exact ones and zeros where a person decided; the rest sums to one."""
    own, near = said.mother[block.daughter], block.gap == 0
    decided = own == block.mother
    log_edge = np.where(said.settled[block.daughter], np.where(decided, 0.0, -np.inf), log_edge)
    had = ~_alone(block, block.log_probability > -np.inf)
    lonely = had & _alone(block, log_edge > -np.inf)  # ⊥ is all that is left
    none = log_none if rules.no_mother else np.full(len(log_none), -np.inf)
    elsewhere = ~_alone(block, decided & ~near)
    absent = (said.mother == APPEARS) | elsewhere
    none = np.where(said.settled, np.where(absent, 0.0, -np.inf), np.where(lonely, 0.0, none))
    spread = normalise(log_edge[near], none, block.daughter[near])
    log_probability = log_edge.copy()
    log_probability[near] = spread.log_probability
    with np.errstate(invalid="ignore"):  # edges across gaps keep their share of having no mother in the frame before
        shift = np.nan_to_num(spread.log_no_mother - none, nan=0.0, posinf=0.0, neginf=0.0)
    log_probability[~near] += shift[block.daughter[~near]]
    unknown = np.isnan(block.log_no_mother)
    return replace(
        block,
        log_probability=log_probability,
        log_no_mother=np.where(unknown, np.nan, spread.log_no_mother),
        entropy=np.where(unknown, np.nan, spread.entropy),
    )


def _alone(block: Block, edges: Bools) -> Bools:
    """(N,) daughters without any of these edges."""
    alone = np.ones(len(block.cells), np.bool_)
    alone[block.daughter[edges]] = False
    return alone


def _links(block: Block, said: Constraints, keep: bool) -> Bools:
    """(E,) the assignment of most expected right decisions among those that agree with the person.

    Raises `DecisionError` where none does.
    """
    stay = KEEP if keep else 0.0
    third = said.third[block.daughter] & (said.mother[block.daughter] == block.mother)
    decided = (said.mother[block.daughter] == block.mother) & ~third
    value = block.probability + stay * block.selected + HARD * decided
    impossible = (block.log_probability == -np.inf) | said.disappears[block.mother] | third
    appear = -np.nan_to_num(block.p_appear) - stay * _alone(block, block.selected)
    disappear = np.where(said.divides, HARD, 0.0)
    divide = np.where(said.divides, -HARD, np.where(said.single, HARD, 0.0))
    ends = (block.mother, block.daughter, np.where(impossible, np.inf, -value), len(block.cells), len(block.cells))
    edge = solve(Problem(*ends, appear, disappear, divide)).edge
    selected = np.zeros(len(block.mother), np.bool_)
    selected[edge[edge >= 0]] = True
    _check(block, said, selected)
    return np.asarray(selected | third)


def _check(block: Block, said: Constraints, selected: Bools) -> None:
    load = np.bincount(block.mother[selected], minlength=len(block.cells))
    cells = block.cells
    short = np.flatnonzero(said.divides & (load != 2))
    if len(short):
        raise DecisionError(
            f"cell {int(cells.label[short[0]])} of frame {int(cells.frame[short[0]])} cannot divide: what else was decided "
            "leaves fewer than two cells that could be its daughters; link the daughter to it first if the tracker did not "
            "think of it"
        )
    wrong = np.flatnonzero((said.disappears & (load > 0)) | (said.single & (load > 1)))
    if len(wrong):
        row = int(wrong[0])
        raise DecisionError(
            f"cell {int(cells.label[row])} of frame {int(cells.frame[row])}: these decisions contradict each other"
        )
