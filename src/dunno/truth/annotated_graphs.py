"""Truth as a graph: annotated cells by frame and name, and links between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dunno.errors import TruthError
from dunno.truth.matching import TrackTable
from dunno.types import Ints, Truth


class AnnotatedCells(NamedTuple):
    """Annotated cells and the links between them, in frames of the whole recording.

    Attributes:
        frame: (N,) each cell's frame, ascending.
        label: (N,) its detection in the movie, 0 where it has none.
        mother: (L,) rows of the mothers of links.
        daughter: (L,) rows of their daughters, each once.
        source: What to call them in messages.
    """

    frame: Ints
    label: Ints
    mother: Ints
    daughter: Ints
    source: str


def truth_of_graph(cells: AnnotatedCells, frames: Ints, labels: Sequence[Ints]) -> Truth:
    """The tracks of annotated cells, and who among a movie's detections belongs to which.

    A track goes on while its cell has one daughter in the next annotated frame; a link that skips frames, or one of several,
    begins another.

    Args:
        cells: The annotation.
        frames: (T,) the movie's frames.
        labels: Each frame's detections, ascending.
    """
    _check(cells)
    track = _tracks(cells)
    tracks, present = [], []
    begins = np.searchsorted(cells.frame, frames, "left")
    ends = np.searchsorted(cells.frame, frames, "right")
    for t, label in enumerate(labels):
        here = slice(int(begins[t]), int(ends[t]))
        own, place = np.zeros(len(label), np.int64), np.searchsorted(label, cells.label[here])
        seen = (np.append(label, -1)[place] == cells.label[here]) & (cells.label[here] > 0)
        own[place[seen]] = track[here][seen]
        tracks.append(own)
        present.append(np.sort(track[here]))
    table = _table(cells, track)
    return Truth(*table, frames, tuple(labels), tuple(tracks), tuple(present))


def _check(cells: AnnotatedCells) -> None:
    """Refuse links that no cell can have."""
    daughters, counts = np.unique(cells.daughter, return_counts=True)
    if (counts > 1).any():
        row = daughters[counts > 1][0]
        raise TruthError(f"{cells.source}: cell {_name(cells, row)} has two mothers; a cell has one at the most")
    back = cells.frame[cells.mother] >= cells.frame[cells.daughter]
    if back.any():
        row = cells.daughter[back][0]
        raise TruthError(f"{cells.source}: the mother of cell {_name(cells, row)} is not in an earlier frame")


def _name(cells: AnnotatedCells, row: int) -> str:
    return f"{cells.label[row]} in frame {cells.frame[row]}"


def _tracks(cells: AnnotatedCells) -> Ints:
    """(N,) the track of each cell, from 1, in the order in which tracks begin."""
    n_daughters = np.bincount(cells.mother, minlength=len(cells.frame))
    step = cells.frame[cells.daughter] - cells.frame[cells.mother]
    goes_on = (n_daughters[cells.mother] == 1) & (step == step.min(initial=np.iinfo(np.int64).max))
    before = np.full(len(cells.frame), -1)
    before[cells.daughter[goes_on]] = cells.mother[goes_on]
    track, first = np.zeros(len(cells.frame), np.int64), before < 0
    track[first] = np.arange(1, first.sum() + 1)
    for row in np.flatnonzero(~first).tolist():  # frames ascend, so that its mother's is known
        track[row] = track[before[row]]
    return track


def _table(cells: AnnotatedCells, track: Ints) -> TrackTable:
    """When each track begins and ends, and which it came from."""
    names, first = np.unique(track, return_index=True)
    last = len(track) - 1 - np.unique(track[::-1], return_index=True)[1]
    mother = np.zeros(len(names), np.int64)
    born = track[cells.daughter] != track[cells.mother]
    mother[track[cells.daughter[born]] - 1] = track[cells.mother[born]]
    return TrackTable(names, cells.frame[first], cells.frame[last], mother)
