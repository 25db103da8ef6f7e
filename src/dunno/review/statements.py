"""From what a person said to constraints on a block; a contradiction is refused with its reason."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dunno.errors import DecisionError
from dunno.review.constraints import APPEARS, UNDECIDED, Constraints, no_constraints, row_of
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
from dunno.types import Block


def concerns(decision: Decision, mother_frame: int, daughter_frame: int) -> bool:
    """Whether a decision says anything about the pair of these frames."""
    if decision.kind in (NO_MOTHER, MOTHER):
        lost = decision.mother_frame == mother_frame  # its daughter is in a later frame, so it has none in this pair
        return decision.frame == daughter_frame or lost
    if decision.is_false or decision.kind == TWO_CELLS:
        return decision.frame in (mother_frame, daughter_frame)
    if decision.kind == MISSING:
        return decision.mother is not None and decision.frame == daughter_frame
    return (
        decision.kind in (DIVIDES, DIVIDES_INTO_THREE, DOES_NOT_DIVIDE, DISAPPEARS) and decision.frame == mother_frame
    )


def constraints_of(block: Block, decisions: Sequence[Decision]) -> Constraints:
    """Turn decisions on a block's cells into constraints, one after the other."""
    said = no_constraints(len(block.cells), len(block.cells))
    statement = _Statements(block, said)
    for decision in decisions:
        statement.take(decision)
    for mother in np.flatnonzero(said.three).tolist():
        statement.three_daughters(mother)
    return said


class _Statements:
    """Writes decisions into constraints; what is about frames of other blocks is left to them."""

    def __init__(self, block: Block, said: Constraints) -> None:
        self._block, self._said = block, said
        frames = block.frames.tolist()
        self._all, self._mothers, self._daughters = frames, frames[block.first : -1], frames[block.first + 1 :]

    def take(self, decision: Decision) -> None:
        """One decision."""
        as_daughter, as_mother = decision.frame in self._daughters, decision.frame in self._mothers
        if decision.is_false:
            if as_daughter or as_mother:
                self._no_cell(decision, as_daughter=as_daughter)
        elif decision.kind == TWO_CELLS:
            if as_daughter:
                self._two_cells(decision)
            elif as_mother:
                self._said.two[self._row(decision.frame, decision.label)] = True
        elif decision.kind == MISSING:
            if as_daughter and decision.mother is not None:
                self._miss(decision)
        elif as_daughter and decision.about_daughter:
            self._settle_daughter(decision)
        elif as_mother and not decision.about_daughter:
            self._settle_mother(decision)

    def _row(self, frame: int, label: int) -> int:
        return row_of(self._block, frame, label)

    def _frame_before(self, frame: int) -> int:
        return int(self._all[self._all.index(frame) - 1])

    def _name(self, row: int) -> str:
        cells = self._block.cells
        return f"cell {int(cells.label[row])} of frame {int(cells.frame[row])}"

    def _daughters_of(self, mother: int) -> list[int]:
        """Labels of the daughters that were decided on."""
        return [int(label) for label in self._block.cells.label[self._said.mother == mother]]

    def _no_cell(self, decision: Decision, *, as_daughter: bool) -> None:
        row = self._row(decision.frame, decision.label)
        if decision.other is not None:
            self._row(decision.frame, decision.other)
        if daughters := self._daughters_of(row):
            raise DecisionError(
                f"{self._name(row)} was decided to be the mother of {_listed(daughters)}; say first where they come from"
            )
        self._said.false[row] = self._said.disappears[row] = True
        if as_daughter:
            self._said.mother[row] = APPEARS

    def _two_cells(self, decision: Decision) -> None:
        said, daughter = self._said, self._row(decision.frame, decision.label)
        said.two[daughter] = True
        if decision.mother is None:
            return
        mother = self._row(self._frame_before(decision.frame), decision.mother)
        if said.mother[daughter] == mother:
            raise DecisionError(f"cell {decision.mother} is the mother already; name the mother of the second cell")
        if (said.mother == mother).sum() + (said.also == mother).sum() > 1:
            self._check_room(mother)
        alone = not (said.mother == mother).any()  # else it divides, into both masks
        said.disappears[mother] = said.goes_on[mother] = alone
        said.also[daughter] = mother

    def _miss(self, decision: Decision) -> None:
        """A mother has no daughter of its own in the next frame, where its mask is missing."""
        mother = self._row(self._frame_before(decision.frame), decision.mother or 0)
        if daughters := self._daughters_of(mother):
            raise DecisionError(
                f"{self._name(mother)} was decided to be the mother of {daughters[0]}; now its mask is missing in frame "
                f"{decision.frame}: undo one of them"
            )
        self._said.missed[mother] = True

    def _settle_daughter(self, decision: Decision) -> None:
        said, daughter = self._said, self._row(decision.frame, decision.label)
        if decision.kind == NO_MOTHER:
            said.mother[daughter] = APPEARS
        if decision.kind != MOTHER:
            return
        near = self._frame_before(decision.frame)
        before = near if decision.mother_frame is None else decision.mother_frame
        mother = self._row(before, decision.mother or 0)
        self._check_room(mother, across=before != near)
        if said.also[daughter] == mother:
            raise DecisionError(
                f"cell {decision.mother} is the mother of the second cell already; name the first one's"
            )
        said.mother[daughter] = mother
        said.missed[mother] |= before != near

    def _check_room(self, mother: int, *, across: bool = False) -> None:
        said, name = self._said, self._name(mother)
        sisters = self._daughters_of(mother)
        if said.false[mother]:
            raise DecisionError(f"{name} was decided to be no cell; undo that first")
        # it divides: one daughter shares a mask, the other does not
        if said.goes_on[mother] and (said.also == mother).any():
            said.goes_on[mother] = said.disappears[mother] = False
            return
        if said.missed[mother] and not across:
            raise DecisionError(f"{name} was decided to go on elsewhere; undo that first")
        if across and sisters and not said.missed[mother]:
            raise DecisionError(
                f"{name} was decided to be the mother of {sisters[0]}; now it is that of a cell in a later frame: undo one of them"
            )
        if said.disappears[mother]:
            raise DecisionError(f"{name} was decided to disappear; undo that first")
        sisters += [int(label) for label in self._block.cells.label[said.also == mother]]
        if len(sisters) == 3 or (len(sisters) == 2 and not said.three[mother]):
            more = "a fourth" if len(sisters) == 3 else "a third"
            hint = "" if len(sisters) == 3 else " unless it divides into three, which you can say"
            many = "three" if len(sisters) == 3 else "two"
            raise DecisionError(f"{name} has {many} daughters already, {_listed(sisters)}; {more} cannot be{hint}")
        if len(sisters) == 1 and said.single[mother]:
            raise DecisionError(f"{name} was decided not to divide, and has daughter {sisters[0]} already")

    def _settle_mother(self, decision: Decision) -> None:
        said, mother = self._said, self._row(decision.frame, decision.label)
        name, daughters = self._name(mother), self._daughters_of(mother)
        if said.false[mother] or said.goes_on[mother] or said.missed[mother]:
            raise DecisionError(f"{name} was decided to be no cell, or to go on elsewhere; undo that first")
        if decision.kind == DISAPPEARS and daughters:
            raise DecisionError(
                f"{name} was decided to be the mother of {_listed(daughters)}, so it does not disappear"
            )
        if decision.kind == DOES_NOT_DIVIDE and len(daughters) == 2:
            raise DecisionError(f"{name} was decided to be the mother of {_listed(daughters)}, so it divides")
        said.three[mother] = decision.kind == DIVIDES_INTO_THREE
        said.divides[mother] = decision.kind in (DIVIDES, DIVIDES_INTO_THREE)
        said.single[mother] = decision.kind == DOES_NOT_DIVIDE
        said.disappears[mother] = decision.kind == DISAPPEARS

    def three_daughters(self, mother: int) -> None:
        """Settle the three daughters of a mother: those that were named, then the likeliest ones."""
        block, said = self._block, self._said
        named = np.flatnonzero(said.mother == mother).tolist()
        edges = np.flatnonzero((block.mother == mother) & (block.gap == 0) & (block.log_probability > -np.inf))
        edges = edges[np.argsort(-block.log_probability[edges], kind="stable")]
        others = [j for j in block.daughter[edges].tolist() if said.mother[j] == UNDECIDED and j not in named]
        three = [*named, *others][:3]
        if len(three) < 3:
            raise DecisionError(
                f"{self._name(mother)} cannot divide into three: fewer than three cells could be its daughters; "
                "link the others to it first"
            )
        said.mother[three] = mother
        said.third[three[2]] = True


def _listed(labels: Sequence[int]) -> str:
    return " and ".join(map(str, labels))
