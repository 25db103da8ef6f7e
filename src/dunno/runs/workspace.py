"""Work in progress: `OUT.partial`, which a run that was stopped leaves behind and another one continues.

While a run works, `OUT.partial` holds `plan.json` (what was asked for, and what was decided before the first pair), `cells/`,
one file per block of measured frames, and `pairs/`, one file per finished block of pairs. Exports are made from these. At the end
`run.json` is written, `plan.json` goes, and the folder becomes `OUT`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dunno.errors import InputError, OutputError
from dunno.io import block_files, cell_files
from dunno.io.writing import RUN_FILE, check_output, partial_of, remove, replace_by
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
