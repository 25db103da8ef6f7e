"""Writing a stream of results, whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from dunno.errors import OutputError
from dunno.lineage.tracks import NumberedBlock, TrackNumbers, TrackRow, numbered
from dunno.types import Block

RUN_FILE = "run.json"
REVIEW_FILE = "review.jsonl"
"""A person's work, which nothing replaces."""


class Writer(Protocol):
    """What every format's writer does with the stream."""

    def write(self, numbered: NumberedBlock) -> None:
        """Write a block: its candidate edges, and the cells of which all is known."""
        ...

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Write what is only known at the end."""
        ...

    def close(self) -> None:
        """Let go of files, finished or not."""
        ...


def drain(blocks: Iterable[Block], writers: Sequence[Writer]) -> list[TrackRow]:
    """Send a stream of blocks to the writers, holding two at a time."""
    numbers = TrackNumbers()
    try:
        for block in numbered(blocks, numbers):
            for writer in writers:
                writer.write(block)
        tracks = numbers.table()
        for writer in writers:
            writer.finish(tracks)
        return tracks
    finally:
        for writer in writers:
            writer.close()


@contextmanager
def whole(path: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """Make a file or folder that appears whole or not at all.

    Yields `path.partial`, to be filled; renamed at the end, removed on any error.
    """
    path = Path(path)
    check_output(path, overwrite)
    partial = partial_of(path)
    try:
        remove(partial)
        partial.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        replace_by(partial, path)
    except PermissionError as error:
        raise OutputError(f"{error.filename or path}: no permission to write there") from None
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from None
    finally:
        remove(partial)


def check_output(path: Path, overwrite: bool, *, keeps: bool = False, is_folder: bool = False) -> None:
    """Refuse to replace what is there, or a folder that is not dunno's, or a place where nothing can be written.

    Nor is a review replaced, unless the caller goes on with what is there and `keeps` it; nor a file by what `is_folder`.
    """
    if path.exists() or path.is_symlink():
        if not overwrite:
            raise OutputError(f"{path}: exists already; choose another name, or replace it with --overwrite")
        if is_folder and path.is_file():
            raise OutputError(f"{path}: is a file, and what is written is a folder; choose another name")
        if path.is_dir() and any(path.iterdir()) and not is_output(path):
            raise OutputError(f"{path}: is not an output of dunno, so it will not be overwritten; choose another name")
        reviews = (found for where in ("", "*/") for found in path.glob(where + REVIEW_FILE))
        review = next((found for found in reviews if _has_answers(found)), None)
        if review is not None and not keeps:
            raise OutputError(
                f"{review}: holds a review, which would be lost; move it away first, or choose another name"
            )
    place = next((parent for parent in _target(path).absolute().parents if parent.exists()), None)
    if place is None or not place.is_dir() or not os.access(place, os.W_OK):
        raise OutputError(f"{path}: no permission to write in {place}")


def _has_answers(review: Path) -> bool:
    """Whether anything was decided: the first line of a log only says what it is about."""
    return review.read_bytes().count(b"\n") > 1


def is_output(folder: Path) -> bool:
    """Whether a folder was written by dunno, which then may replace it."""
    return bool(read_marker(folder)) or _is_own_geff(folder)


def read_marker(folder: Path) -> dict[str, Any]:
    """What dunno left in a folder to know it again; empty if it is not dunno's."""
    try:
        content = json.loads((folder / RUN_FILE).read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) and "dunno" in content else {}


def leave_marker(folder: Path, version: str, **about: Any) -> None:
    """Mark a folder as dunno's, so that it may be replaced."""
    (folder / RUN_FILE).write_text(json.dumps({"dunno": version, **about}) + "\n")


def _is_own_geff(folder: Path) -> bool:
    try:
        return "dunno" in json.loads((folder / ".zattrs").read_text())["geff"]["extra"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _target(path: Path) -> Path:
    """Where a link leads, and what is no link itself: results go there, and the link stays."""
    try:
        return path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError):
        raise OutputError(f"{path}: is a link that leads nowhere; choose another name, or remove it") from None


def partial_of(path: Path) -> Path:
    """Where work on an output is in progress: beside it, on the same disk."""
    target = _target(path)
    return target.with_name(target.name + ".partial")


def replace_by(partial: Path, path: Path) -> None:
    """Put what is finished in its place."""
    path = _target(path)
    if path.is_dir():
        old = path.with_name(path.name + ".old")
        remove(old)
        path.rename(old)
        partial.rename(path)
        remove(old)
    else:
        partial.replace(path)


def remove(path: Path) -> None:
    """Remove a file or folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
