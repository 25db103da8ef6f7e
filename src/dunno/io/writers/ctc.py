"""Results of the Cell Tracking Challenge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dunno.errors import InputError, OutputError
from dunno.io.ctc import MAX_LABEL, write_mask, write_table
from dunno.lineage.tracks import LONGEST_GAP, NumberedBlock, TrackRow
from dunno.segments.drawing import draw_over_background
from dunno.types import Detections, Ints, Movie, RunInfo
from dunno.types.labels import relabelled


class Cut(NamedTuple):
    """Where a track has a gap: its label before and after, the last frame before it and the first one after it."""

    track: int
    before: int
    last: int
    after: int
    first: int


class CtcWriter:
    """A Cell Tracking Challenge result: `maskNNN.tif` whose labels are tracks, and `res_track.txt`.

    Frames keep their original numbers where they are consecutive; of every n-th frame, they are counted from 0, because
    the challenge's tools need consecutive files. A track with a gap becomes several, each the only child of the one before it,
    as the challenge has it; their labels count down from the largest. What is in no track is left out.
    """

    name = "ctc"
    needs_masks = True

    def __init__(self, folder: Path, about: RunInfo, movie: Movie | None = None) -> None:
        if movie is None:
            raise InputError("a challenge result is made of the movie's masks; say where they are with --masks")
        self._folder = folder
        self._movie = movie
        consecutive = bool((np.diff(movie.frames) == 1).all())
        numbers = movie.frames if consecutive else np.arange(len(movie))
        self._number = dict(zip(movie.frames.tolist(), numbers.tolist(), strict=True))
        self._digits = max(3, len(str(max(self._number.values()))))
        self._t = 0
        self._first: dict[int, int] = {}  # the first frame in which each track is drawn
        self._seen: dict[int, int] = {}  # and the last one so far
        self._cuts: list[Cut] = []
        self._labels: dict[int, int] = {}  # of tracks with gaps: the label of their latest piece
        # the last frames' positions and cells, whose masks are borrowed
        self._recent: dict[int, tuple[int, Detections]] = {}
        folder.mkdir(parents=True)

    def write(self, numbered: NumberedBlock) -> None:
        for t in numbered.frames:
            rows = numbered.block.rows(t)
            self._write(numbered.block.cells.at(t), numbered.track[rows])

    def _write(self, cells: Detections, track: Ints) -> None:
        """Write one frame's masks."""
        if track.max(initial=0) > MAX_LABEL:
            raise OutputError(
                f"{self._folder}: more than {MAX_LABEL} tracks do not fit the challenge's 16-bit masks; "
                "write GEFF or CSV, or track the movie in parts"
            )
        number = self._number[cells.frame]
        self._note_gaps(number, track[track > 0])
        labels = np.array([self._labels.get(each, each) for each in track.tolist()], np.uint16)
        empty = np.zeros(self._movie.shape, np.uint16)  # also of a frame that cannot be read
        tracks = relabelled(self._movie.masks(self._t), cells.label, labels) if len(cells) else empty
        self._fill(cells, labels, tracks)
        write_mask(self._folder / f"mask{number:0{self._digits}d}.tif", tracks)
        self._t += 1

    def _note_gaps(self, number: int, drawn: Ints) -> None:
        """Note tracks that go on after frames without a mask: in the challenge's form they are tracks of their own."""
        for track in drawn.tolist():
            before = self._seen.get(track, number - 1)
            if before != number - 1:
                new = MAX_LABEL - len(self._cuts)
                self._cuts.append(Cut(track, self._labels.get(track, track), before, new, number))
                self._labels[track] = new
            self._first.setdefault(track, number)
        self._seen |= dict.fromkeys(drawn.tolist(), number)

    def _fill(self, cells: Detections, labels: Any, tracks: Any) -> None:
        """Draw the cells that were filled in, with the masks that they had last, moved."""
        self._recent = dict([*[*self._recent.items()][1 - LONGEST_GAP :], (cells.frame, (self._t, cells))])
        for i in np.flatnonzero(cells.is_filled).tolist():
            assert cells.filled_from is not None
            frame, row = cells.filled_from[i].tolist()
            t, before = self._recent[frame]
            inside = np.argwhere(self._movie.masks(t) == before.label[row])
            moved = (cells.centroid[i] - before.centroid[row]) / np.asarray(self._movie.scale)
            draw_over_background(tracks, inside + np.rint(moved).astype(np.int64), int(labels[i]))

    def close(self) -> None:
        """No file is kept open."""

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        rows = sorted(piece for row in tracks if row.track in self._seen for piece in self._pieces(row))
        write_table(self._folder / "res_track.txt", rows)

    def _pieces(self, row: TrackRow) -> list[tuple[int, int, int, int]]:
        """A track's rows in the table: one, or one more after each gap, with the piece before as its parent."""
        pieces, label, first = [], row.track, self._first[row.track]
        parent = self._labels.get(row.mother, row.mother) if row.mother in self._seen else 0
        for cut in self._cuts_of(row.track):
            pieces.append((label, first, cut.last, parent))
            label, first, parent = cut.after, cut.first, cut.before
        return [*pieces, (label, first, self._seen[row.track], parent)]

    def _cuts_of(self, track: int) -> list[Cut]:
        return [cut for cut in self._cuts if cut.track == track] if track in self._labels else []
