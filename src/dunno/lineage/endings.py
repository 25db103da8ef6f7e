"""How tracks end: by a division, by loss, at the border, in a mask that holds two cells, or with the movie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dunno.types import Bools, Floats, Ints, PairPosterior

ENDINGS = ("end", "division", "border", "lost", "merged", "apart", "false", "broken")
"""With the movie; by dividing; out of the field; lost inside it; into a mask that holds two cells; a mask of two cells that come
apart; a mask that holds no cell is gone; before a frame that could not be read."""

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
    p_divide = _known(pair.log_divide, len(pair.mothers))
    linked = np.flatnonzero(pair.selected)
    mother, link = pair.mother[linked], pair.probability[linked]
    weakest = np.ones(len(pair.mothers))
    np.minimum.at(weakest, mother, link)
    merged = _merging(pair)
    for ending, where, values in (
        (MERGED, merged, np.minimum(weakest, _fullest(pair))),
        (DIVISION, pair.divides, p_divide),
        (APART, pair.holds_two & (pair.load > 1), np.minimum(weakest, _held(pair, "p_two"))),
    ):
        kind[where], probability[where] = ending, values[where]
    return Endings(kind, np.minimum(probability, 1.0), p_divide)


def _gone(pair: PairPosterior) -> tuple[Ints, Floats]:
    """Mothers without a daughter: lost inside or across the border, whichever is more probable, or no cells at all."""
    lost, share = _known(pair.log_disappear, len(pair.mothers)), pair.border_share
    kind = np.full(len(lost), LOST)
    if share is not None:
        kind[share > 0.5] = BORDER
        lost = lost * np.maximum(share, 1 - share)
    empty = _held(pair, "p_false")
    kind[empty > 0.5] = FALSE
    lost = np.where(empty > 0.5, empty, lost)
    if pair.log_disappear is not None and len(pair.daughters) == 0:
        kind[np.isnan(pair.log_disappear)] = BROKEN
    return kind, lost


def _merging(pair: PairPosterior) -> Bools:
    """(m,) mothers whose daughter has another mother, too."""
    mother, daughter = pair.mother[pair.selected], pair.daughter[pair.selected]
    into = np.bincount(daughter, minlength=len(pair.daughters))
    found = np.zeros(len(pair.mothers), np.bool_)
    found[mother[into[daughter] > 1]] = True
    return found


def _fullest(pair: PairPosterior) -> Floats:
    """(m,) how probably the mask that each mother is linked to holds two cells."""
    found = np.full(len(pair.mothers), np.nan)
    if pair.daughters_held is not None:
        found[pair.mother[pair.selected]] = pair.daughters_held.p_two[pair.daughter[pair.selected]]
    return found


def _held(pair: PairPosterior, name: str) -> Floats:
    unknown = np.full(len(pair.mothers), np.nan)
    return unknown if pair.mothers_held is None else np.asarray(getattr(pair.mothers_held, name))


def _known(log_probability: Floats | None, n: int) -> Floats:
    return np.full(n, np.nan) if log_probability is None else np.exp(log_probability)
