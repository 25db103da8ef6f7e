"""From an output folder of `dunno track` to its report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import InputError, MovieError
from dunno.evaluation.calibration_error import BINS, check_bins
from dunno.io.block_files import linked_blocks, n_blocks
from dunno.io.filtering import tracks_of_cells
from dunno.io.output import read_run, read_written_run, reopen_movie, with_stored_cells
from dunno.io.truths import read_truth
from dunno.io.writing import whole
from dunno.report import forest, words
from dunno.report.doubts import Doubt
from dunno.report.link_scenes import TwoViews, scenes
from dunno.report.page import PageContent, page
from dunno.report.repairs import MaskRepair, RepairScene, read_repairs, repair_scenes
from dunno.report.review_address import ReviewAddress, port_of
from dunno.report.survey import Survey, survey
from dunno.report.truthfulness import compare
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
    compared = None
    if truth is not None and movie is not None:
        tracking = Tracking(movie, tuple(linked_blocks(folder)), about)
        compared = compare(tracking, read_truth(truth, movie), n_bins)
    total, run = n_blocks(folder), read_written_run(folder)
    counted = _surveyed(folder, progress(linked_blocks(folder), total), about, run)
    pictures, about_pictures = _pictures(movie, counted.doubts, why_not)
    deciding = ReviewAddress(port_of(run["parameters"]))
    frames = np.array(about.frames, np.int64)
    again, rows = progress(linked_blocks(folder), total), counted.families.table()
    trees, drawing = forest.grow(again, counted.shown_families, rows, frames, deciding)
    repairs = read_repairs(folder)
    repaired = _repaired(folder, masks, movie, repairs) if pictures is not None else None
    shown = trees, drawing, pictures, words.without_folders(about_pictures, about)
    content = PageContent(about, counted, *shown, compared, deciding, repairs, repaired)
    target = folder / REPORT_FILE if path is None else Path(path)
    if target.is_dir():
        raise InputError(f"{target}: is a folder; expected the name of a file to write")
    with whole(target, overwrite=True) as partial:
        partial.write_text(page(content), encoding="utf-8")
    return target


def _surveyed(folder: Path, blocks: Iterator[Block], about: RunInfo, run: dict[str, Any]) -> Survey:
    """What is counted, with or without debris as it was when the movie was tracked."""
    told = run.get("summary", {})
    with_debris = bool(told.get("with_debris", False))
    has_debris = bool(told.get("debris_tracks", 0)) and not with_debris
    counted = survey(blocks, about, tracks_of_cells(linked_blocks(folder)) if has_debris else None, with_debris)
    return replace(counted, summary=replace(counted.summary, repairs=told.get("repairs", {})))


def _repaired(
    folder: Path, masks: str | Path | None, movie: Movie | None, repairs: Sequence[MaskRepair] | None
) -> list[RepairScene] | None:
    """Pictures of repairs, where there are any and the movie's own masks can be read."""
    if movie is None or not repairs:
        return None
    try:
        return repair_scenes(reopen_movie(folder, masks, as_given=True), movie, repairs)
    except (InputError, MovieError):
        return None


def _reopened(folder: Path, masks: str | Path | None, needed: bool) -> tuple[Movie | None, str]:
    """The movie, or why it cannot be opened; an error only where it is needed."""
    try:
        return reopen_movie(folder, masks), ""
    except InputError as error:
        if needed:
            raise
        return None, str(error)


def _pictures(movie: Movie | None, doubts: Sequence[Doubt], why_not: str) -> tuple[Sequence[TwoViews] | None, str]:
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
