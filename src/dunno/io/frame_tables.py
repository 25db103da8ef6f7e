"""Tables about frames: when each was taken, and by how much it is shifted, as programs write them that register a movie."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dunno.errors import DunnoWarning, InputError
from dunno.types import Floats, Movie
from dunno.types.cells import AXES
from dunno.types.neighbours import distance_to_nearest

SHIFTS_FORM = "expected columns frame (optional), [dz,] dy, dx: the pixels that put each frame on the first one"
TIMES_FORM = "expected a line for each frame: minutes, or the frame's number and minutes"
SHIFT_NAMES = ("d{}", "{}", "shift_{}", "{}_shift", "shift{}", "delta_{}", "offset_{}", "{}_offset")
FRAME_NAMES = ("frame", "t", "time", "timepoint")

NEARER = 0.7  # ratio; judged: half way of noise
"""Cells that are closer to each other by this factor with the opposite signs speak against the table."""


def with_shifts(movie: Movie, given: str | Path | Sequence[Sequence[float]]) -> Movie:
    """View a movie with the shifts of its frames; where the cells say that the signs are the other way round, so is said."""
    shifts = read_shifts(given, movie) if isinstance(given, str | Path) else np.asarray(given, np.float64)
    view = movie.with_shifts(shifts)
    _warn_if_opposite(view)
    return view


def read_shifts(path: str | Path, movie: Movie) -> Floats:
    """(T, d) what a table says of the movie's frames; without a column of frames, its rows are the frames."""
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [[field.strip() for field in row] for row in csv.reader(file) if any(map(str.strip, row))]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as a table ({error}); {SHIFTS_FORM}") from None
    header = [] if not rows or _are_numbers(rows[0]) else [name.lower() for name in rows.pop(0)]
    if not rows:
        raise InputError(f"{path}: it is empty; {SHIFTS_FORM}")
    columns = _columns(header, AXES[movie.n_dimensions], len(rows[0]), path)
    bad = next((row for row in rows if len(row) <= max(columns) or not _are_numbers([row[k] for k in columns])), None)
    if bad is not None:
        raise InputError(f"{path}: {bad!r:.60} came; {SHIFTS_FORM}")
    table = np.array([[float(row[k]) for k in columns] for row in rows])
    if len(columns) == movie.n_dimensions:
        return table
    known = dict(zip(table[:, 0].tolist(), table[:, 1:], strict=True))
    missing = [frame for frame in movie.frames.tolist() if frame not in known]
    if missing:
        raise InputError(f"{path}: says nothing of frame {missing[0]}; expected a row for each of {len(movie)} frames")
    return np.stack([known[frame] for frame in movie.frames.tolist()])


def _columns(header: list[str], axes: tuple[str, ...], width: int, path: Path) -> list[int]:
    """Where in a row the frame is, if it is, and the shift along each axis."""
    if not header:
        if width not in (len(axes), len(axes) + 1):
            raise InputError(f"{path}: has {width} columns and no names; {SHIFTS_FORM}")
        return list(range(width))
    called = [[name.format(axis) for name in SHIFT_NAMES] for axis in axes]
    found = [next((k for k, name in enumerate(header) if name in names), None) for names in called]
    if None in found:
        raise InputError(f"{path}: has the columns {', '.join(header)[:200]}; {SHIFTS_FORM}")
    frame = [k for k, name in enumerate(header) if name in FRAME_NAMES][:1]
    return [*frame, *(k for k in found if k is not None)]


def _are_numbers(row: Sequence[str]) -> bool:
    try:
        return bool(np.isfinite([float(field) for field in row]).all())
    except ValueError:
        return False


def _warn_if_opposite(movie: Movie) -> None:
    """Look at the two frames between which the table shifts the most."""
    assert movie.shifts is not None
    steps = np.diff(movie.shifts, axis=0) * np.asarray(movie.scale)
    if not steps.any():
        return
    t = int(np.linalg.norm(steps, axis=1).argmax())
    before, after = movie.detections(t).centroid, movie.detections(t + 1).centroid
    if len(before) == 0 or len(after) == 0:
        return
    told, opposite = (float(np.median(distance_to_nearest(after + way * steps[t], before))) for way in (1, -1))
    if opposite < NEARER * told:
        warnings.warn(
            f"the shifts: between frames {movie.frames[t]} and {movie.frames[t + 1]}, cells lie {opposite:.3g} from the next one "
            f"with the signs exchanged, and {told:.3g} as they are; expected the shift that puts a frame on the first one",
            DunnoWarning,
            stacklevel=4,
        )


def read_times(path: str | Path) -> Floats:
    """(T,) minutes: a line for each frame, with the minutes alone or last, after the frame's number; a header is passed over."""
    path = Path(path)
    try:
        text = path.read_text()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {TIMES_FORM}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not a text file; {TIMES_FORM}") from None
    lines = [line for line in text.splitlines() if line.strip()]
    separator = next((mark for mark in (",", ";", "\t") if lines and mark in lines[0]), None)
    rows = list(csv.reader(lines, delimiter=separator)) if separator else [line.split() for line in lines]
    if rows and not _are_numbers(rows[0]):
        rows = rows[1:]
    bad = next((k for k, row in enumerate(rows) if not _are_numbers(row) or not 1 <= len(row) <= 2), None)
    if not rows or bad is not None:
        came = "it is empty" if not rows else f"{' '.join(rows[bad or 0])!r:.60} came"
        raise InputError(f"{path}: {came}; {TIMES_FORM}")
    return np.array([float(row[-1]) for row in rows])
