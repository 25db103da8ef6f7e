"""TIFF stacks."""

from __future__ import annotations

import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.io.images import TIFF, one_line
from dunno.io.readers import Options
from dunno.types import Frames, Movie


class TiffReader:
    """A multi-page TIFF, one label image or volume per frame."""

    name = "tiff"
    form = "a TIFF stack (.tif, .tiff)"
    order = 40

    def accepts(self, path: Path) -> bool:
        """Whether it is a file with a TIFF's name."""
        return path.suffix.lower() in TIFF and path.is_file()

    def read(self, path: Path, options: Options) -> Movie:
        """Read (T, Y, X) or (T, Z, Y, X) labels."""
        return options.movie(self.frames(path), name=path.stem, mask_source=str(path))

    def frames(self, path: Path) -> Frames:
        """The stack's frames."""
        return TiffStack(path)


class TiffStack:
    """Frames in one multi-page TIFF. The file is opened when first used, and again after unpickling."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file: Any = None
        try:
            shape, axes = tuple(int(size) for size in self._series().shape), str(self._series().axes)
        except (TypeError, ValueError) as error:
            raise self._broken(error) from None
        # The leading axis is time whatever the writer called it: few frames are often saved as channels or slices.
        if "C" in axes[1:] or "S" in axes[1:]:
            raise MovieError(f"{path}: has colour channels (axes {axes}, shape {shape}); expected one channel")
        if len(shape) not in (3, 4):
            raise MovieError(f"{path}: an image of shape {shape}; expected a stack (T, Y, X) or (T, Z, Y, X)")
        self.shape: tuple[int, ...] = shape

    def _series(self) -> Any:
        import tifffile

        if self._file is None:
            try:
                self._file = tifffile.TiffFile(self.path)
                self._file.filehandle.set_lock(True)
                weakref.finalize(self, self._file.close)
            except Exception as error:
                raise self._broken(error) from None
        try:
            return self._file.series[0]
        except Exception as error:  # tags that contradict each other, or none
            raise self._broken(error) from None

    def _broken(self, error: Exception) -> MovieError:
        return MovieError(f"{self.path}: cannot be read ({one_line(error)}); is it a complete TIFF?")

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, t: int) -> NDArray[Any]:
        with self._lock:
            series = self._series()
        per_frame = int(np.prod(self.shape[1:-2]))
        t = range(len(self))[t]
        try:
            pages = [series.pages[t * per_frame + z] for z in range(per_frame)] if len(series.pages) > 1 else None
            frame = self._whole(series)[t] if pages is None else np.stack([page.asarray() for page in pages])
            return np.asarray(frame).reshape(self.shape[1:])
        except Exception as error:
            raise MovieError(f"{self.path}: frame {t} cannot be read ({one_line(error)}); is it complete?") from None

    def _whole(self, series: Any) -> NDArray[Any]:
        # Stacks that ImageJ writes above 4 GB, or tifffile in one piece, have one page: map it instead of reading it.
        import tifffile

        return np.asarray(tifffile.memmap(self.path, mode="r") if series.dataoffset is not None else series.asarray())

    def where(self, t: int) -> str:
        """Frame t, with the file."""
        return f"{self.path}, frame {t}"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_file": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())
