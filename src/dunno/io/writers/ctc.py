"""Results of the Cell Tracking Challenge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import InputError, OutputError
from dunno.io.ctc import MAX_LABEL, write_mask, write_table
from dunno.lineage.tracks import FrameRecord, TrackRow
from dunno.types import Movie, PairPosterior


class CtcWriter:
    """A Cell Tracking Challenge result: `maskNNN.tif` whose labels are tracks, and `res_track.txt`.

    Frames keep their original numbers where they are consecutive; of every n-th frame, they are counted from 0, because
    the challenge's tools need consecutive files.
    """

    name = "ctc"
    needs_masks = True

    def __init__(self, folder: Path, about: Mapping[str, Any], movie: Movie | None = None) -> None:
        if movie is None:
            raise InputError("a challenge result is made of the movie's masks; say where they are with --masks")
        self._folder = folder
        self._movie = movie
        consecutive = bool((np.diff(movie.frames) == 1).all())
        numbers = movie.frames if consecutive else np.arange(len(movie))
        self._number = dict(zip(movie.frames.tolist(), numbers.tolist(), strict=True))
        self._digits = max(3, len(str(max(self._number.values()))))
        self._t = 0
        folder.mkdir(parents=True)

    def write(self, record: FrameRecord, pair: PairPosterior | None) -> None:
        """Write one frame's masks."""
        if len(record.track) and record.track.max() > MAX_LABEL:
            raise OutputError(
                f"{self._folder}: more than {MAX_LABEL} tracks do not fit the challenge's 16-bit masks; "
                "write GEFF or CSV, or track the movie in parts"
            )
        tracks = self._tracks(record) if len(record.track) else np.zeros(self._movie.shape, np.uint16)
        write_mask(self._folder / f"mask{self._number[record.frame]:0{self._digits}d}.tif", tracks)
        self._t += 1

    def _tracks(self, record: FrameRecord) -> Any:
        """The frame's masks with tracks as labels."""
        masks = self._movie.masks(self._t)
        place = np.searchsorted(record.detections.label, masks)
        place[place == len(record.track)] = 0
        tracks = record.track.astype(np.uint16)[place]
        tracks[masks == 0] = 0
        return tracks

    def close(self) -> None:
        """No file is kept open."""

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Write the track table."""
        rows = ((row.track, self._number[row.first], self._number[row.last], row.mother) for row in tracks)
        write_table(self._folder / "res_track.txt", rows)
