"""The true mother of every daughter, at any frame step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.errors import TruthError
from dunno.types import Bools, Ints, PairPosterior, Truth

NO_TRACK = 0
MOTHERLESS = -1
MOST_BACK = 10
"""How many frames before a pair its daughters' true mothers are looked for."""


@dataclass(frozen=True, eq=False)
class TrueMothers:
    """The truth about one frame pair."""

    # (n,) index of each daughter's true mother among the pair's mothers, or -1: it appeared, or its mother was not detected
    mother: Ints
    known: Bools  # (n,) whether the daughter is a true cell; a false detection has no truth
    undetected: Bools  # (n,) whether it has a true mother in the earlier frame who was not detected
    n_missed: int  # True cells of the later frame that were not detected
    n_many: int  # Mothers with more than two true daughters (generations may lie between the frames)
    also: Ints  # (2, k) mother and daughter of further true edges, where masks hold several cells

    @property
    def n_edges(self) -> int:
        """How many true edges lead to the daughters; cells that share a mask have one each, unless they share its mother, too."""
        whose, daughter = self.also
        own = np.flatnonzero(self.mother >= 0)
        ends = np.concatenate([np.stack([self.mother[own], own]), np.stack([whose, daughter])], axis=1)
        return int(np.unique(ends, axis=1).shape[1])

    def is_true(self, mother: Ints, daughter: Ints) -> Bools:
        """(E,) whether edges join masks that hold the same cell, or a mother and its daughter."""
        width = int(max(self.also[0].max(initial=0), mother.max(initial=0))) + 1
        further = np.isin(daughter * width + mother, self.also[1] * width + self.also[0])
        return np.asarray((self.mother[daughter] == mother) | further)


def ancestors(truth: Truth, tracks: Ints, frame: int) -> Ints:
    """(n,) the tracks that these came from and that had begun by `frame`: themselves or an ancestor; 0 for none."""
    found = tracks.copy()
    while True:
        row = np.minimum(np.searchsorted(truth.track, found), len(truth.track) - 1)
        later = (found != NO_TRACK) & (truth.first[row] > frame)
        if not later.any():
            return found
        found[later] = truth.mother[row[later]]


def true_mothers(truth: Truth, pair: PairPosterior) -> TrueMothers:
    """Find each daughter's true mother: its ancestor in the earlier frame.

    An ancestor whose track ended before the earlier frame (a gap lies between) is not there, so the daughter appeared.
    """
    earlier, later = position(truth, pair.mother_frame), position(truth, pair.daughter_frame)
    mother_tracks = _tracks_of(truth, earlier, pair.mothers.label)
    daughter_tracks = _tracks_of(truth, later, pair.daughters.label)
    ancestor = ancestors(truth, daughter_tracks, pair.mother_frame)
    known = daughter_tracks != NO_TRACK
    index, held = _all_held(truth, earlier, mother_tracks)
    mother = _mother_of(ancestor, index, held)
    marked = _is_in(ancestor, truth.present[earlier])
    loads = np.bincount(mother[mother >= 0], minlength=1)
    return TrueMothers(
        mother=mother,
        known=known,
        undetected=marked & (mother == MOTHERLESS),
        n_missed=int((~_is_in(truth.present[later], np.sort(_all_held(truth, later, daughter_tracks)[1]))).sum()),
        n_many=int((loads > 2).sum()),
        also=_further_edges(truth, pair, index, held),
    )


def _all_held(truth: Truth, t: int, tracks: Ints) -> tuple[Ints, Ints]:
    """Every cell in a frame's masks: index of the detection, track; each detection's own come first."""
    besides = truth.held_besides(t)
    return np.concatenate([np.arange(len(tracks)), besides[0]]), np.concatenate([tracks, besides[1]])


def _mother_of(wanted: Ints, index: Ints, held: Ints) -> Ints:
    """(n,) the detection that holds each wanted track, or -1."""
    place = _index_of(wanted, held)
    return np.where(place >= 0, np.append(index, MOTHERLESS)[place], MOTHERLESS)


def _further_edges(truth: Truth, pair: PairPosterior, index: Ints, held: Ints) -> Ints:
    """(2, k) mother and daughter of the edges of cells that share a daughter's mask with another."""
    besides = truth.held_besides(position(truth, pair.daughter_frame))
    mother = _mother_of(ancestors(truth, besides[1], pair.mother_frame), index, held)
    return np.stack([mother, besides[0]])[:, mother >= 0]


@dataclass(frozen=True, eq=False)
class EarlierMothers:
    """True mothers in frames before a pair's, of daughters whose cell is in no mask of the pair's earlier frame."""

    # (n,) original index of the latest earlier frame in which the cell, or the one it came from, is in a mask; -1 for daughters
    # with a mother in the pair, and where there is none
    frame: Ints
    label: Ints  # (n,) its label there


def earlier_mothers(truth: Truth, pair: PairPosterior, true: TrueMothers, most: int = MOST_BACK) -> EarlierMothers:
    """Look for the true mothers of those who have none in the pair, up to `most` frames before it."""
    later, t = position(truth, pair.daughter_frame), position(truth, pair.mother_frame)
    tracks = _tracks_of(truth, later, pair.daughters.label)
    frame, label = np.full(len(tracks), MOTHERLESS), np.full(len(tracks), MOTHERLESS)
    left = true.known & (true.mother == MOTHERLESS)
    for earlier in range(t - 1, max(t - 1 - most, -1), -1):
        if not left.any():
            break
        number = int(truth.frames[earlier])
        ancestor = ancestors(truth, np.where(left, tracks, NO_TRACK), number)
        place = _index_of(ancestor, truth.tracks[earlier])
        hit = left & (place >= 0)
        frame[hit], label[hit] = number, truth.labels[earlier][place[hit]]
        left = left & ~hit & (ancestor != NO_TRACK)
    return EarlierMothers(frame, label)


def position(truth: Truth, frame: int) -> int:
    """Where the truth has a frame; refuses one that it does not have."""
    place = int(np.searchsorted(truth.frames, frame))
    if place == len(truth) or truth.frames[place] != frame:
        raise TruthError(
            f"the tracking has frame {frame}, the truth has not; take both from one movie, and the same every(n, start)"
        )
    return place


def _tracks_of(truth: Truth, t: int, label: Ints) -> Ints:
    """(n,) the tracks of the detections with these labels."""
    place = np.searchsorted(truth.labels[t], label)
    if not np.array_equal(np.append(truth.labels[t], -1)[place], label):
        raise TruthError(
            f"frame {truth.frames[t]}: the tracking has detections that the truth was not matched to; "
            "read movie and truth together: dunno.read(path, truth=True)"
        )
    return truth.tracks[t][place]


def _is_in(wanted: Ints, ascending: Ints) -> Bools:
    """(n,) whether each wanted track is among the others; `np.isin` costs more than all the rest of a pair's truth."""
    found = np.append(ascending, NO_TRACK)[np.searchsorted(ascending, wanted)] == wanted
    return np.asarray(found & (wanted != NO_TRACK))


def _index_of(wanted: Ints, tracks: Ints) -> Ints:
    """(n,) where each wanted track is among `tracks`, or -1."""
    order = np.argsort(tracks, kind="stable")
    place = np.searchsorted(tracks[order], wanted)
    found = (np.append(tracks[order], NO_TRACK)[place] == wanted) & (wanted != NO_TRACK)
    return np.where(found, np.append(order, 0)[place], MOTHERLESS)
