"""From what a person said to constraints on one frame pair; a contradiction is refused with its reason."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dunno.errors import DecisionError
from dunno.review.constraints import APPEARS, UNDECIDED, Constraints, index_of, nothing_said
from dunno.review.decisions import (
    DISAPPEARS,
    DIVIDES,
    DIVIDES_INTO_THREE,
    DOES_NOT_DIVIDE,
    MISSING,
    MOTHER,
    NO_MOTHER,
    TWO_CELLS,
    Decision,
)
from dunno.types import PairPosterior


def concerns(decision: Decision, mother_frame: int, daughter_frame: int) -> bool:
    """Whether a decision says anything about the pair of these frames, but for edges across gaps."""
    if decision.kind in (NO_MOTHER, MOTHER):
        lost = decision.mother_frame == mother_frame  # her daughter is in a later frame, so she has none in this pair
        return decision.frame == daughter_frame or lost
    if decision.is_false or decision.kind == TWO_CELLS:
        return decision.frame in (mother_frame, daughter_frame)
    if decision.kind == MISSING:
        return decision.mother is not None and decision.frame == daughter_frame
    return (
        decision.kind in (DIVIDES, DIVIDES_INTO_THREE, DOES_NOT_DIVIDE, DISAPPEARS) and decision.frame == mother_frame
    )


def constraints_of(pair: PairPosterior, decisions: Sequence[Decision]) -> Constraints:
    """Turn decisions on a pair's cells into constraints, one after the other."""
    said = nothing_said(len(pair.mothers), len(pair.daughters))
    for decision in decisions:
        _take(pair, said, decision)
    for mother in np.flatnonzero(said.three).tolist():
        _three_daughters(pair, said, mother)
    return said


def _take(pair: PairPosterior, said: Constraints, decision: Decision) -> None:
    as_daughter, as_mother = decision.frame == pair.daughter_frame, decision.frame == pair.mother_frame
    if decision.is_false:
        if as_daughter:
            _no_daughter(pair, said, decision)
        elif as_mother:
            _no_mother_mask(pair, said, decision)
    elif decision.kind == TWO_CELLS:
        if as_daughter:
            _two_cells(pair, said, decision)
        elif as_mother:
            said.mother_two[index_of(pair.mothers, decision.label)] = True
    elif decision.kind == MISSING:
        if as_daughter and decision.mother is not None:
            _lose(pair, said, decision.mother, f"its mask is missing in frame {decision.frame}")
    elif decision.mother_frame == pair.mother_frame and not as_daughter and decision.mother is not None:
        _lose(pair, said, decision.mother, f"it is the mother of {decision.label} in frame {decision.frame}")
    elif as_daughter and decision.about_daughter:
        _settle_daughter(pair, said, decision)
    elif as_mother and not decision.about_daughter:
        _settle_mother(pair, said, decision)


def _no_daughter(pair: PairPosterior, said: Constraints, decision: Decision) -> None:
    daughter = index_of(pair.daughters, decision.label)
    if decision.other is not None:
        index_of(pair.daughters, decision.other)
    said.mother[daughter] = APPEARS
    said.false[daughter] = True


def _no_mother_mask(pair: PairPosterior, said: Constraints, decision: Decision) -> None:
    mother = index_of(pair.mothers, decision.label)
    if decision.other is not None:
        index_of(pair.mothers, decision.other)
    daughters = pair.daughters.label[said.mother == mother].tolist()
    if daughters:
        told = " and ".join(map(str, daughters))
        raise DecisionError(
            f"cell {decision.label} of frame {pair.mother_frame} was decided to be the mother of {told}; "
            "say first where they come from"
        )
    said.disappears[mother] = said.mother_false[mother] = True


def _two_cells(pair: PairPosterior, said: Constraints, decision: Decision) -> None:
    daughter = index_of(pair.daughters, decision.label)
    said.two[daughter] = True
    if decision.mother is None:
        return
    mother = index_of(pair.mothers, decision.mother)
    if said.mother[daughter] == mother:
        raise DecisionError(f"cell {decision.mother} is the mother already; name the mother of the second cell")
    if (said.mother == mother).sum() + (said.also == mother).sum() > 1:
        _check_room(pair, said, mother)
    said.disappears[mother] = said.goes_on[mother] = not (
        said.mother == mother
    ).any()  # else she divides, into both masks
    said.also[daughter] = mother


def _lose(pair: PairPosterior, said: Constraints, label: int, why: str) -> None:
    """A mother has no daughter of her own in this pair, for a reason that is not her end."""
    mother = index_of(pair.mothers, label)
    daughters = pair.daughters.label[said.mother == mother].tolist()
    if daughters:
        raise DecisionError(
            f"cell {label} of frame {pair.mother_frame} was decided to be the mother of {daughters[0]}; "
            f"now {why}: undo one of them"
        )
    said.disappears[mother] = said.goes_on[mother] = True


def _settle_daughter(pair: PairPosterior, said: Constraints, decision: Decision) -> None:
    daughter = index_of(pair.daughters, decision.label)
    across = decision.mother_frame not in (None, pair.mother_frame)
    if decision.kind == NO_MOTHER or across:
        said.mother[daughter] = APPEARS
        said.across[daughter] = across
        return
    if decision.kind != MOTHER:
        return
    mother = index_of(pair.mothers, decision.mother or 0)
    _check_room(pair, said, mother)
    if said.also[daughter] == mother:
        raise DecisionError(f"cell {decision.mother} is the mother of the second cell already; name the first one's")
    said.mother[daughter] = mother


def _check_room(pair: PairPosterior, said: Constraints, mother: int) -> None:
    name = f"cell {int(pair.mothers.label[mother])} of frame {pair.mother_frame}"
    sisters = pair.daughters.label[said.mother == mother].tolist()
    if said.mother_false[mother]:
        raise DecisionError(f"{name} was decided to be no cell; undo that first")
    if (
        said.goes_on[mother] and (said.also == mother).any()
    ):  # she divides: one daughter shares a mask, the other does not
        said.goes_on[mother] = said.disappears[mother] = False
        return
    if said.goes_on[mother]:
        raise DecisionError(f"{name} was decided to go on elsewhere; undo that first")
    if said.disappears[mother]:
        raise DecisionError(f"{name} was decided to disappear; undo that first")
    sisters += pair.daughters.label[said.also == mother].tolist()
    if len(sisters) == 3 or (len(sisters) == 2 and not said.three[mother]):
        told = " and ".join(map(str, sisters))
        more = "a fourth" if len(sisters) == 3 else "a third"
        hint = "" if len(sisters) == 3 else " unless it divides into three, which you can say"
        many = "three" if len(sisters) == 3 else "two"
        raise DecisionError(f"{name} has {many} daughters already, {told}; {more} cannot be{hint}")
    if len(sisters) == 1 and said.single[mother]:
        raise DecisionError(f"{name} was decided not to divide, and has daughter {sisters[0]} already")


def _settle_mother(pair: PairPosterior, said: Constraints, decision: Decision) -> None:
    mother = index_of(pair.mothers, decision.label)
    name = f"cell {decision.label} of frame {pair.mother_frame}"
    daughters = pair.daughters.label[said.mother == mother].tolist()
    told = " and ".join(map(str, daughters))
    if said.mother_false[mother] or said.goes_on[mother]:
        raise DecisionError(f"{name} was decided to be no cell, or to go on elsewhere; undo that first")
    if decision.kind == DISAPPEARS and daughters:
        raise DecisionError(f"{name} was decided to be the mother of {told}, so it does not disappear")
    if decision.kind == DOES_NOT_DIVIDE and len(daughters) == 2:
        raise DecisionError(f"{name} was decided to be the mother of {told}, so it divides")
    said.three[mother] = decision.kind == DIVIDES_INTO_THREE
    said.divides[mother] = decision.kind in (DIVIDES, DIVIDES_INTO_THREE)
    said.single[mother] = decision.kind == DOES_NOT_DIVIDE
    said.disappears[mother] = decision.kind == DISAPPEARS


def _three_daughters(pair: PairPosterior, said: Constraints, mother: int) -> None:
    """Settle the three daughters of a mother: those that were named, then the likeliest ones."""
    named = np.flatnonzero(said.mother == mother).tolist()
    edges = np.flatnonzero((pair.mother == mother) & (pair.log_probability > -np.inf))
    edges = edges[np.argsort(-pair.log_probability[edges], kind="stable")]
    others = [j for j in pair.daughter[edges].tolist() if said.mother[j] == UNDECIDED and j not in named]
    three = [*named, *others][:3]
    if len(three) < 3:
        raise DecisionError(
            f"cell {int(pair.mothers.label[mother])} of frame {pair.mother_frame} cannot divide into three: fewer than "
            "three cells could be its daughters; link the others to it first"
        )
    said.mother[three] = mother
    said.third[three[2]] = True
