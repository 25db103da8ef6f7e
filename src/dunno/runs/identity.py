"""What a run was asked for, so that only the same run is ever continued."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dunno.tracking.tracker import Tracker
from dunno.types import Movie

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
