"""The reviewed tracking as files: original plus log, with what a person decided marked as such."""

from __future__ import annotations

import csv
import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dunno.errors import InputError
from dunno.io import block_files, cell_files
from dunno.io.filtering import LeftOut, without_debris
from dunno.io.writers.csv import CsvWriter
from dunno.io.writers.ctc import CtcWriter
from dunno.io.writers.geff import GeffWriter
from dunno.io.writing import RUN_FILE, Writer, drain, whole
from dunno.lineage.gap_links import one_link_each
from dunno.review.audit import ErrorRate
from dunno.review.resolving import ResolvedBlocks
from dunno.review.review import Review
from dunno.review.state import Progress
from dunno.runs.repaired_output import REPAIR_COLUMNS, REPAIRS_FILE, repair_row, write_masks
from dunno.runs.run import Run
from dunno.runs.summary import Census
from dunno.runs.workspace import CALIBRATION_FILE
from dunno.tracking import Tracking
from dunno.types import Block, Movie, RunInfo

STATEMENTS = "statements.csv"
STATEMENT_COLUMNS = ("kind", "frame", "label", "mother_frame", "mother", "other")


def reviewed_blocks(review: Review) -> Iterator[Block]:
    """The movie given the decisions, each block saying which daughters a person decided on."""
    return (replace(block, is_reviewed=True) for block in one_link_each(review.blocks()))


def about_review(review: Review) -> RunInfo:
    """The output's parameters, and what the review did to it."""
    kinds = [answer.decision.kind for answer in review.counting]
    said = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    found = {"answered": review.n_answered, "statements": said, "error_rate": rate_of(review.error_rate())}
    return replace(review.about, review=found)


def rate_of(found: ErrorRate) -> dict[str, Any]:
    """An audit's error rate as plain data."""
    names = ("n", "wrong", "skipped", "rate", "low", "high", "enough")
    return {name: getattr(found, name) for name in names}


def reviewed_tracking(review: Review) -> Tracking:
    """The whole reviewed movie in memory."""
    return Tracking(review.movie, tuple(reviewed_blocks(review)), about_review(review))


def export(
    review: Review,
    folder: str | Path,
    *,
    overwrite: bool = False,
    progress: Progress = lambda pairs, total: pairs,
) -> str | None:
    """Write GEFF, CSV and a Cell Tracking Challenge result into a new folder, all or nothing.

    The folder is an output like that of `dunno track`: it can be evaluated, reported and read again. Returns why there is no
    challenge result, the one that needs the movie's masks; `None` if there is one.
    """
    started = time.perf_counter()
    about = about_review(review)
    movie, missing = _movie_if_there(review)
    with whole(folder, overwrite) as partial:
        partial.mkdir()
        writers: list[Writer] = [GeffWriter(partial / "tracks.geff", about), CsvWriter(partial, about)]
        census = Census(about)
        kept = block_files.keep(reviewed_blocks(review), partial / block_files.PAIRS_FOLDER)
        drain(progress(kept, review.n_blocks), [census, *writers])
        if movie is not None:
            cells_only = without_debris(lambda: block_files.linked_blocks(partial), LeftOut())
            drain(cells_only, [CtcWriter(partial / "ctc", about, movie)])
        cell_files.copy_cells(review.folder, partial)
        if review.resolved is not None:
            _write_repairs(review, review.resolved, partial)
        write_statements(partial / STATEMENTS, review)
        run = Run(Path(folder), about, census.summary, time.perf_counter() - started)
        (partial / RUN_FILE).write_text(json.dumps(run.to_dict(), indent=2) + "\n")
    return missing


def _write_repairs(review: Review, resolved: ResolvedBlocks, place: Path) -> None:
    """The masks as they are now, what became of those that were given, and what it takes to review them again."""
    write_masks(review.movie, place)
    with (place / REPAIRS_FILE).open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(REPAIR_COLUMNS)
        table.writerows(repair_row(repair) for t in range(len(review.movie)) for repair in resolved.repairs(t))
    shutil.copyfile(review.folder / CALIBRATION_FILE, place / CALIBRATION_FILE)


def exported(review: Review) -> dict[str, Any]:
    """Write the reviewed tracking beside the output, in place of an earlier export, and say where and what."""
    folder = review.folder.absolute().with_name(f"{review.folder.absolute().name}-reviewed")
    missing = export(review, folder, overwrite=folder.exists())
    return {"folder": str(folder), "without_ctc": missing, "answered": review.n_answered}


def write_statements(path: Path, review: Review) -> None:
    """Write a table of all that stands: what was said of which cell, mask or place, when and by whom.

    Only what counts is listed: what something said later has taken the place of is in the log alone.
    """
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, [*STATEMENT_COLUMNS, "z", "y", "x", "who", "time"], restval="")
        table.writeheader()
        for answer in review.counting:
            said = answer.decision.to_dict()
            said.pop("path", None)
            place = dict(zip("xyz", reversed(said.pop("place", ())), strict=False))
            if answer.decision.label == 0:
                said.pop("label")
            table.writerow({**said, **place, "who": answer.who, "time": answer.time})


def _movie_if_there(review: Review) -> tuple[Movie | None, str | None]:
    """The movie, or why it cannot be opened; where the masks were named, they must be there."""
    try:
        movie = review.movie
        return (movie, None) if movie.has_masks else (None, f"{movie.name} has points and no masks")
    except InputError as error:
        if review.masks is not None:
            raise
        return None, str(error)
