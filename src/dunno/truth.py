"""Detections matched to annotations, and the true mother at any frame step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.labels import LabelImage, as_labels
from dunno.types import Ints, PairPosterior, Truth

NO_TRACK = 0


@dataclass(frozen=True, eq=False)
class TrueMothers:
    """The truth about one frame pair.

    Attributes:
        mother: (n,) index of each daughter's true mother among the pair's mothers, or -1: she has none in that
            frame, or the mother was not detected.
        known: (n,) whether the daughter is a true cell at all.
    """

    mother: Ints
    known: np.ndarray


def match_tracks(labels: Ints, masks: LabelImage, markers: LabelImage) -> Ints:
    """(n,) each detection's track: the marker more than half of which it covers (the challenge's rule), or 0.

    A detection that covers several markers takes the one it shares most pixels with.

    Args:
        labels: (n,) the frame's detections, ascending.
        masks: The frame's labels.
        markers: The truth's markers in the same frame.
    """
    marker_label, marker_area = np.unique(markers[markers > 0], return_counts=True)
    both = (masks > 0) & (markers > 0)
    if not len(labels) or not both.any():
        return np.zeros(len(labels), np.int64)
    cell = np.searchsorted(labels, masks[both])
    marker = np.searchsorted(marker_label, markers[both])
    pair, shared = np.unique(cell * len(marker_label) + marker, return_counts=True)
    cell, marker = np.divmod(pair, len(marker_label))
    covered = 2 * shared > marker_area[marker]
    tracks = np.zeros(len(labels), np.int64)
    order = np.argsort(shared[covered], kind="stable")  # the largest is written last
    tracks[cell[covered][order]] = marker_label[marker[covered][order]]
    return tracks


def ancestors(truth: Truth, tracks: Ints, frame: int) -> Ints:
    """(n,) the tracks that these came from and that had begun by `frame`: themselves or an ancestor; 0 for none."""
    found = tracks.copy()
    while True:
        row = np.searchsorted(truth.track, found)
        later = (found != NO_TRACK) & (truth.first[np.minimum(row, len(truth.track) - 1)] > frame)
        if not later.any():
            return found
        found[later] = truth.mother[row[later]]


def true_mothers(truth: Truth, pair: PairPosterior, mother_tracks: Ints, daughter_tracks: Ints) -> TrueMothers:
    """Find each daughter's true mother: her ancestor in the earlier frame.

    Args:
        truth: The annotation.
        pair: The frame pair.
        mother_tracks: (m,) from `match_tracks`.
        daughter_tracks: (n,) from `match_tracks`.
    """
    ancestor = ancestors(truth, daughter_tracks, pair.mother_frame)
    order = np.argsort(mother_tracks, kind="stable")
    place = np.searchsorted(mother_tracks[order], ancestor)
    place = np.minimum(place, len(mother_tracks) - 1)
    if len(mother_tracks) == 0:
        return TrueMothers(np.full(len(ancestor), -1), daughter_tracks != NO_TRACK)
    found = (mother_tracks[order][place] == ancestor) & (ancestor != NO_TRACK)
    return TrueMothers(np.where(found, order[place], -1), daughter_tracks != NO_TRACK)


def marker_image(truth: Truth, t: int) -> LabelImage:
    """The truth's markers in its t-th frame."""
    where = truth.markers.where(t) if hasattr(truth.markers, "where") else f"truth, frame {t}"
    return as_labels(truth.markers[t], where)
