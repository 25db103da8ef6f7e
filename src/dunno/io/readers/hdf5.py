"""HDF5, as ilastik exports it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dunno.errors import MissingExtra, MovieError
from dunno.io.array_frames import ArrayFrames
from dunno.io.hdf5_heaps import heaps_lead_on
from dunno.io.images import one_line
from dunno.io.readers import ReadingOptions
from dunno.types import Frames, Movie

HDF5_SUFFIXES = (".h5", ".hdf5", ".hdf", ".ilp")
USUAL_DATASET = "exported_data"


class Hdf5Reader:
    """An HDF5 file as ilastik exports it, `file.h5` or `file.h5/exported_data`; needs the extra `h5py`."""

    name = "hdf5"
    form = "an HDF5 file of ilastik (.h5)"
    example = "dunno track segmentation.h5/exported_data -o OUT"
    order = 50

    def accepts(self, path: Path) -> bool:
        """Whether it is a file called HDF5, or something inside of one."""
        return _split(path) is not None

    def read(self, path: Path, options: ReadingOptions) -> Movie:
        """Read a dataset, whose axes are those that ilastik noted."""
        return options.movie(self.frames(path, options), name=_file(path).stem, mask_source=str(path))

    def frames(self, path: Path, options: ReadingOptions) -> Frames:
        """The dataset's frames."""
        return Hdf5Frames(path, options, _own_axes(path), named=True)


class Hdf5Frames(ArrayFrames):
    """Frames of a dataset in an HDF5 file."""

    def open_array(self) -> Any:
        """The dataset; its file stays open as long as it is used."""
        return _dataset(self.path)


def _split(path: Path) -> tuple[Path, str] | None:
    """The file, and the name of the dataset in it; `None` where there is no such file."""
    for file in (path, *path.parents):
        if file.suffix.lower() in HDF5_SUFFIXES and file.is_file():
            return file, str(path)[len(str(file)) :].strip("/\\")
    return None


def _file(path: Path) -> Path:
    found = _split(path)
    return path if found is None else found[0]


def _dataset(path: Path) -> Any:
    try:
        import h5py
    except ImportError:
        raise MissingExtra(f"{path}: reading HDF5 needs h5py; pip install 'dunno[h5py]'") from None
    file, name = _split(path) or (path, "")
    try:
        with file.open("rb") as beginning:
            beginning.read(8)  # what may not be opened is said by Python more clearly than by HDF5
        content = h5py.File(file, "r")
        names: list[str] = []
        content.visititems(lambda key, each: names.append(key) if isinstance(each, h5py.Dataset) else None)
    except Exception as error:
        raise MovieError(f"{file}: cannot be opened as HDF5 ({one_line(error)}); is it complete?") from None
    chosen = name or (USUAL_DATASET if USUAL_DATASET in names else names[0] if len(names) == 1 else "")
    if chosen not in names:
        what = f"no dataset {chosen}" if chosen else "several datasets"
        raise MovieError(
            f"{file}: holds {what}, but {', '.join(names[:8]) or 'nothing'}; say which one holds the masks: "
            f"{file}/{names[0] if names else 'NAME'}"
        )
    return content[chosen]


def _own_axes(path: Path) -> str:
    """The letters that ilastik noted (`axistags`), or none."""
    try:
        dataset = _dataset(path)
        if dataset.file.id.get_create_plist().get_sizes() != (8, 8) or not heaps_lead_on(_file(path)):
            return ""
        tags = json.loads(dataset.attrs.get("axistags", "{}"))
        return "".join(str(axis["key"])[0] for axis in tags["axes"])
    except (KeyError, TypeError, ValueError, IndexError, OSError, RuntimeError):  # damaged notes are none
        return ""
