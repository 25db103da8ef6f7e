"""Measured cells on disk, a block of frames per file.

`dunno track` leaves them in `OUT/cells/`: the gate, the fit and the linking read them instead of pixels, and so do the report, the
review, exports and a resumed run, which notice by each frame's digest when the masks have changed.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import InputError
from dunno.io.array_files import open_arrays, write_arrays
from dunno.io.block_files import block_file
from dunno.io.schema import CELL_FILES
from dunno.types import BrokenFrame, Cells, CellSource, Detections, KeptCells

CELLS_FOLDER = "cells"
FRAMES_PER_FILE = 16
KEPT_FILES, KEPT_CELLS = 4, 200_000
"""How much a reader keeps in memory: files, and cells in them if there are more than two."""

STORED_COLUMNS = tuple(field.name for field in fields(Cells) if field.name not in ("time", "filled_from"))


def write_cells(path: Path, frames: Sequence[Detections], broken: Sequence[BrokenFrame] = ()) -> None:
    """Write consecutive frames, and which of them could not be read, whole or not at all."""
    cells = Cells.of(frames)
    arrays: dict[str, Any] = {name: getattr(cells, name) for name in STORED_COLUMNS if getattr(cells, name) is not None}
    if broken:
        arrays["broken"] = np.array([json.dumps(asdict(each)) for each in broken])
    write_arrays(path, CELL_FILES, arrays)


def read_cells(path: Path) -> tuple[Cells, dict[int, str]]:
    """Read the frames of one file, and why some of them, by original index, could not be read."""
    with open_arrays(path, CELL_FILES) as arrays:
        columns = {name: arrays[name] for name in STORED_COLUMNS if name in arrays}
        broken = [json.loads(each) for each in arrays["broken"].tolist()] if "broken" in arrays else []
        return Cells(**columns), {each["frame"]: each["problem"] for each in broken}


class StoredCells:
    """Reads an output's cells by the frame's position in the movie; the files that were read last are kept.

    It pickles as its path where workers see the same disk, and with the cells that they need where not. Several threads may use it.
    """

    def __init__(self, folder: str | Path, shared: bool = True) -> None:
        self.folder = Path(folder)
        self.shared = shared
        self._lock = threading.Lock()
        self._read: OrderedDict[int, KeptCells] = OrderedDict()
        self._n_cells: dict[int, int] = {}  # of the files that are kept

    def __getitem__(self, t: int) -> Detections:
        return self._around(t)[t]

    def digest(self, t: int) -> int | None:
        """By which frame t's masks are known again; `None` where they could not be read."""
        return self._around(t).digest(t)

    def only(self, frames: Sequence[int]) -> CellSource:
        """Itself, or the cells of some frames for a worker that does not see the folder."""
        return self if self.shared else KeptCells.joined([self._around(t).only([t]) for t in frames])

    def _around(self, t: int) -> KeptCells:
        """The frames of frame t's file."""
        index = t // FRAMES_PER_FILE
        with self._lock:
            kept = self._read.pop(index, None) or self._load(index)
            self._read[index] = kept
            while len(self._read) > 2 and (len(self._read) > KEPT_FILES or sum(self._n_cells.values()) > KEPT_CELLS):
                del self._n_cells[self._read.popitem(last=False)[0]]
            return kept

    def _load(self, index: int) -> KeptCells:
        cells, broken = read_cells(block_file(self.folder, index))
        self._n_cells[index] = len(cells)
        places = {int(frame): FRAMES_PER_FILE * index + t for t, frame in enumerate(cells.frames)}
        return KeptCells(
            {place: cells.at(t) for t, place in enumerate(places.values())},
            {places[frame]: problem for frame, problem in broken.items()},
        )

    def __reduce__(self) -> tuple[type[StoredCells], tuple[Path, bool]]:
        return StoredCells, (self.folder, self.shared)


def is_whole(path: Path) -> bool:
    """Whether a file is there and can be read; the frames of one that is damaged are measured again."""
    try:
        return path.is_file() and len(read_cells(path)[0].frames) > 0
    except InputError:
        return False


def has_cells(folder: str | Path, n_frames: int) -> bool:
    """Whether an output has the cells of all its frames; older ones have none."""
    n_files = -(-n_frames // FRAMES_PER_FILE)
    return all(block_file(Path(folder) / CELLS_FOLDER, index).is_file() for index in range(n_files))


def copy_cells(folder: Path, other: Path) -> None:
    """Give another output the same cells, where there are any."""
    if (folder / CELLS_FOLDER).is_dir():
        shutil.copytree(folder / CELLS_FOLDER, other / CELLS_FOLDER)
