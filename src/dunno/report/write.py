"""From an output folder of `dunno track` to its report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from dunno.errors import InputError, MovieError
from dunno.evaluation.calibration_error import BINS, check_bins
from dunno.io.block_files import linked_blocks, n_blocks
from dunno.io.output import read_run, read_written_run, reopen_movie, with_stored_cells
from dunno.io.truths import read_truth
from dunno.io.writing import whole
from dunno.report import forest
from dunno.report.doubts import Doubt
from dunno.report.families import certainty_over_time
from dunno.report.link_scenes import LinkScene, scenes
from dunno.report.page import PageContent, page
from dunno.report.repairs import read_repairs
from dunno.report.review_address import ReviewAddress, port_of
from dunno.report.survey import Survey, survey
from dunno.report.truthfulness import Truthfulness, compare
from dunno.tracking import Tracking
from dunno.types import Block, Movie, RunInfo

REPORT_FILE = "report.html"

Progress = Callable[[Iterator[Block], int], Iterator[Block]]


def write_report(
    folder: str | Path,
    path: str | Path | None = None,
    *,
    truth: str | Path | None = None,
    masks: str | Path | None = None,
    movie: Movie | None = None,
    n_bins: int = BINS,
    progress: Progress = lambda pairs, total: pairs,
) -> Path:
    """Write one HTML page about a tracking; an earlier one is replaced.

    The page is made from `folder/pairs`, a block at a time. Where the movie cannot be opened again it has no pictures, and says so.

    Args:
        folder: What `dunno track` wrote.
        path: The file to write; `folder/report.html` by default.
        truth: A `SEQ_GT/TRA` folder, for the section that compares.
        masks: Where the movie's masks are now, if they have moved.
        movie: The movie itself, if it was made from arrays or is open already.
        n_bins: Bins of confidence, where there is truth.
        progress: Wraps the stream of blocks, which are read twice, knowing how many will come.
    """
    folder, why_not = Path(folder), ""
    check_bins(n_bins)
    about = read_run(folder)
    if movie is not None:
        movie = with_stored_cells(movie, folder)
    else:
        movie, why_not = _reopened(folder, masks, needed=masks is not None or truth is not None)
    compared = None if truth is None or movie is None else _compared(folder, movie, about, Path(truth), n_bins)
    total = n_blocks(folder)
    counted = survey(progress(linked_blocks(folder), total))
    pictures, about_pictures = _pictures(movie, counted.doubts, why_not)
    deciding = ReviewAddress(port_of(read_written_run(folder)["parameters"]))
    frames = np.array(about.frames, np.int64)
    trees, drawing = _grown(progress(linked_blocks(folder), total), counted, frames, deciding)
    content = PageContent(
        about, counted, trees, drawing, pictures, about_pictures, compared, deciding, read_repairs(folder)
    )
    target = folder / REPORT_FILE if path is None else Path(path)
    if target.is_dir():
        raise InputError(f"{target}: is a folder; expected the name of a file to write")
    with whole(target, overwrite=True) as partial:
        partial.write_text(page(content), encoding="utf-8")
    return target


def _reopened(folder: Path, masks: str | Path | None, needed: bool) -> tuple[Movie | None, str]:
    """The movie, or why it cannot be opened; an error only where it is needed."""
    try:
        return reopen_movie(folder, masks), ""
    except InputError as error:
        if needed:
            raise
        return None, str(error)


def _compared(folder: Path, movie: Movie, about: RunInfo, truth: Path, n_bins: int) -> Truthfulness:
    return compare(Tracking(movie, tuple(linked_blocks(folder)), about), read_truth(truth, movie), n_bins)


def _pictures(movie: Movie | None, doubts: Sequence[Doubt], why_not: str) -> tuple[Sequence[LinkScene] | None, str]:
    """Pictures of doubts with what is to be known about them, or why there are none."""
    try:
        if movie is not None:
            return scenes(movie, doubts), _drawing_note(movie)
    except MovieError as error:
        why_not = str(error)
    return None, f"There are no pictures, because the movie could not be looked at. {why_not}."


def _drawing_note(movie: Movie) -> str:
    """How a movie is shown, where that is not plain."""
    drawn = "" if movie.has_images else "The movie has no images: cells are drawn from their masks. "
    above = "" if movie.n_dimensions == 2 else "Volumes are seen from above, through their whole depth."
    return (drawn + above).strip()


def _grown(
    blocks: Iterator[Block], counted: Survey, frames: np.ndarray, deciding: ReviewAddress
) -> tuple[list[forest.Tree], str]:
    """The forest's trees and their drawing, for which all blocks are read once more."""
    families = counted.families
    trees = forest.plant(families.listed(), families.table())
    if not trees:
        return [], ""
    row, column = forest.drawn_tracks(trees), forest.columns(frames)
    shape = (len(row), max(column.values()) + 1)
    least = certainty_over_time(blocks, row, column, shape)
    return trees, forest.draw(trees, least, frames, deciding)
