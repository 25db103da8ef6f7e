"""Cells rest between divisions: lineages in which a cell divides again at once are mended.

Frame pairs are drawn without knowing of each other. Where a division may have happened in this frame or in the next, both may be
drawn, one after the other, which no cell does; the cycles that follow from it would be far too short.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dunno.lineage.tracks import LONGEST
from dunno.types import Ints, PairPosterior

LONG_AGO = -(10**9)
REST = 0.25
"""How long a cell rests, as a share of its cycle."""


def rest_of(pairs: Sequence[PairPosterior]) -> int:
    """How many frames a cell rests: a quarter of the time in which the cells double, by the rate at which they divide."""
    divided = sum(float(np.nansum(np.exp(pair.log_divide))) for pair in pairs if pair.log_divide is not None)
    mothers = sum(len(pair.mothers) for pair in pairs)
    return int(min(REST * np.log(2) * mothers / divided, len(pairs))) if divided > 0 else 0


@dataclass(frozen=True, eq=False)
class _Births:
    """Of the cells of one frame.

    Attributes:
        pair: (n,) the number of the pair in which each was born by a division; `LONG_AGO` where that was not seen.
        mother: (n,) its mother's index there, -1 where it was not seen.
        daughter: (n,) its own index there.
    """

    pair: Ints
    mother: Ints
    daughter: Ints

    @classmethod
    def unseen(cls, n: int) -> _Births:
        """Cells of which nothing is known."""
        none = np.full(n, -1, np.int64)
        return cls(np.full(n, LONG_AGO), none, none.copy())

    def sisters_of(self, i: int) -> Ints:
        """Other cells that were born by the same division."""
        same = (self.pair == self.pair[i]) & (self.mother == self.mother[i])
        same[i] = False
        return np.flatnonzero(same)

    def forget(self, pair: int, mother: int) -> None:
        """Take back a division."""
        self.pair[(self.pair == pair) & (self.mother == mother)] = LONG_AGO


def rested(pairs: Iterable[PairPosterior], rest: int) -> list[PairPosterior]:
    """The pairs without divisions of cells that were born at most so many frames before.

    Where its sister is lost at the same time, one of the daughters is the sister's. Else the less probable one of both divisions
    is none, and its less probable daughter begins anew.
    """
    known: deque[tuple[int, _Births]] = deque(maxlen=LONGEST + 1)
    mended: list[PairPosterior] = []
    for t, pair in enumerate(pairs):
        births = dict(known).get(pair.mother_frame) or _Births.unseen(len(pair.mothers))
        for i in np.flatnonzero(pair.divides & (t - births.pair <= rest)).tolist():
            if t - births.pair[i] > rest:  # taken back meanwhile
                continue
            early, mother = int(births.pair[i]), int(births.mother[i])
            if (relinked := _to_sister(pair, i, births.sisters_of(i))) is not None:
                pair = relinked
            elif _p_divide(mended[early], mother) < _p_divide(pair, i):
                mended[early] = _only_daughter(mended[early], mother, int(births.daughter[i]))
                births.forget(early, mother)
            else:
                links = np.flatnonzero(pair.selected & (pair.mother == i))
                best = links[np.argmax(pair.log_probability[links])]
                pair = _only_daughter(pair, i, int(pair.daughter[best]))
        known.append((pair.daughter_frame, _passed_on(pair, births, dict(known), t)))
        mended.append(pair)
    return mended


def _to_sister(pair: PairPosterior, i: int, sisters: Ints) -> PairPosterior | None:
    """The pair with one of a mother's daughters linked to its lost sister; `None` where none is lost near enough."""
    links = np.flatnonzero(pair.selected & (pair.mother == i))
    lost = sisters[~np.isin(sisters, pair.mother[pair.selected])]
    others = np.flatnonzero(np.isin(pair.mother, lost) & np.isin(pair.daughter, pair.daughter[links]))
    if not len(others):
        return None
    instead = others[np.argmax(pair.log_probability[others])]
    selected = pair.selected.copy()
    selected[links[pair.daughter[links] == pair.daughter[instead]]] = False
    selected[instead] = True
    return replace(pair, selected=selected)


def _only_daughter(pair: PairPosterior, mother: int, daughter: int) -> PairPosterior:
    """The pair with one link less of a mother that divided: the one to this daughter stays."""
    selected = pair.selected & ~((pair.mother == mother) & (pair.daughter != daughter))
    return replace(pair, selected=selected)


def _p_divide(pair: PairPosterior, mother: int) -> float:
    return 1.0 if pair.log_divide is None else float(pair.log_divide[mother])


def _passed_on(pair: PairPosterior, births: _Births, known: dict[int, _Births], t: int) -> _Births:
    """What is known of the daughters."""
    found = _Births.unseen(len(pair.daughters))
    mother, daughter = pair.mother[pair.selected], pair.daughter[pair.selected]
    divides = pair.divides[mother]
    found.pair[daughter] = np.where(divides, t, births.pair[mother])
    found.mother[daughter] = np.where(divides, mother, births.mother[mother])
    found.daughter[daughter] = np.where(divides, daughter, births.daughter[mother])
    if pair.gaps is not None:
        gaps = pair.gaps.only(pair.gaps.selected)
        for frame, early, late in zip(gaps.mother_frame.tolist(), gaps.mother, gaps.daughter, strict=True):
            if (before := known.get(frame)) is not None:
                found.pair[late], found.mother[late] = before.pair[early], before.mother[early]
                found.daughter[late] = before.daughter[early]
    return found
