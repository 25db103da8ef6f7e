"""Tracking a movie into an output folder, as `dunno track` does: block by block, and resumable."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dunno.calibration import load_calibration
from dunno.errors import InputError, OutputError
from dunno.io import block_files, cell_files
from dunno.io.filtering import LeftOut, without_debris
from dunno.io.schema import RUN_SCHEMA
from dunno.io.writers.csv import CsvWriter
from dunno.io.writers.ctc import CtcWriter
from dunno.io.writers.geff import GeffWriter
from dunno.io.writing import RUN_FILE, Writer, drain, partial_of, remove
from dunno.lineage.filling import filled
from dunno.lineage.gap_links import one_link_each
from dunno.runs.cell_measuring import check_masks, measure_into
from dunno.runs.summary import Census, Summary
from dunno.runs.unreadable_frames import Tracked, track_readable_frames
from dunno.runs.workspace import (
    CALIBRATION_FILE,
    PLAN_FILE,
    clear,
    finished_blocks,
    identity,
    measured_blocks,
    no_cells_if_refused,
    read_json,
    refuse_others,
    workspace,
    write_whole,
)
from dunno.tracking.plan import BLOCK, Plan, Span, spans_of
from dunno.tracking.tracker import Tracker
from dunno.types import Block, Movie, RunInfo
from dunno.work.progress import Say, Tell, ignore_note, ignore_progress
from dunno.work.schedule import Pool, as_finished

if TYPE_CHECKING:
    from dunno.runs.repaired_output import RepairedRun

PAIRS_FOR_TWO, PAIRS_FOR_EACH_OF_MORE, MOST_BYTES = 64 * BLOCK, 4 * BLOCK, 1 << 20


class Form(NamedTuple):
    """What is written beside the tables: a challenge result, and cells filled in across gaps; and whether debris counts."""

    ctc: bool = False
    fill_gaps: bool = False
    with_debris: bool = False


@dataclass(frozen=True)
class Run:
    """A finished run: where it is, who made it and what it found."""

    folder: Path
    about: RunInfo
    summary: Summary
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """What `run.json` holds."""
        return {
            "schema": RUN_SCHEMA.number,
            "dunno": self.about.version,
            "parameters": self.about.to_dict(),
            **{
                name: self.about[name]
                for name in ("mask_source", "step", "calibrated", "verdict", "reason", "verdicts")
            },
            "summary": self.summary.to_dict(),
            "timings": {"seconds": round(self.seconds, 3)},
        }

    @classmethod
    def of(cls, folder: Path, content: dict[str, Any]) -> Run:
        """The run that a `run.json` tells of."""
        try:
            summary = Summary.of_dict(content["summary"])
            return cls(folder, RunInfo.of_dict(content["parameters"]), summary, float(content["timings"]["seconds"]))
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{folder / RUN_FILE}: has not the form that dunno writes; {RUN_SCHEMA.cure}") from None


def track_into(
    tracker: Tracker,
    movie: Movie,
    folder: str | Path,
    *,
    overwrite: bool = False,
    resume: bool = False,
    ctc: bool = False,
    fill_gaps: bool = False,
    with_debris: bool = False,
    tell: Tell = ignore_progress,
    say: Say = ignore_note,
) -> Run:
    """Track a movie and write `tracks.geff`, `edges.csv`, `detections.csv` and `run.json`, all of them or nothing.

    First every frame's cells are measured, into `cells/`; everything else reads them there, so that masks and images are read
    once, unless the cost itself looks at pixels. Measured frames and finished blocks of pairs are kept in `folder.partial` whatever
    stops the work, and used by a run with `resume`, which ends with the same bytes as one that was not stopped, and refuses masks
    that have changed. Frames that cannot be read are left out and listed in `summary.broken`.

    Args:
        tracker: How.
        movie: What.
        folder: Where; must not exist unless `overwrite` or `resume`.
        overwrite: Replace an earlier output.
        resume: Continue an earlier run of the same movie with the same choices; one that is complete is returned as it is.
        ctc: Also write a Cell Tracking Challenge result into `ctc/`.
        fill_gaps: Write cells filled in where links skip frames, marked as such.
        with_debris: Count tracks that are taken for debris like others, and draw them in the challenge result.
        tell: Is told how far it is.
        say: Is told what is odd about the masks, a line each.
    """
    started = time.perf_counter()
    folder = Path(folder)
    for source in (movie.path, movie.masks_path):
        if source is not None and Path(source).resolve().is_relative_to(folder.resolve()):
            raise OutputError(f"{folder}: holds the movie itself ({source}); choose another output")
    if ctc and not movie.has_masks:
        raise OutputError(f"{movie.name}: has points and no masks, which a CTC result is made of; leave out --ctc")
    form = Form(ctc, fill_gaps, with_debris)
    asked = identity(tracker, movie, **form._asdict())
    begun = partial_of(folder).exists()
    if resume and not begun and (content := read_json(folder / RUN_FILE)) is not None:
        refuse_others(content, asked, folder)
        _check_complete(tracker, movie, folder, tell)
        return Run.of(folder, content)
    with workspace(folder, overwrite, resume) as place, tracker.working() as pool:
        if (content := read_json(place / RUN_FILE)) is None:
            measured = _measured(movie, place, asked, pool, tell, say)
            with no_cells_if_refused(place):
                plan = _plan(tracker, measured, place, asked, tell)
                run = _track(plan, tracker, measured, place, form, pool, tell)
            run = replace(run, folder=folder, seconds=time.perf_counter() - started)
            content = {**run.to_dict(), "made_from": {k: v for k, v in asked.items() if k not in run.about}}
            write_whole(place / RUN_FILE, content)
        else:  # everything was done but the last step
            refuse_others(content, asked, place)
            _check_complete(tracker, movie, place, tell)
    return Run.of(folder, content)


def _check_complete(tracker: Tracker, movie: Movie, folder: Path, tell: Tell) -> None:
    """Refuse to take an output for that of a movie whose masks have changed."""
    if not cell_files.has_cells(folder, len(movie)):
        raise InputError(
            f"{folder}: has no {cell_files.CELLS_FOLDER}/ folder; it was made by an older version, track again"
        )
    for _ in block_files.stored_blocks(folder):
        pass  # each is read, so that one that is missing or damaged is named
    with tracker.working() as pool:
        check_masks(movie, folder / cell_files.CELLS_FOLDER, pool, tell)


def _measured(movie: Movie, place: Path, asked: dict[str, Any], pool: Pool, tell: Tell, say: Say) -> Movie:
    """The movie with its cells in `cells/`, after what was asked for is written down."""
    if (stored := read_json(place / PLAN_FILE)) is None:
        remove(place / cell_files.CELLS_FOLDER)
        write_whole(place / PLAN_FILE, {"parameters": asked})
    else:
        refuse_others(stored, asked, place)
    return measure_into(movie, place / cell_files.CELLS_FOLDER, pool, tell, say)


def _plan(tracker: Tracker, movie: Movie, place: Path, asked: dict[str, Any], tell: Tell) -> Plan:
    """The plan of the run that is continued, or a new one, which is written first and then read like that of an earlier run.

    The whole fit is in `calibration.json`, which stays: another run may use it.
    """
    path, fitted = place / PLAN_FILE, place / CALIBRATION_FILE
    stored = read_json(path) or {}
    if "gate" not in stored:
        plan = tracker.plan(movie, tell)
        if plan.calibration is not None:
            write_whole(fitted, plan.calibration.to_dict())
        write_whole(path, {"parameters": asked, "gate": plan.gate, "max_distance": plan.max_distance})
        stored = read_json(path) or {}
    widest, gate = (_distance(stored.get(name), path) for name in ("max_distance", "gate"))
    plan = tracker.draft(widest, gate)
    return replace(plan, calibration=load_calibration(fitted)) if fitted.exists() else plan


def _distance(value: Any, path: Path) -> float:
    if not isinstance(value, int | float) or not value > 0:
        raise InputError(f"{path}: holds the distance {value!r:.60}; start anew without --resume")
    return float(value)


def _track(plan: Plan, tracker: Tracker, movie: Movie, place: Path, form: Form, pool: Pool, tell: Tell) -> Run:
    """Compute what is missing and write everything else from it."""
    clear(place)
    about = tracker.about(movie, plan)
    repaired = _repaired(plan, movie, place, tell)
    census = Census(about, form.with_debris)
    writers: list[Writer] = [census, GeffWriter(place / "tracks.geff", about), CsvWriter(place, about)]
    if form.ctc and repaired is None:
        writers.append(CtcWriter(place / "ctc", about, movie))
    tracked = _tracked(plan, movie, place, repaired, pool, tell)
    drain(_finished(one_link_each(_blocks(tracked, census)), form), writers)
    summary = census.summary
    if repaired is not None:
        summary = replace(summary, repairs=repaired.counts)
        if form.ctc:
            _write_ctc(place, about, repaired.movie, form)
    if tracker.links is not None and tracker.links.unmatched:
        (place / "unmatched_links.txt").write_text("\n".join(tracker.links.unmatched) + "\n")
    return Run(place, about, summary, 0.0)


def _repaired(plan: Plan, movie: Movie, place: Path, tell: Tell) -> RepairedRun | None:
    if plan.segments is None:
        return None
    from dunno.runs.repaired_output import RepairedRun

    return RepairedRun(movie, plan.segments, place, tell)


def _finished(blocks: Iterator[Block], form: Form) -> Iterator[Block]:
    """The blocks as they are written, with cells filled in where that was asked for."""
    return iter([filled(Block.joined(list(blocks)))]) if form.fill_gaps else blocks


def _write_ctc(place: Path, about: RunInfo, movie: Movie, form: Form) -> None:
    """Which tracks are debris is known once all are there: the challenge result is written from what is stored."""

    def source() -> Iterator[Block]:
        return _finished(block_files.linked_blocks(place), form)

    kept = source() if form.with_debris else without_debris(source, LeftOut())
    drain(kept, [CtcWriter(place / "ctc", about, movie)])


def _tracked(
    plan: Plan, movie: Movie, place: Path, repaired: RepairedRun | None, pool: Pool, tell: Tell
) -> Iterator[Tracked]:
    """The blocks, one after the other where masks are repaired."""
    if repaired is None:
        return tracked_blocks(plan, movie, place / block_files.PAIRS_FOLDER, pool, tell)
    remove(place / block_files.PAIRS_FOLDER)
    (place / block_files.PAIRS_FOLDER).mkdir()
    return repaired.blocks()


def _blocks(tracked: Iterator[Tracked], census: Census) -> Iterator[Block]:
    for block, broken in tracked:
        census.note_broken(broken)
        yield block


def tracked_blocks(plan: Plan, movie: Movie, folder: Path, pool: Pool, tell: Tell) -> Iterator[Tracked]:
    """Yield every block, in frame order, as soon as it is there; those that have no file yet are computed, in any order.

    A block is written the moment it ends, so that what is lost when a run is killed is what was in flight. Workers on this machine
    write their blocks themselves; those of a cluster, which may see other disks, send them. What threads have tracked is used as it
    is, unless more of it waits for an earlier block than is in flight; everything else is read from its file.
    """
    sizes = [span.n_pairs for span in spans_of(movie, plan.window, plan.block, plan.halo)]
    before = {index for index in range(len(sizes)) if block_files.is_whole(block_files.block_file(folder, index))}
    missing = (each for each in enumerate(spans_of(movie, plan.window, plan.block, plan.halo)) if each[0] not in before)
    done: dict[int, Tracked | None] = dict.fromkeys(before)
    upcoming = 0
    pairs_done = sum(sizes[index] for index in before)
    tell("tracking frames", pairs_done, sum(sizes))

    def ready() -> Iterator[Tracked]:
        nonlocal upcoming
        while upcoming in done:
            yield done.pop(upcoming) or _stored(folder, upcoming)
            upcoming += 1

    yield from ready()
    work = partial(_work, plan, folder if pool.is_here else None, pool.shares_memory)
    for (index, span), outcome in as_finished(work, missing, pool):
        if isinstance(outcome, BaseException):
            raise outcome
        if outcome is not None and not pool.is_here:
            _write(folder, index, outcome)
        waiting = sum(each is not None for each in done.values())
        done[index] = outcome if waiting < pool.room else None
        pairs_done += span.n_pairs
        tell("tracking frames", pairs_done, sum(sizes))
        yield from ready()


def _work(plan: Plan, folder: Path | None, shares_memory: bool, item: tuple[int, Span]) -> Tracked | None:
    """Track a block, write it where a folder is given, and return it, unless that would send elsewhere what is written."""
    index, span = item
    tracked = track_readable_frames(plan, span)
    if folder is None:
        return tracked
    _write(folder, index, tracked)
    return tracked if shares_memory else None


def _stored(folder: Path, index: int) -> Tracked:
    return Tracked(*block_files.read_results(block_files.block_file(folder, index)))


def _write(folder: Path, index: int, tracked: Tracked) -> None:
    block_files.write_block(block_files.block_file(folder, index), tracked.block, tracked.broken)


def pays_in_processes(tracker: Tracker, movie: Movie, workers: int) -> bool:
    """Whether processes would be faster than threads.

    In frames of a few hundred cells, Python's lock is held nearly all the time, so that two threads are as fast as one.
    Processes do not wait for each other, but take about a second each to start, in which a thread does some hundred pairs.
    They pay where there are enough pairs for each, and where what they need is small: the movie's path rather than its pixels,
    no large features or networks.
    """
    enough = PAIRS_FOR_TWO if workers == 2 else PAIRS_FOR_EACH_OF_MORE * workers
    if workers < 2 or movie.path is None or len(movie) - 1 < enough:
        return False
    try:
        needed = pickle.dumps((tracker.draft(1.0, 1.0), movie.part(slice(0, BLOCK + 1))))
    except Exception:  # somebody's own cost may hold anything
        return False
    return len(needed) < MOST_BYTES


def progress_left(folder: str | Path) -> str | None:
    """What a stopped run has left, in words; `None` if nothing."""
    kept = f"kept in {partial_of(Path(folder))}; the same command with --resume continues there"
    if n := finished_blocks(folder):
        return f"{n} finished blocks are {kept}"
    if n := measured_blocks(folder):
        return f"{n} blocks of measured frames are {kept}"
    return None
