"""What is written of repaired masks: the masks, what became of each, and the segments that were not chosen; or the masks alone."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dunno.io import block_files, cell_files
from dunno.io.block_files import linked_blocks
from dunno.io.ctc import write_mask
from dunno.io.filtering import tracks_of_cells
from dunno.io.output import MASKS, OBJECTS, read_run, reopen_movie
from dunno.io.writing import leave_marker, whole
from dunno.lineage.tracks import TrackNumbers, numbered
from dunno.runs.unreadable_frames import Tracked
from dunno.segments.drawing import SIXTEEN_BITS, Drawn
from dunno.segments.repair import OtherSegments, Repair
from dunno.segments.segment_model import SegmentModel
from dunno.tracking.measured_blocks import broken_frames, frame_blocks, measure_block
from dunno.tracking.repairing import repaired_movie, repaired_spans
from dunno.types import Ints, Movie
from dunno.types.cells import AXES
from dunno.types.labels import LabelImage
from dunno.work.progress import Tell

REPAIRS_FILE, SEGMENTS_FILE = "repairs.csv", "segments.csv"
REPAIR_COLUMNS = ("frame", "mask", "label", "what", "probability")


class RepairedRun:
    """A movie that is tracked with its masks repaired, of which frames are known as soon as their block was given."""

    def __init__(self, movie: Movie, model: SegmentModel, place: Path, tell: Tell) -> None:
        self._broken = broken_frames(movie)
        self._given, self._model, self._place, self._tell = movie.blanked([*self._broken]), model, place, tell
        self._drawn: dict[int, Drawn] = {}
        self.movie = repaired_movie(self._given, self._drawn)
        self.counts: dict[str, int] = {}  # of masks that were split, joined and left out
        self._counted: set[tuple[int, int]] = set()

    def blocks(self) -> Iterator[Tracked]:
        """Solve, write and hand on one block after the other."""
        pairs = self._place / block_files.PAIRS_FOLDER
        axes = AXES[self._given.n_dimensions]
        with (
            (self._place / REPAIRS_FILE).open("w", newline="") as repairs,
            (self._place / SEGMENTS_FILE).open("w", newline="") as others,
        ):
            tables = csv.writer(repairs), csv.writer(others)
            tables[0].writerow(REPAIR_COLUMNS)
            tables[1].writerow(["frame", "id", "masks", "area", *axes, "p_segment"])
            for index, span in enumerate(repaired_spans(self._given, self._model, self._tell)):
                self._drawn.update(span.drawn)
                tables[0].writerows(map(self._row, span.repairs))
                tables[1].writerows(_rows(span.others))
                tracked = Tracked.without(span.block, self._given, self._broken)
                block_files.write_block(block_files.block_file(pairs, index), tracked.block, tracked.broken)
                yield tracked
        write_masks(self.movie, self._place)

    def _row(self, repair: Repair) -> list[object]:
        if (repair.frame, repair.mask) not in self._counted:  # a mask that is cut has a row for each of its parts
            self.counts[repair.what] = self.counts.get(repair.what, 0) + 1
            self._counted.add((repair.frame, repair.mask))
        return repair_row(repair)


def repair_row(repair: Repair) -> list[object]:
    """One of the rows of `repairs.csv`."""
    label = "" if repair.label is None else repair.label
    return [repair.frame, repair.mask, label, repair.what, f"{repair.probability:.6g}"]


def write_masks(movie: Movie, place: Path) -> None:
    """A repaired movie's masks, a file per frame, and what is measured of them."""
    (place / MASKS).mkdir(exist_ok=True)
    (place / OBJECTS).mkdir(exist_ok=True)
    for index, part in enumerate(frame_blocks(movie)):
        for t, frame in enumerate(part.frames.tolist()):
            _write_frame(place / MASKS, movie, frame, part.masks(t))
        measured = measure_block(part)
        cell_files.write_cells(block_files.block_file(place / OBJECTS, index), measured.cells)


def _write_frame(folder: Path, movie: Movie, frame: int, labels: LabelImage) -> None:
    digits = max(3, len(str(int(movie.frames.max()))))
    small = labels.astype(np.uint16 if labels.max(initial=0) <= SIXTEEN_BITS else np.uint32)
    write_mask(folder / f"mask{frame:0{digits}d}.tif", small)


def _rows(others: OtherSegments) -> Iterator[list[object]]:
    for k in range(len(others.id)):
        masks = f"{others.mask[k]}+{others.other_mask[k]}" if others.other_mask[k] else int(others.mask[k])
        place = [f"{x:.6g}" for x in others.centroid[k]]
        numbers = int(others.frame[k]), int(others.id[k])
        yield [*numbers, masks, f"{others.area[k]:.6g}", *place, f"{others.p_segment[k]:.6g}"]


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
    n = 0
    with whole(target, overwrite) as partial:
        partial.mkdir(parents=True)
        for t, frame in enumerate(movie.frames.tolist()):
            labels = np.array(movie.masks(t))
            labels[np.isin(labels, debris.get(frame, ()))] = 0
            n += int(np.count_nonzero(np.unique(labels)))
            _write_frame(partial, movie, frame, labels)
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
