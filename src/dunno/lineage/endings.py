"""How tracks end: by a division, by loss, at the border, in a mask that holds two cells, or with the movie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dunno.types import Bools, Floats, Ints, PairPosterior

ENDINGS = ("end", "division", "border", "lost", "merged", "apart", "false", "broken")
"""With the movie; by dividing; out of the field; lost inside it; into a mask of which a person said that it holds two cells, and
out of such a mask; a mask that is no object is gone; before a frame that could not be read."""

END, DIVISION, BORDER, LOST, MERGED, APART, FALSE, BROKEN = range(len(ENDINGS))


class Endings(NamedTuple):
    """How the tracks of a pair's mothers end if nothing carries them on: (m,) each, NaN where nobody knows.

    `p_divide` is what the ending of a mother that is lost here becomes worth, if two daughters turn up across a gap.
    """

    kind: Ints
    probability: Floats
    p_divide: Floats


def endings_of(pair: PairPosterior) -> Endings:
    """How the pair's mothers end, as far as its links say."""
    kind, probability = _gone(pair)
    p_divide = np.exp(pair.block.log_divide[pair.mother_rows])
    weakest = np.ones(len(pair.mothers))
    np.minimum.at(weakest, pair.mother[pair.links], np.exp(pair.log_probability[pair.links]))
    merged, divides = _merging(pair), pair.divides
    if merged.any():
        kind[merged], probability[merged] = MERGED, weakest[merged]
    if divides.any():
        kind[divides], probability[divides] = DIVISION, p_divide[divides]
    apart = pair.holds_two & (pair.load > 1)
    if apart.any():
        kind[apart], probability[apart] = APART, weakest[apart]
    return Endings(kind, np.minimum(probability, 1.0), p_divide)


def _gone(pair: PairPosterior) -> tuple[Ints, Floats]:
    """Mothers without a daughter: lost inside or across the border, whichever is more probable, or no cells at all."""
    rows = pair.mother_rows
    share, log_lost = pair.block.border_share[rows], pair.block.log_disappear[rows]
    empty = 1 - pair.block.p_segment[rows]
    kind = np.where(share > 0.5, BORDER, LOST)
    lost = np.exp(log_lost) * np.where(np.isnan(share), 1.0, np.maximum(share, 1 - share))
    kind[empty > 0.5] = FALSE
    lost = np.where(empty > 0.5, empty, lost)
    if pair.block.has_events and len(pair.daughters) == 0:
        kind[np.isnan(log_lost)] = BROKEN
    return kind, lost


def _merging(pair: PairPosterior) -> Bools:
    """(m,) mothers whose daughter has another mother, too."""
    mother, daughter = pair.mother[pair.links], pair.daughter[pair.links]
    into = np.bincount(daughter, minlength=len(pair.daughters))
    found = np.zeros(len(pair.mothers), np.bool_)
    if into.max(initial=0) > 1:
        found[mother[into[daughter] > 1]] = True
    return found
