"""Frame numbers in the names of files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dunno.types import Ints
from dunno.types.movie import MOST_FRAMES_OF_A_MOVIE

NUMBERS_LISTED = 6


def number_files(files: Sequence[Path]) -> Ints | None:
    """(T,) the number that tells the files apart, ascending; `None` where no single one does.

    Example:
        >>> number_files([Path("cells2_t006_mask.tif"), Path("cells2_t009_mask.tif")])
        array([6, 9])
        >>> number_files([Path("a.tif"), Path("b.tif")]) is None
        True
    """
    parts = [re.split(r"(\d+)", file.stem) for file in files]
    if len({tuple(each[::2]) for each in parts}) != 1:
        return None
    columns = list(zip(*(each[1::2] for each in parts), strict=True))
    telling = [column for column in columns if len(set(column)) > 1] or columns[-1:]
    if len(telling) != 1 or max(map(len, telling[0])) > len(str(MOST_FRAMES_OF_A_MOVIE)):
        return None
    numbers = np.array([int(digits) for digits in telling[0]], np.int64)
    return numbers if (np.diff(numbers) > 0).all() else None


def say_missing(frames: Ints | None) -> list[str]:
    """In one line which frames are missing, where the numbers do not go up evenly."""
    if frames is None or len(frames) < 3 or len(set(np.diff(frames).tolist())) == 1:
        return []
    step = int(np.gcd.reduce(np.diff(frames)))
    missing = np.setdiff1d(np.arange(frames[0], frames[-1], step), frames)
    named = ", ".join(map(str, missing[:NUMBERS_LISTED].tolist())) + (" …" if len(missing) > NUMBERS_LISTED else "")
    plural = "s" if len(missing) > 1 else ""
    return [
        f"frame{plural} {named} {'are' if plural else 'is'} missing; frames keep the numbers of their files, and cells are "
        "linked across the gap to the next frame that is there"
    ]
