"""TIFF stacks."""

from __future__ import annotations

import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.io.axes import lay_out, planes_of
from dunno.io.images import TIFF, one_line
from dunno.io.readers import ReadingOptions
from dunno.io.size_claims import check_claim, check_page
from dunno.io.spacing import read_spacing
from dunno.io.tiff_chain import open_tiff, read_page, read_series
from dunno.types import Frames, Movie


class TiffReader:
    """A multi-page TIFF, ImageJ hyperstack or OME-TIFF: one label image or volume per frame."""

    name = "tiff"
    form = "a TIFF stack (.tif, .tiff)"
    example = "dunno track masks.tif -o OUT --axes TZYX"
    order = 40

    def accepts(self, path: Path) -> bool:
        """Whether it is a file with a TIFF's name."""
        return path.suffix.lower() in TIFF and path.is_file()

    def read(self, path: Path, options: ReadingOptions) -> Movie:
        """Read (T, Y, X) or (T, Z, Y, X) labels, one channel of several, and the size of a pixel where the file says it."""
        frames = TiffStack(path, options)
        return options.movie(frames, name=path.stem, mask_source=str(path), spacing=read_spacing(path))

    def frames(self, path: Path, options: ReadingOptions) -> Frames:
        """The stack's frames."""
        return TiffStack(path, options)


class TiffStack:
    """Frames in one multi-page TIFF.

    Each thread opens the file when it first uses it: a `TiffFile` moves its place in the file while it looks for a page, so that
    two threads with one of them read each other's pixels.
    """

    def __init__(self, path: Path, options: ReadingOptions) -> None:
        self.path = path
        self._own = threading.local()
        try:
            series = self._series()
            check_page(series.pages[0])
            shape, axes = tuple(int(size) for size in series.shape), str(series.axes)
            self.layout = lay_out(shape, axes, options, str(path))
            self.frame_shape = self.layout.frame_shape
            check_claim(self.frame_shape, series.dtype.itemsize)
        except MovieError:
            raise
        except Exception as error:  # tags of any kind
            raise self._broken(error) from None

    def _series(self) -> Any:
        if not hasattr(self._own, "file"):
            try:
                self._own.file = open_tiff(self.path)
                weakref.finalize(self, self._own.file.close)
            except Exception as error:
                raise self._broken(error) from None
        try:
            return self._own.file.series[0]
        except Exception as error:  # tags that contradict each other, or none
            raise self._broken(error) from None

    def _broken(self, error: Exception) -> MovieError:
        return MovieError(f"{self.path}: cannot be read ({one_line(error)}); is it a complete TIFF?")

    def __len__(self) -> int:
        return len(self.layout)

    def __getitem__(self, t: int) -> NDArray[Any]:
        series = self._series()
        t = range(len(self))[t]
        try:
            frame = self._of_pages(series, t)
            return self.layout.arranged(self._whole(series)[self.layout.index(t)] if frame is None else frame)
        except Exception as error:
            raise MovieError(f"{self.path}: frame {t} cannot be read ({one_line(error)}); is it complete?") from None

    def _of_pages(self, series: Any, t: int) -> NDArray[Any] | None:
        """A frame put together from its pages; `None` where they are not one plane each."""
        if len(series.pages) == 1:
            return None
        layout, pixels = self.layout, int(np.prod(series.pages[0].shape))
        depth = next((n for n in (2, 3) if int(np.prod(layout.shape[-n:])) == pixels), 0)
        numbers = planes_of(layout, t, depth) if depth else None
        if numbers is None:
            return None
        planes = np.stack([read_page(series.pages[int(n)]) for n in numbers.flat])
        whole = planes.reshape(*numbers.shape, *layout.shape[-depth:])
        return np.asarray(whole[(slice(None),) * numbers.ndim + layout.index(t, layout.axes[-depth:])])

    def _whole(self, series: Any) -> NDArray[Any]:
        # Stacks that ImageJ writes above 4 GB, or tifffile in one piece, have one page: map it instead of reading it.
        import tifffile

        if series.dataoffset is not None:
            return np.asarray(tifffile.memmap(self.path, mode="r"))
        check_claim(series.shape, series.dtype.itemsize, "a movie")
        return read_series(series)

    def where(self, t: int) -> str:
        """Frame t, with the file."""
        return f"{self.path}, frame {t}"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_own"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _own=threading.local())
