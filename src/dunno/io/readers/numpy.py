"""NumPy's files: one array of labels."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import MovieError
from dunno.io.array_frames import ArrayFrames
from dunno.io.images import one_line
from dunno.io.pairing import is_masks
from dunno.io.readers import ReadingOptions
from dunno.io.size_claims import check_claim
from dunno.types import Frames, Movie


class NumpyReader:
    """A NumPy array (T, [Z,] Y, X) of labels in a `.npy`, or in a `.npz` that holds one, or one called masks."""

    name = "numpy"
    form = "a NumPy array (.npy, .npz)"
    example = "dunno track masks.npy -o OUT --images raw.npy"
    order = 60

    def accepts(self, path: Path) -> bool:
        """Whether it is a file with NumPy's name, and not Cellpose's."""
        return path.suffix.lower() in (".npy", ".npz") and not path.name.endswith("_seg.npy") and path.is_file()

    def read(self, path: Path, options: ReadingOptions) -> Movie:
        """Read the array; a `.npy` is mapped, not loaded."""
        return options.movie(self.frames(path, options), name=path.stem, mask_source=str(path))

    def frames(self, path: Path, options: ReadingOptions) -> Frames:
        """The array's frames."""
        return NumpyFrames(path, options)


class NumpyFrames(ArrayFrames):
    """Frames of an array in a NumPy file."""

    def open_array(self) -> Any:
        """The array; pickled objects are refused, because loading them would run code."""
        if self.path.suffix.lower() == ".npy":
            return np.load(self.path, mmap_mode="r", allow_pickle=False)
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                name = self._name(list(arrays.files))
                members = arrays.zip.infolist()
                check_claim(
                    (sum(each.file_size for each in members if each.filename.removesuffix(".npy") == name),),
                    1,
                    "an array",
                )
                return arrays[name]
        except zipfile.BadZipFile as error:
            raise MovieError(f"{self.path}: cannot be read ({one_line(error)}); is it complete?") from None

    def _name(self, names: list[str]) -> str:
        chosen = names if len(names) == 1 else [name for name in names if is_masks(Path(name))]
        if len(chosen) != 1:
            raise MovieError(
                f"{self.path}: holds the arrays {', '.join(names) or '(none)'}; expected one, or one called masks"
            )
        return chosen[0]
