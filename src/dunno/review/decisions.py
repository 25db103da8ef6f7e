"""What a person can say about a cell, a mask, or a place without one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from dunno.errors import DecisionError

MOTHER, NO_MOTHER, SKIP = "mother", "no mother", "skip"
DIVIDES, DOES_NOT_DIVIDE, DISAPPEARS = "divides", "does not divide", "disappears"
DIVIDES_INTO_THREE = "divides into three"
NO_CELL, TWO_CELLS, ONE_CELL, MISSING = "no cell", "two cells", "one cell", "missing"
AS_GIVEN, ALL_AS_GIVEN, RIGHT_TRACK = "as given", "all as given", "right track"
ABOUT_MASKS = (NO_CELL, TWO_CELLS, ONE_CELL, AS_GIVEN)
ABOUT_DAUGHTERS = (MOTHER, NO_MOTHER, SKIP, NO_CELL, ONE_CELL)
"""What answers the question where a mask comes from; false masks come from nowhere."""
ABOUT_MOTHERS = (DIVIDES, DOES_NOT_DIVIDE, DISAPPEARS, DIVIDES_INTO_THREE)
DECISION_KINDS = (*ABOUT_DAUGHTERS, *ABOUT_MOTHERS, TWO_CELLS, MISSING, AS_GIVEN, ALL_AS_GIVEN, RIGHT_TRACK)
NAMES_A_MOTHER = {MOTHER: True, TWO_CELLS: None, MISSING: None}
"""Which kinds name a mother: always, or if it is known; all others never."""

LARGEST_LABEL = 2**53
"""Larger numbers are those of no cell, and not exact in a browser."""

Subject = tuple[str, int, int | tuple[float, ...]]


@dataclass(frozen=True)
class Decision:
    """One thing that a person said; cells are named by original frame and label."""

    # About a daughter: "mother" (this one), "no mother" or "skip" (cannot say). About a mother: "divides", "divides into
    # three", "does not divide" or "disappears". About a mask: "no cell", "two cells", or "one cell" (it is a piece of the cell
    # whose larger piece is `other`); of one that was repaired, "as given" (as it was before), and "all as given". About a place
    # without a mask: "missing". About a track: "right track" (it is right as it is reported)
    kind: str
    frame: int  # The frame of the cell that it is about
    label: int = 0  # Its label; 0 for "missing" and "all as given"; that of the given mask for "as given"
    # For "mother", the mother's label; for "two cells", where the second cell comes from, if that is known; for "missing", the
    # cell of the frame before whose mask is missing here, if it is known
    mother: int | None = None
    # The mother's frame, where it is not the frame before: its mask is missing in between
    mother_frame: int | None = None
    other: int | None = None  # For "one cell", the label of the other piece
    place: tuple[float, ...] | None = None  # For "missing", where: [z,] y, x in pixels
    # For "right track", its cells up to the one that is named: frame and label of each
    path: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in DECISION_KINDS:
            raise DecisionError(
                f"a decision of kind {self.kind!r}; expected one of {', '.join(map(repr, DECISION_KINDS))}"
            )
        given = (self.frame, self.label, self.mother, self.mother_frame, self.other)
        numbers = tuple(0 if number is None else number for number in given)
        if any(type(number) is not int or abs(number) > LARGEST_LABEL for number in numbers):
            told = ", ".join(f"{number!r:.20}" for number in numbers[:3])
            raise DecisionError(f"frame, label and mother are {told}; expected whole numbers, up to 2^53")
        named = NAMES_A_MOTHER.get(self.kind, False)
        if named is not None and named != (self.mother is not None):
            raise DecisionError(f"a decision of kind {self.kind!r} with mother {self.mother}; only 'mother' names one")
        self._check_the_rest()

    def _check_the_rest(self) -> None:
        if self.mother_frame is not None and (self.kind != MOTHER or self.mother_frame >= self.frame):
            raise DecisionError(
                f"mother_frame {self.mother_frame}; expected a frame before {self.frame}, with kind 'mother'"
            )
        if (self.kind == ONE_CELL) != (self.other is not None) or self.other == self.label:
            raise DecisionError(f"kind {self.kind!r} with other {self.other}; only 'one cell' names another piece")
        if (self.kind == MISSING) != (self.place is not None):
            raise DecisionError(f"kind {self.kind!r} with place {self.place}; only 'missing' says where")
        path = [number for cell in self.path for number in cell]
        frames = [frame for frame, _ in self.path]
        if (self.kind == RIGHT_TRACK) != (len(frames) > 1) or any(type(number) is not int for number in path):
            raise DecisionError(f"kind {self.kind!r} with path {self.path!s:.60}; only 'right track' has its cells")
        if frames and (frames[-1] != self.frame or any(a >= b for a, b in pairwise(frames))):
            raise DecisionError(f"the path is {self.path!s:.60}; expected later and later frames, up to {self.frame}")
        if self.place is not None and not (len(self.place) in (2, 3) and all(map(math.isfinite, self.place))):
            raise DecisionError(f"place is {self.place}; expected two or three finite numbers, in pixels")

    @property
    def about_daughter(self) -> bool:
        """Whether it answers where a mask comes from."""
        return self.kind in ABOUT_DAUGHTERS

    @property
    def is_false(self) -> bool:
        """Whether it says that its mask is no cell: none at all, or a piece of another."""
        return self.kind in (NO_CELL, ONE_CELL)

    @property
    def steps(self) -> list[Decision]:
        """What it says link by link: a track is so many mothers, all else says one thing."""
        if self.kind != RIGHT_TRACK:
            return [self]
        links = pairwise(self.path)
        return [Decision(MOTHER, frame, label, mother, before) for (before, mother), (frame, label) in links]

    @property
    def subjects(self) -> frozenset[Subject]:
        """What it is about; of two decisions that share a subject the later one counts."""
        cell = (self.frame, self.label)
        if self.kind == MISSING:
            return frozenset({(MISSING, self.frame, self.place or ())})
        if self.is_false:
            return frozenset({("daughter", *cell), ("mother", *cell), ("mask", *cell)})
        if self.kind in (TWO_CELLS, AS_GIVEN):
            return frozenset({("mask", *cell)})
        if self.kind == ALL_AS_GIVEN:
            return frozenset({("masks", *cell)})
        if self.kind == RIGHT_TRACK:
            return frozenset().union(*(each.subjects for each in self.steps))
        return frozenset({("daughter" if self.about_daughter else "mother", *cell)})

    def to_dict(self) -> dict[str, Any]:
        """As the log holds it."""
        return {name: value for name, value in asdict(self).items() if value is not None and value != ()}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Decision:
        """Read what `to_dict` made."""
        place = content.get("place")
        if place is not None:
            numbers = isinstance(place, list | tuple) and all(type(each) in (int, float) for each in place)
            if not numbers or not all(abs(each) <= LARGEST_LABEL for each in place):
                raise DecisionError(f"place is {place!r:.60}; expected two or three finite numbers, in pixels")
            place = tuple(float(each) for each in place)
        named = {name: content.get(name) for name in ("mother", "mother_frame", "other")}
        label = content.get("label", 0) if content["kind"] in (MISSING, ALL_AS_GIVEN) else content["label"]
        path = content.get("path") or ()
        if not isinstance(path, list | tuple) or not all(
            isinstance(each, list | tuple) and len(each) == 2 for each in path
        ):
            raise DecisionError(f"path is {path!r:.60}; expected frame and label of each cell")
        return cls(content["kind"], content["frame"], label, **named, place=place, path=tuple(map(tuple, path)))


def in_words(decision: Decision) -> str:
    """A decision as a person would say it.

    Example:
        >>> in_words(Decision("mother", 5, 3, 7)), in_words(Decision("no cell", 5, 3))
        ('cell 3 of frame 5 comes from cell 7', 'mask 3 of frame 5 is no cell')
    """
    cell = f"cell {decision.label} of frame {decision.frame}"
    mask = f"mask {decision.label} of frame {decision.frame}"
    from_frame = "" if decision.mother_frame is None else f" of frame {decision.mother_frame}"
    second = "" if decision.mother is None else f", the second from cell {decision.mother}"
    at = ", ".join(f"{each:.0f}" for each in decision.place or ())
    return {
        MOTHER: f"{cell} comes from cell {decision.mother}{from_frame}",
        NO_MOTHER: f"{cell} has no mother",
        SKIP: f"{cell}: cannot say",
        NO_CELL: f"{mask} is no cell",
        TWO_CELLS: f"{mask} holds two cells{second}",
        ONE_CELL: f"{mask} is a piece of cell {decision.other}",
        AS_GIVEN: f"{mask} is right as it was given",
        ALL_AS_GIVEN: "all masks are right as they were given",
        RIGHT_TRACK: f"the track of {cell} is right, {len(decision.path) - 1} links",
        MISSING: f"a cell is missing in frame {decision.frame} at {at}",
    }.get(decision.kind, f"{cell} {decision.kind}")


def in_force(decisions: Iterable[Decision]) -> list[Decision]:
    """The decisions that count, the latest last: each takes the place of earlier ones on its subjects.

    What is said of a mask takes the place of "cannot say" about its cell, too.
    """
    standing: dict[Decision, frozenset[Subject]] = {}
    owner: dict[Subject, Decision] = {}
    for decision in decisions:
        subjects = decision.subjects
        replaced = {owner[subject] for subject in subjects if subject in owner}
        skipped = owner.get(("daughter", decision.frame, decision.label))
        if decision.kind in ABOUT_MASKS and skipped is not None and skipped.kind == SKIP:
            replaced.add(skipped)
        for before in replaced:
            for subject in standing.pop(before):
                del owner[subject]
        standing[decision] = subjects
        owner |= dict.fromkeys(subjects, decision)
    return list(standing)
