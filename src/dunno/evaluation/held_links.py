"""Links on imperfect masks: right, wrong in which way, promised and found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.evaluation.followed_cells import FollowedCells
from dunno.evaluation.held_cells import HeldCells
from dunno.evaluation.outcomes import BEGINNING, RIGHT_LINK, SWAP, UNSEEN
from dunno.types import Floats, Ints

LOOKED_BACK = 4  # frames; judged
"""A true link leads from the latest of so many earlier frames in which the cell, or the one it came from, is in a mask."""


@dataclass(frozen=True, eq=False)
class HeldLinks:
    """The links that the annotation can judge: J of them.

    A link is judged where its daughter's mask covers a quarter of an annotated cell, and its mother's mask covers one too, or the
    cell's mother is in another mask. It is right where the mother's mask covers a quarter of that cell or of its mother, and
    no mask of a skipped frame holds it.
    """

    kind: Ints  # (J,) how each is right or wrong, as in `Decisions`
    probability: Floats  # (J,) of each
    found: int  # True links that were made
    true: int  # True links: a held cell to itself, or the one it came from, in the latest frame before that shows it

    @property
    def recall(self) -> float:
        """Share of the true links that was made."""
        return self.found / self.true if self.true else float("nan")


def held_links(followed: FollowedCells, held: HeldCells) -> HeldLinks:
    """Judge all links."""
    view = set(followed.view)
    kinds = [
        _kind(held, mother, daughter, view)
        for mother, daughter in zip(followed.keys(followed.mother), followed.keys(followed.daughter), strict=True)
    ]
    judged = np.array([kind is not None for kind in kinds], np.bool_)
    kind = np.array([kind for kind in kinds if kind is not None], np.int64)
    return HeldLinks(kind, followed.probability[judged], *_found(followed, held))


def _kind(held: HeldCells, mother: tuple[int, int], daughter: tuple[int, int], view: set[int]) -> int | None:
    """How a link is right or wrong; `None` where the annotation cannot judge it."""
    (t, its), (later, own) = mother, daughter
    cells, before = held.covered[later].get(own, set()), held.covered[t].get(its, set())
    wanted = {held.ancestor(cell, t) for cell in cells} - {0}
    is_seen = any(cell in held.holder[t] for cell in wanted)
    if not cells or not (before or is_seen):
        return None
    between = view.intersection(range(t + 1, later))
    skips = any(held.ancestor(cell, k) in held.holder[k] for k in between for cell in cells)
    if wanted & before and not skips:
        return RIGHT_LINK
    marked = np.isin(held.truth.present[t], list(wanted)).any()
    return SWAP if is_seen else UNSEEN if marked else BEGINNING


def _found(followed: FollowedCells, held: HeldCells) -> tuple[int, int]:
    """How many true links were made, and how many there are."""
    view = followed.view
    links = set(zip(followed.keys(followed.mother), followed.keys(followed.daughter), strict=True))
    found = true = 0
    for n, t in enumerate(view):
        for cell, label in held.holder[t].items():
            for k in reversed(view[max(n - LOOKED_BACK, 0) : n]):
                mother = held.holder[k].get(held.ancestor(cell, k))
                if mother is not None:
                    true += 1
                    found += ((k, mother), (t, label)) in links
                    break
    return found, true
