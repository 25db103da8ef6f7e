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
from dunno.types import Floats, Ints, PairPosterior

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
        when: (n,) the number of the pair in which each was born by a division; -inf where it was not seen.
        division: (n,) which division that was; -1 for none.
    """

    when: Floats
    division: Ints


def rested(pairs: Iterable[PairPosterior], rest: int) -> list[PairPosterior]:
    """The pairs without divisions of cells that were born at most so many frames before.

    Where its sister was lost at the same time, one of the daughters is the sister's; else the less probable link is taken away.
    """
    known: deque[tuple[int, _Births]] = deque(maxlen=LONGEST + 1)
    mended, n_divisions = [], 0
    for t, pair in enumerate(pairs):
        births = dict(known).get(pair.mother_frame) or _unseen(len(pair.mothers))
        early = np.flatnonzero(pair.divides & (t - births.when <= rest))
        if len(early):
            pair = _mended(pair, early, births.division)
        known.append((pair.daughter_frame, _passed_on(pair, births, dict(known), t, n_divisions)))
        n_divisions += len(pair.mothers)
        mended.append(pair)
    return mended


def _unseen(n: int) -> _Births:
    return _Births(np.full(n, -np.inf), np.full(n, -1, np.int64))


def _mended(pair: PairPosterior, early: Ints, division: Ints) -> PairPosterior:
    selected = pair.selected.copy()
    for i in early.tolist():
        links = np.flatnonzero(selected & (pair.mother == i))
        sister = np.flatnonzero((division == division[i]) & (np.arange(len(division)) != i))
        lost = sister[~np.isin(sister, pair.mother[selected])]
        others = np.flatnonzero(np.isin(pair.mother, lost) & np.isin(pair.daughter, pair.daughter[links]))
        if len(others):
            instead = others[np.argmax(pair.log_probability[others])]
            selected[links[pair.daughter[links] == pair.daughter[instead]]] = False
            selected[instead] = True
        else:
            selected[links[np.argmin(pair.log_probability[links])]] = False
    return replace(pair, selected=selected)


def _passed_on(pair: PairPosterior, births: _Births, known: dict[int, _Births], t: int, first: int) -> _Births:
    """What is known of the daughters."""
    found = _unseen(len(pair.daughters))
    mother, daughter = pair.mother[pair.selected], pair.daughter[pair.selected]
    divides = pair.divides[mother]
    found.when[daughter] = np.where(divides, t, births.when[mother])
    found.division[daughter] = np.where(divides, first + mother, births.division[mother])
    if pair.gaps is not None:
        gaps = pair.gaps.only(pair.gaps.selected)
        for frame, early, late in zip(gaps.mother_frame.tolist(), gaps.mother, gaps.daughter, strict=True):
            if (before := known.get(frame)) is not None:
                found.when[late], found.division[late] = before.when[early], before.division[early]
    return found
