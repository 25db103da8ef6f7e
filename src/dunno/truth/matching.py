"""Annotations checked against their masks, and matched to a movie's detections."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dunno.errors import TruthError
from dunno.types import Bools, Frames, Ints, Movie, Truth, where_is
from dunno.types.labels import LabelImage, as_labels, count_overlaps, measure

HALF, QUARTER = 0.5, 0.25
"""Share of an annotated cell that a mask covers if it holds it: of given masks, and of repaired ones."""


class TrackTable(NamedTuple):
    """Annotated tracks: (R,) each; see `Truth`."""

    track: Ints
    first: Ints
    last: Ints
    mother: Ints


def match_truth(
    movie: Movie, table: TrackTable, markers: Frames, name: str = "truth", *, complete: bool = True
) -> Truth:
    """Check annotations against their markers, and find each detection's track.

    A detection is the track of whose marker it covers more than half (the challenge's rule); one that covers several holds
    several cells, and is the track it shares most pixels with. Markers are one label image per frame; in a `complete` movie,
    every track must begin and end in it.
    """
    check_table(table, name)
    met_first, met_last = np.zeros(len(table.track), bool), np.zeros(len(table.track), bool)
    labels, tracks, present, others = [], [], [], []
    for t, frame in enumerate(movie.frames.tolist()):
        where = where_is(markers, t)
        image = as_labels(markers[t], where)
        masks = movie.masks(t)
        found = measure(masks, movie.where(t))
        labels.append(found.label)
        own, more = match_cells(found.label, masks, image)
        marked = measure(image, where)
        row = _rows(table, marked.label, frame, where, name)
        met_first[row[table.first[row] == frame]] = True
        met_last[row[table.last[row] == frame]] = True
        tracks.append(own)
        others.append(more)
        present.append(marked.label)
    for met, when, event in ((met_first, table.first, "begins"), (met_last, table.last, "ends")):
        if complete and not met.all():
            bad = int(np.argmin(met))
            raise TruthError(
                f"{name}: track {table.track[bad]} {event} in frame {when[bad]}, but no mask shows it there"
            )
    return Truth(*table, movie.frames, tuple(labels), tuple(tracks), tuple(present), tuple(others), markers)


def matched_again(truth: Truth, movie: Movie) -> Truth:
    """The same annotation matched to other masks of the movie, such as repaired ones; refused where it is not at hand.

    A cell is held by the mask that covers most of it, if that is at least a quarter: parts of masks are cut where nobody knows.
    """
    if truth.markers is None or len(movie) != len(truth):
        raise TruthError("the masks are not those that the truth was matched to, and the annotation is not at hand")
    labels, tracks, others = [], [], []
    for t in range(len(movie)):
        masks = movie.masks(t)
        labels.append(measure(masks, movie.where(t)).label)
        own, more = match_cells(labels[-1], masks, as_labels(truth.markers[t], where_is(truth.markers, t)), QUARTER)
        tracks.append(own)
        others.append(more)
    return replace(truth, labels=tuple(labels), tracks=tuple(tracks), others=tuple(others))


def match_tracks(label: Ints, masks: LabelImage, markers: LabelImage) -> Ints:
    """(n,) each detection's track: the marker more than half of which it covers, or 0.

    A detection that covers several markers takes the one it shares most pixels with.
    """
    return match_cells(label, masks, markers)[0]


def match_cells(label: Ints, masks: LabelImage, markers: LabelImage, least: float = HALF) -> tuple[Ints, Ints]:
    """(n,) each detection's track, and (2, k) the further ones that it holds: index of the detection, track.

    A marker is held by the detection that covers most of it, if that is more than a share of it.
    """
    marker, cell, shared, size = overlaps_of_cells(masks, markers)
    covered = (shared > least * size) & _are_largest(marker, shared)
    order = np.argsort(shared[covered], kind="stable")  # the largest is written last
    tracks = np.zeros(len(label), np.int64)
    place, held = np.searchsorted(label, cell[covered][order]), marker[covered][order].astype(np.int64)
    tracks[place] = held
    besides = tracks[place] != held
    return tracks, np.stack([place[besides], held[besides]]).astype(np.int64)


def overlaps_of_cells(masks: LabelImage, markers: LabelImage) -> tuple[Ints, Ints, Ints, Ints]:
    """(k,) annotated cells and the masks that share pixels with them, how many, and how many each cell has."""
    if masks.shape != markers.shape:
        raise TruthError(
            f"masks of shape {masks.shape}, but annotations of shape {markers.shape}; they must be the same"
        )
    marked = measure(markers, "annotation")
    cell, marker, shared = count_overlaps(masks, markers)
    return marker, cell, shared, marked.area[np.searchsorted(marked.label, marker)]


def _are_largest(marker: Ints, shared: Ints) -> Bools:
    """(k,) which overlap is the largest of its marker, the first one of equal ones."""
    order = np.lexsort((-np.arange(len(marker)), shared, marker))
    last = np.append(marker[order][1:] != marker[order][:-1], True) if len(order) else np.zeros(0, np.bool_)
    found = np.zeros(len(marker), np.bool_)
    found[order[last]] = True
    return found


def _rows(table: TrackTable, label: Ints, frame: int, where: str, name: str) -> Ints:
    """The table's rows of the labels in one frame."""
    row = np.searchsorted(table.track, label)
    known = np.append(table.track, -1)[row] == label
    if not known.all():
        raise TruthError(f"{name}: has no row for label {label[~known][0]}, which is in {where}")
    outside = (frame < table.first[row]) | (frame > table.last[row])
    if outside.any():
        bad = row[outside][0]
        raise TruthError(
            f"{name}: track {table.track[bad]} lives from frame {table.first[bad]} to {table.last[bad]}, "
            f"but {where} shows it in frame {frame}"
        )
    return row


def check_table(table: TrackTable, name: str) -> None:
    """Raise where annotated tracks contradict each other."""
    values, counts = np.unique(table.track, return_counts=True)
    if (counts > 1).any():
        raise TruthError(f"{name}: track {values[counts > 1][0]} has several rows")
    if (table.track < 1).any():
        raise TruthError(f"{name}: track {table.track[0]}; labels are positive")
    backwards = table.first > table.last
    if backwards.any():
        bad = int(backwards.argmax())
        raise TruthError(
            f"{name}: track {table.track[bad]} ends in frame {table.last[bad]}, before it begins in {table.first[bad]}"
        )
    child = np.flatnonzero(table.mother)
    mother = np.searchsorted(table.track, table.mother[child])
    unknown = np.append(table.track, -1)[mother] != table.mother[child]
    if unknown.any():
        bad = int(child[unknown][0])
        raise TruthError(f"{name}: track {table.track[bad]} comes from track {table.mother[bad]}, which has no row")
    early = table.last[mother] >= table.first[child]
    if early.any():
        bad, its = int(child[early][0]), int(mother[early][0])
        raise TruthError(
            f"{name}: track {table.track[bad]} begins in frame {table.first[bad]}, but track {table.mother[bad]}, "
            f"from which it comes, is still there in frame {table.last[its]}"
        )
