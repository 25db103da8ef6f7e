"""Measuring a movie into an output: what is missing is measured, what is there is checked against the masks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dunno.errors import InputError, MovieError
from dunno.io.block_files import block_file
from dunno.io.cell_files import FRAMES_PER_FILE, StoredCells, is_whole, write_cells
from dunno.io.writers import csv
from dunno.runs.mask_check import MaskCheck, look_at, what_is_odd
from dunno.tracking.measured_blocks import MeasuredBlock, frame_blocks, measure_block, measured_blocks, warn_of_dark
from dunno.types import BrokenFrame, Detections, Movie
from dunno.work.progress import Say, Tell, ignore_note
from dunno.work.schedule import Pool, as_finished, in_order


@dataclass(frozen=True)
class FrameBlock:
    """The frames of one file."""

    index: int  # The file's number
    movie: Movie  # The frames
    digests: tuple[int | None, ...] = ()  # By which their masks were known when they were measured, in order


def measure_into(movie: Movie, folder: Path, pool: Pool, tell: Tell, say: Say = ignore_note) -> Movie:
    """Measure a movie's cells into a folder of files, and view the movie through them.

    A file is written the moment its frames are measured. Those that are there already are kept, and the masks must be those that
    they were measured on. Workers on this machine write their files themselves; those of a cluster, which may see other disks, send
    them. What is odd about the masks that are measured is said.
    """
    folder.mkdir(exist_ok=True)
    check_masks(movie, folder, pool, tell)
    missing = [block for block in _blocks(movie) if not _is_there(folder, block)]
    done, total = 0, sum(len(block.movie) for block in missing)
    dark: list[BrokenFrame] = []
    looks: list[MaskCheck] = []
    work = partial(_measure, folder if pool.is_here else None)
    if missing:
        tell("measuring frames", done, total)
    for block, outcome in as_finished(work, missing, pool):
        if isinstance(outcome, BaseException):
            raise outcome
        measured, seen = outcome
        if not pool.is_here:
            _write(folder, block.index, measured)
        dark += measured.dark
        looks += seen
        done += len(block.movie)
        tell("measuring frames", done, total)
    warn_of_dark(dark)
    for line in what_is_odd(looks) if looks else []:
        say(line)
    return movie.with_cells(StoredCells(folder, shared=pool.is_here))


def _blocks(movie: Movie) -> Iterator[FrameBlock]:
    return (FrameBlock(index, part) for index, part in enumerate(frame_blocks(movie)))


def _is_there(folder: Path, block: FrameBlock) -> bool:
    return is_whole(block_file(folder, block.index))


def _measure(folder: Path | None, block: FrameBlock) -> tuple[MeasuredBlock, list[MaskCheck]]:
    """Measure some frames; where a folder is given, write them there and return what else is to be known."""
    measured = measure_block(block.movie)
    broken = {each.frame for each in measured.broken}
    seen = [look_at(cells, block.movie) for cells in measured.cells if cells.frame not in broken]
    if folder is not None:
        _write(folder, block.index, measured)
        measured.cells = []
    return measured, [look for look in seen if look is not None]


def _write(folder: Path, index: int, measured: MeasuredBlock) -> None:
    write_cells(block_file(folder, index), measured.cells, measured.broken)


def write_table(movie: Movie, path: Path, pool: Pool, tell: Tell) -> tuple[int, list[BrokenFrame]]:
    """Measure a movie into one table, a few blocks in memory; return how many cells it has, and which frames could not be read."""
    broken: list[BrokenFrame] = []
    dark: list[BrokenFrame] = []

    def frames() -> Iterator[Detections]:
        done = 0
        for block in measured_blocks(movie, pool):
            broken.extend(block.broken)
            dark.extend(block.dark)
            yield from block.cells
            done += len(block.cells)
            tell("measuring frames", done, len(movie))

    tell("measuring frames", 0, len(movie))
    n = csv.write_cells(path, frames())
    if len(broken) == len(movie):
        raise MovieError(broken[0].problem)
    warn_of_dark(dark)
    return n, broken


def check_masks(movie: Movie, folder: Path, pool: Pool, tell: Tell) -> None:
    """Refuse masks other than those that the cells in a folder were measured on; every frame is read again."""
    stored = StoredCells(folder)
    there = [block for block in _blocks(movie) if _is_there(folder, block)]
    done, total = 0, sum(len(block.movie) for block in there)
    blocks = (FrameBlock(block.index, block.movie, _digests(stored, block)) for block in there)
    if there:
        tell("checking frames", done, total)
    for block, changed in zip(there, in_order(_first_changed, blocks, pool), strict=True):
        if changed is not None:
            raise InputError(
                f"{folder.parent}: frame {changed}: the masks have changed since they were measured; "
                "put the old ones back, or start anew without --resume"
            )
        done += len(block.movie)
        tell("checking frames", done, total)


def _digests(stored: StoredCells, block: FrameBlock) -> tuple[int | None, ...]:
    begin = FRAMES_PER_FILE * block.index
    return tuple(stored.digest(t) for t in range(begin, begin + len(block.movie)))


def _first_changed(block: FrameBlock) -> int | None:
    """The first frame whose masks are not those that were measured, by original index."""
    for t, known in enumerate(block.digests):
        try:
            now = block.movie.digest(t)
        except MovieError:
            now = None
        if now != known:
            return int(block.movie.frames[t])
    return None
