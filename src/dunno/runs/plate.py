"""Many movies at once, such as the wells of a plate: an output each, one table, and what failed at the end."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from dunno.errors import DunnoError, InputError, OutputError, too_little
from dunno.io.images import natural_key
from dunno.io.plates import plate_fields
from dunno.io.writing import check_output, leave_marker, partial_of, read_marker
from dunno.runs.run import Run
from dunno.work.progress import Tell
from dunno.work.schedule import Pool, as_finished

SUMMARY_FILE = "summary.csv"
PLATE_COLUMNS = (
    *("name", "movie", "state", "frames", "cells", "links", "tracks", "divisions", "appearing", "disappearing"),
    *("mean_confidence", "expected_wrong_links", "probabilities", "broken_frames", "problem"),
)


@dataclass(frozen=True)
class MovieOutcome:
    """How one movie ended."""

    name: str  # Its folder in the output
    movie: Path  # Where it is
    run: Run | None  # What was found; `None` where nothing could be
    problem: str = ""  # Why it failed, or which of its frames are broken; empty if all is well
    bug: bool = False  # Whether the failure is nobody's input

    def row(self) -> dict[str, object]:
        """Its line in the table."""
        if self.run is None:
            return {"name": self.name, "movie": str(self.movie), "state": "failed", "problem": self.problem}
        found = self.run.summary
        numbers = {name: value for name, value in vars(found).items() if name in PLATE_COLUMNS}
        confidence = "" if found.mean_confidence is None else f"{found.mean_confidence:.9g}"
        return numbers | {
            "name": self.name,
            "movie": str(self.movie),
            "state": "done",
            "mean_confidence": confidence,
            "expected_wrong_links": f"{found.expected_wrong_links:.9g}",
            "probabilities": self.run.about.verdict,
            "broken_frames": len(found.broken),
            "problem": self.problem,
        }


def is_many(movies: Sequence[Path]) -> bool:
    """Whether several movies are asked for: more than one argument, a pattern, or an OME-Zarr plate."""
    return len(movies) > 1 or _is_pattern(movies[0]) or bool(plate_fields(movies[0]))


def _is_pattern(movie: Path) -> bool:
    return has_magic(str(movie)) and not movie.exists()


def find_movies(asked: Sequence[Path]) -> dict[str, Path]:
    """Expand patterns and plates; name a movie by what tells it from the others: `plate/*/masks` by what the star stands for."""
    found: list[Path] = []
    for each in asked:
        matches = [Path(match) for match in glob(str(each), recursive=True)] if _is_pattern(each) else [each]
        if not matches:
            raise InputError(f"{each}: matches nothing; put the pattern in quotes, such as 'plate/*/masks'")
        ordered = sorted(matches, key=lambda path: [natural_key(Path(part)) for part in path.parts])
        found += [field for path in ordered for field in plate_fields(path) or [path]]
    names = _names([*found, *asked])[: len(found)]
    double = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if double is not None:
        raise InputError(f"two movies would both be called {double}; give each once, or track them apart")
    return dict(zip(names, found, strict=True))


def _names(paths: Sequence[Path]) -> list[str]:
    """What is left of each path without the parts that all have in common at both ends, joined."""
    parts = [path.parts for path in paths]
    if len(set(parts)) == 1:
        return [path.stem for path in paths]
    shortest = min(map(len, parts))
    begin = next((i for i in range(shortest) if len({each[i] for each in parts}) > 1), shortest)
    end = next((i for i in range(shortest - begin) if len({each[-1 - i] for each in parts}) > 1), shortest - begin)
    kept = [each[begin : len(each) - end] or each[-1:] for each in parts]
    return ["_".join([*each[:-1], Path(each[-1]).stem]) for each in kept]


def open_folder(folder: Path, version: str, overwrite: bool, resume: bool) -> None:
    """Make the folder that holds all outputs, or take an earlier one where told to."""
    marker = read_marker(folder)
    if "summary" in marker or partial_of(folder).exists():
        raise OutputError(f"{folder}: is the output of one movie; choose another name for many")
    check_output(folder, overwrite or (resume and (not folder.exists() or "movies" in marker)), keeps=not overwrite)
    folder.mkdir(parents=True, exist_ok=True)
    leave_marker(folder, version, movies="many")


def track_movies(
    work: Callable[[Path, Path], Run],
    movies: Mapping[str, Path],
    folder: Path,
    pool: Pool,
    tell: Tell,
) -> Iterator[MovieOutcome]:
    """Yield how each movie ended, as they end; one that fails does not stop the others.

    `work` tracks the movie at a path into a folder; it must pickle where the pool runs processes or a cluster.
    """
    jobs = [(work, movie, folder / name) for name, movie in movies.items()]
    tell("tracking movies", 0, len(jobs))
    for done, (job, outcome) in enumerate(as_finished(_track_one, jobs, pool), 1):
        tell("tracking movies", done, len(jobs))
        yield _ended(job[2].name, job[1], outcome)


def _track_one(job: tuple[Callable[[Path, Path], Run], Path, Path]) -> Run:
    work, movie, folder = job
    return work(movie, folder)


def _ended(name: str, movie: Path, outcome: Run | BaseException) -> MovieOutcome:
    if isinstance(outcome, Run):
        return MovieOutcome(name, movie, outcome, "; ".join(each.problem for each in outcome.summary.broken))
    if isinstance(outcome, DunnoError):
        return MovieOutcome(name, movie, None, str(outcome))
    if isinstance(outcome, MemoryError):
        return MovieOutcome(name, movie, None, too_little(outcome))
    return MovieOutcome(name, movie, None, f"{type(outcome).__name__}: {outcome} (a bug in dunno)", bug=True)


def write_table(folder: Path, outcomes: Sequence[MovieOutcome]) -> None:
    """Write `summary.csv`, a line per movie."""
    half = folder / f"{SUMMARY_FILE}.half"
    with half.open("w", newline="") as file:
        table = csv.DictWriter(file, PLATE_COLUMNS, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(outcome.row() for outcome in outcomes)
    half.replace(folder / SUMMARY_FILE)
