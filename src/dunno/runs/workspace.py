"""Work in progress: `OUT.partial`, which a run that was stopped leaves behind and another one continues.

While a run works, `OUT.partial` holds `plan.json` (what was asked for, and what was decided before the first pair), `cells/`,
one file per block of measured frames, and `pairs/`, one file per finished block of pairs. Exports are made from these. At the end
`run.json` is written, `plan.json` goes, and the folder becomes `OUT`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import InputError, OutputError
from dunno.io import block_files, cell_files
from dunno.io.writing import RUN_FILE, check_output, partial_of, remove, replace_by
from dunno.tracking.tracker import Tracker
from dunno.types import Movie
from dunno.work.lock import Lock

PLAN_FILE, CALIBRATION_FILE = "plan.json", "calibration.json"
OLD = ".old"


@contextmanager
def workspace(path: str | Path, overwrite: bool = False, resume: bool = False) -> Iterator[Path]:
    """Make an output folder that appears whole or not at all, without losing what is finished on the way.

    Yields `path.partial`, an existing folder; renamed to `path` at the end. Where something stops the work, the folder stays if it
    has finished blocks or measured frames, and is removed if not. Unfinished work of an earlier run is continued with `resume`;
    without, its finished blocks are kept as `path.partial.old` until the new run is complete.
    """
    path = Path(path)
    check_output(path, overwrite, is_folder=True)
    partial = partial_of(path)
    aside = partial.with_name(partial.name + OLD)
    lock = None
    try:
        partial.parent.mkdir(parents=True, exist_ok=True)
        lock = _alone(path)
        if not resume and finished_blocks(path):
            remove(aside)
            partial.rename(aside)
        if not resume:
            remove(partial)
        partial.mkdir(parents=True, exist_ok=True)
        yield partial
        (partial / PLAN_FILE).unlink(missing_ok=True)
        replace_by(partial, path)
        remove(aside)
    except OSError as error:
        raise _output_error(error, path) from None
    finally:
        if lock is not None:
            if partial.exists() and not finished_blocks(path) and not measured_blocks(path):
                remove(partial)
            lock.release(remove=True)


def _alone(path: Path) -> Lock:
    """Keep a second run from writing into the same folder."""
    refused = f"{path}: is being written already, by {{holder}}; wait for it, or choose another output"
    return Lock(partial_of(path).with_name(f"{partial_of(path).name}.lock"), "dunno track", refused, needed=False)


def _output_error(error: OSError, path: Path) -> OutputError:
    """What the system said, in one line."""
    if isinstance(error, PermissionError):
        return OutputError(f"{error.filename or path}: no permission to write there")
    return OutputError(f"{path}: cannot be written ({error.strerror or error})")


def finished_blocks(path: str | Path) -> int:
    """How many blocks of pairs an unfinished run has left beside its output `path`."""
    return _left(Path(path), block_files.PAIRS_FOLDER)


def measured_blocks(path: str | Path) -> int:
    """How many blocks of measured frames it has left."""
    return _left(Path(path), cell_files.CELLS_FOLDER)


def _left(path: Path, folder: str) -> int:
    partial = partial_of(path)
    if not (partial / PLAN_FILE).is_file() and not (partial / RUN_FILE).is_file():
        return 0
    return sum(1 for _ in (partial / folder).glob("*.npz"))


@contextmanager
def no_cells_if_refused(partial: Path) -> Iterator[None]:
    """Drop measured frames where the movie or a choice is refused before any pair is finished: the next run is another one."""
    try:
        yield
    except InputError as error:
        finished = any((partial / block_files.PAIRS_FOLDER).glob("*.npz"))
        if not isinstance(error, OutputError) and not finished:
            remove(partial / cell_files.CELLS_FOLDER)
        raise


def clear(partial: Path) -> None:
    """Remove everything but the plan, measured frames and finished blocks: exports are made anew from them."""
    kept = (block_files.PAIRS_FOLDER, cell_files.CELLS_FOLDER)
    for child in partial.iterdir():
        if child.name not in (PLAN_FILE, CALIBRATION_FILE, *kept):
            remove(child)
    for folder in kept:
        (partial / folder).mkdir(exist_ok=True)
        for child in (partial / folder).iterdir():
            if child.suffix != ".npz":
                remove(child)


def write_whole(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON that is there to its end or not at all."""
    half = path.with_name(path.name + ".half")
    with half.open("w") as file:
        file.write(json.dumps(content, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)


def read_json(path: Path) -> dict[str, Any] | None:
    """Read what `write_whole` wrote; `None` where nothing is."""
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error}); start anew without --resume") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: holds {_short(content)}; expected names with values; start anew without --resume")
    return content


def refuse_others(stored: Mapping[str, Any], asked: Mapping[str, Any], where: Path) -> None:
    """Refuse to continue what was begun with other choices, another movie or another version, and say which."""
    parts = [stored.get(name, {}) for name in ("parameters", "made_from")]
    if not all(isinstance(part, dict) for part in parts):
        raise InputError(f"{where}: what it was begun with cannot be read; start anew without --resume")
    stored = {**parts[0], **parts[1]}
    asked = json.loads(json.dumps(asked))  # tuples and such become what was stored
    for name in asked:
        if stored.get(name) != asked[name]:
            was, now = (_short(each.get(name)) for each in (stored, asked))
            raise InputError(
                f"{where}: was begun with {name} {was}, not {now}; repeat the command that began it, "
                "or start anew without --resume"
            )


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


DECIDED_LATER = ("calibration", "calibrated", "verdict", "reason", "verdicts")


def identity(
    tracker: Tracker, movie: Movie, ctc: bool, fill_gaps: bool = False, with_debris: bool = False
) -> dict[str, Any]:
    """Everything that a result depends on and that is known before anything is fitted, by names that a person understands.

    What may be large (features, links, a calibration) is there as a digest; the masks' own digests are with their cells.
    """
    asked = {name: value for name, value in tracker.asked(movie).to_dict().items() if name not in DECIDED_LATER}
    if asked["max_distance_estimated"]:
        del asked["max_distance"]
    calibration = tracker.calibration if isinstance(tracker.calibration, str | None) else digest(tracker.calibration)
    return asked | {
        "shape": list(movie.shape),
        "content of the cost": digest(tracker.cost.given),
        "content of the perturbation": digest(tracker.perturbation),
        "content of the links": digest(tracker.links),
        "calibration asked for": calibration,
        "CTC result": ctc,
        "filled gaps": fill_gaps,
        "debris counted": with_debris,
    }


def digest(thing: Any) -> str:
    """A short name for the content of arrays, numbers, text, and dataclasses, objects and mappings of them.

    Example:
        >>> digest({"a": np.arange(3), "b": 1.0}) == digest({"b": 1.0, "a": np.arange(3)})
        True
        >>> digest(1) == digest(2)
        False
    """
    state = hashlib.sha256()
    _add(state, thing)
    return state.hexdigest()[:16]


def _add(state: Any, thing: Any) -> None:
    kind: Any = type(thing)
    state.update(kind.__name__.encode())
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        state.update(str((thing.shape, thing.dtype.str)).encode())
        state.update(np.ascontiguousarray(thing).tobytes())
    elif isinstance(thing, str | bytes | int | float | complex | bool | np.generic | Path | None):
        state.update(repr(thing).encode())
    elif isinstance(thing, list | tuple):
        for each in thing:
            _add(state, each)
    elif isinstance(thing, Mapping):
        for name in sorted(thing, key=repr):
            _add(state, name)
            _add(state, thing[name])
    elif is_dataclass(thing) and not isinstance(thing, type):
        _add(state, {field.name: getattr(thing, field.name) for field in fields(thing)})
    elif isinstance(thing, type):
        return
    elif kind.__reduce__ is not object.__reduce__:  # files by their paths, not by what is open
        _add(state, thing.__reduce__()[1])
    elif kind.__getstate__ is not object.__getstate__:
        _add(state, thing.__getstate__())
    elif hasattr(thing, "__dict__"):
        _add(state, {name: value for name, value in vars(thing).items() if not callable(value)})
