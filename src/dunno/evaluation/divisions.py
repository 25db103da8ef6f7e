"""Divisions reported beside those that are true, within a few frames: where masks are imperfect, the moment is uncertain."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dunno.evaluation.followed_cells import FollowedCells
from dunno.evaluation.held_cells import HeldCells
from dunno.tracking import Tracking
from dunno.types import Bools, Floats, Ints, Truth

DIVISION_TOLERANCE = 5

P_DIVIDE_BINS = (0.001, 0.01, 0.1, 0.5, 0.9, 1.0)
"""Ends of the bins of P(divide); what is below the first is left out."""

LEAST_SEEN = 0.02  # probability; judged
"""A true division is seen where a cell divides with more than this probability."""


@dataclass(frozen=True)
class DivisionBin:
    """Masks whose P(divide) lies between `low` and `high`, this one included."""

    low: float  # Lower end
    high: float  # Upper end
    masks: int  # How many there are, on annotated cells
    promised: float  # Σ P(divide)
    # True divisions within the tolerance. Where several masks could be one division, of whichever bins, each has a share in
    # proportion to its P(divide)
    found: float


@dataclass(frozen=True)
class DivisionScores:
    """Divisions, reported by cells whose mask holds an annotated cell unless it says otherwise."""

    reported: int  # Tracks that end in a division
    right: int  # True divisions that one of them reports, each matched with one
    true: int  # Annotated divisions
    expected: float  # Σ P(divide); NaN where the method does not know
    tolerance: int  # By how many frames a report may be off
    reported_in_all: int = 0  # Tracks that end in a division, whether or not the mask holds an annotated cell
    expected_in_all: float = float("nan")  # Σ P(divide) over all cells
    seen: int = 0  # True divisions matched one to one with cells that divide with a probability above `LEAST_SEEN`
    # What was promised and found, by P(divide); empty where the method does not know
    bins: tuple[DivisionBin, ...] = ()

    @property
    def precision(self) -> float:
        """Share of the reported ones that are right."""
        return self.right / self.reported if self.reported else float("nan")

    @property
    def recall(self) -> float:
        """Share of the true ones that are reported."""
        return self.right / self.true if self.true else float("nan")

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.right / (self.reported + self.true) if self.reported + self.true else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with what follows from the counts."""
        return {**asdict(self), "precision": self.precision, "recall": self.recall, "f1": self.f1}


def divisions(tracking: Tracking, truth: Truth, tolerance: int = DIVISION_TOLERANCE) -> DivisionScores:
    """The divisions of a tracking beside the true ones; see `division_scores`."""
    followed, held = FollowedCells.of(tracking), HeldCells.of(tracking.movie, truth)
    return division_scores(followed, held, tolerance, knows=tracking.block.has_events)


def division_scores(
    followed: FollowedCells, held: HeldCells, tolerance: int = DIVISION_TOLERANCE, *, knows: bool = True
) -> DivisionScores:
    """Match reported divisions with the true ones.

    A report is a true division's if its mother's mask holds the dividing cell or one of its daughters, and lies within `tolerance`
    frames (as the movie counts them). `knows` says whether probabilities of division are known.
    """
    chance, on_cells = followed.p_divide, _on_cells(followed, held)
    reported = np.flatnonzero(followed.divides)
    seen = np.flatnonzero(chance > LEAST_SEEN)
    possible = np.flatnonzero(on_cells & (chance > P_DIVIDE_BINS[0]))
    near = possible_divisions(followed, held, possible, tolerance)
    return DivisionScores(
        reported=int(on_cells[reported].sum()),
        right=len(matched_divisions(followed, held, reported, tolerance)),
        true=len(held.divisions),
        expected=float(chance[on_cells].sum()) if knows else float("nan"),
        tolerance=tolerance,
        reported_in_all=len(reported),
        expected_in_all=float(chance.sum()) if knows else float("nan"),
        seen=len(matched_divisions(followed, held, seen, tolerance)),
        bins=_binned(chance[possible], near) if knows else (),
    )


def _on_cells(followed: FollowedCells, held: HeldCells) -> Bools:
    """(N,) whether the mask of each cell holds an annotated one."""
    every = followed.keys(np.arange(len(followed.label)))
    return np.array([label in held.held[t] for t, label in every], np.bool_)


def matched_divisions(
    followed: FollowedCells, held: HeldCells, rows: Ints, tolerance: int = DIVISION_TOLERANCE
) -> set[int]:
    """The cells that divide and are matched with one of these rows each: every row takes the nearest one in time that is left."""
    order = rows[np.lexsort((followed.label[rows], followed.position[rows]))]
    found: set[int] = set()
    options: dict[int, list[tuple[int, int]]] = {}
    for row, cell, off in possible_divisions(followed, held, order, tolerance):
        options.setdefault(row, []).append((off, cell))
    for row in range(len(order)):
        left = [option for option in options.get(row, []) if option[1] not in found]
        if left:
            found.add(min(left)[1])
    return found


def possible_divisions(
    followed: FollowedCells, held: HeldCells, rows: Ints, tolerance: int
) -> list[tuple[int, int, int]]:
    """Which rows could be which true divisions: index of the row, the dividing cell, and how many frames they are off."""
    found = []
    for k, (t, label) in enumerate(followed.keys(rows)):
        cells = held.held[t].get(label, set())
        for cell in cells | {held.mother[each] for each in cells}:
            if cell in held.divisions and abs(held.divisions[cell] - t) <= tolerance:
                found.append((k, cell, abs(held.divisions[cell] - t)))
    return found


def _binned(chance: Floats, near: list[tuple[int, int, int]]) -> tuple[DivisionBin, ...]:
    """What was promised and found in bins of P(divide)."""
    mask, cell, _ = np.array(near, np.int64).reshape(-1, 3).T
    _, division = np.unique(cell, return_inverse=True)
    total = np.bincount(division, chance[mask])
    found = np.bincount(mask, chance[mask] / total[division], minlength=len(chance))
    which = np.digitize(chance, P_DIVIDE_BINS[1:-1], right=True)
    return tuple(
        DivisionBin(low, high, int(own.sum()), float(chance[own].sum()), float(found[own].sum()))
        for k, (low, high) in enumerate(pairwise(P_DIVIDE_BINS))
        for own in (which == k,)
    )
