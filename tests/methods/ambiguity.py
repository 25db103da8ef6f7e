"""Small movies whose answers have closed forms, and perturbations that are not random."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno import Movie
from dunno.types import FramePair


def between_two_mothers() -> Movie:
    """The paper's Fig. 1: one daughter halfway between two mothers, four pixels from each.

    1.......2    frame 0
    ....1....    frame 1

    With distance costs both edges cost 8; the assignments cost 8 + disappear, twice, and appear + 2 · disappear.
    """
    masks = np.zeros((2, 5, 13), int)
    masks[0, 2, 2], masks[0, 2, 10] = 1, 2
    masks[1, 2, 6] = 1
    return Movie(masks)


def nearer_to_the_first() -> Movie:
    """One daughter one pixel from mother 1 and five from mother 2."""
    masks = np.zeros((2, 5, 13), int)
    masks[0, 2, 2], masks[0, 2, 8] = 1, 2
    masks[1, 2, 3] = 1
    return Movie(masks)


def crowd() -> Movie:
    """Three mothers and four daughters, each near several mothers; no two distances are equal."""
    masks = np.zeros((2, 60, 60), int)
    masks[0, 13, 17], masks[0, 26, 41], masks[0, 47, 20] = 1, 2, 3
    masks[1, 18, 22], masks[1, 21, 36], masks[1, 40, 24], masks[1, 33, 37] = 1, 2, 3, 4
    return Movie(masks)


@dataclass(frozen=True)
class DaughterMoved:
    """Every draw shows the daughters moved along x by the next of some steps, in turn."""

    steps: tuple[int, ...]
    name = "daughter-moved"

    def draws(self, pair: FramePair, cost: Any, k: int, rng: np.random.Generator) -> Iterator[FramePair]:
        """Yield k pairs."""
        for draw in range(k):
            masks = np.roll(pair.daughters.masks, self.steps[draw % len(self.steps)], axis=-1)
            yield replace(pair, daughters=pair.daughters.moved(masks, pair.scale))
