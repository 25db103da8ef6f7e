"""The masks of an output alone, as repaired, in a folder that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from dunno.io.block_files import linked_blocks
from dunno.io.ctc import write_mask
from dunno.io.filtering import tracks_of_cells
from dunno.io.output import read_run, reopen_movie
from dunno.io.writing import leave_marker, whole
from dunno.lineage.tracks import TrackNumbers, numbered
from dunno.segments.drawing import SIXTEEN_BITS
from dunno.types import Ints


class ExportedMasks(NamedTuple):
    """What was written: how many frames, masks, and tracks of debris that are not among them, of how many."""

    frames: int
    masks: int
    debris: int
    tracks: int


def export_masks(
    folder: Path, target: Path, masks: Path | None = None, *, with_debris: bool = False, overwrite: bool = False
) -> ExportedMasks:
    """Write an output's masks as `maskNNN.tif`, as they were repaired; as they were given where none was.

    Without `with_debris`, what is taken for debris is left out; `masks` is where the movie's are now, if they have moved.
    """
    movie, about = reopen_movie(folder, masks), read_run(folder)
    kept = tracks_of_cells(linked_blocks(folder))
    debris = {} if with_debris or kept.all() else _labels_of(folder, np.flatnonzero(~kept))
    n, digits = 0, max(3, len(str(int(movie.frames.max()))))
    with whole(target, overwrite) as partial:
        partial.mkdir(parents=True)
        for t, frame in enumerate(movie.frames.tolist()):
            labels = np.array(movie.masks(t))
            labels[np.isin(labels, debris.get(frame, ()))] = 0
            n += int(np.count_nonzero(np.unique(labels)))
            small = labels.astype(np.uint16 if labels.max(initial=0) <= SIXTEEN_BITS else np.uint32)
            write_mask(partial / f"mask{frame:0{digits}d}.tif", small)
        leave_marker(partial, about.version, masks={"of": about.movie})
    return ExportedMasks(len(movie), n, 0 if with_debris else int((~kept).sum()), len(kept) - 1)


def _labels_of(folder: Path, tracks: Ints) -> dict[int, Ints]:
    """By original index of a frame, the labels of some tracks."""
    found: dict[int, Ints] = {}
    for part in numbered(linked_blocks(folder), TrackNumbers()):
        for t in part.frames:
            rows = part.block.rows(t)
            own = np.isin(part.track[rows], tracks)
            found[int(part.block.frames[t])] = part.label[rows][own]
    return found
