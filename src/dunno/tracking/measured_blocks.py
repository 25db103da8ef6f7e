"""Measuring a movie's cells: frames in blocks, each read once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dunno.errors import DunnoWarning, MovieError
from dunno.io.cell_files import FRAMES_PER_FILE
from dunno.types import BrokenFrame, Detections, KeptCells, Movie
from dunno.work.schedule import Pool, in_order


@dataclass
class MeasuredBlock:
    """Consecutive frames' cells."""

    cells: list[Detections] = field(default_factory=list)  # Each frame's, without pixels; none for a broken frame
    broken: list[BrokenFrame] = field(default_factory=list)  # The frames whose masks could not be read
    # Those whose image could not; their cells have no intensities
    dark: list[BrokenFrame] = field(default_factory=list)


def measure_block(movie: Movie) -> MeasuredBlock:
    """Measure every frame of a few."""
    block = MeasuredBlock()
    for t, frame in enumerate(movie.frames.tolist()):
        try:
            cells, problem = movie.measure(t)
        except MovieError as error:
            block.broken.append(BrokenFrame(frame, str(error)))
            cells, problem = movie.blanked([t]).measure(t)
        block.cells.append(cells.without_pixels())
        block.dark += [] if problem is None else [BrokenFrame(frame, problem)]
    return block


def broken_frames(movie: Movie) -> dict[int, str]:
    """By position, the frames whose masks could not be read when they were measured, and why."""
    broken = {}
    for t in range(len(movie)):
        try:
            movie.detections(t)
        except MovieError as error:
            broken[t] = str(error)
    return broken


def frame_blocks(movie: Movie, size: int = FRAMES_PER_FILE) -> Iterator[Movie]:
    """Cut a movie into views of a few frames."""
    for begin in range(0, len(movie), size):
        yield movie.part(slice(begin, begin + size))


def measured_blocks(movie: Movie, pool: Pool) -> Iterator[MeasuredBlock]:
    """Measure a movie, a block at a time, in frame order."""
    return in_order(measure_block, frame_blocks(movie), pool)


def with_measured_cells(movie: Movie, pool: Pool) -> Movie:
    """View of a movie whose cells are measured and kept in memory; a frame that cannot be read is refused."""
    if movie.has_cells:
        return movie
    cells: list[Detections] = []
    dark: list[BrokenFrame] = []
    for block in measured_blocks(movie, pool):
        if block.broken:
            raise MovieError(block.broken[0].problem)
        cells += block.cells
        dark += block.dark
    warn_of_dark(dark)
    return movie.with_cells(KeptCells(dict(enumerate(cells))))


def warn_of_dark(frames: Sequence[BrokenFrame]) -> None:
    """Say, once, that images could not be used."""
    if frames:
        first = min(frames, key=lambda each: each.frame)
        others = f" and {len(frames) - 1} more" if len(frames) > 1 else ""
        warnings.warn(
            f"{first.problem} (frame {first.frame}{others}); the cells there have no brightness",
            DunnoWarning,
            stacklevel=3,
        )
