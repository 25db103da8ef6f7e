"""Frames in one array on disk, whatever opens it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import DunnoError, MovieError
from dunno.io.axes import lay_out
from dunno.io.images import one_line
from dunno.io.readers import ReadingOptions
from dunno.io.size_claims import check_claim


class ArrayFrames(ABC):
    """Frames of an array on disk. It is opened when first used, and again after unpickling; several threads may read it.

    `own` is what the file calls its axes, empty where it does not say; `named` whether these names are to be trusted.
    """

    def __init__(self, path: Path, options: ReadingOptions, own: str = "", *, named: bool = False) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._array: Any = None
        array = self._opened()
        self.layout = lay_out(tuple(int(size) for size in array.shape), own, options, str(path), named=named)
        self.frame_shape = self.layout.frame_shape
        try:
            check_claim(self.frame_shape, array.dtype.itemsize)
        except ValueError as error:
            raise MovieError(f"{path}: cannot be read ({error}); is it complete?") from None

    @abstractmethod
    def open_array(self) -> Any:
        """The array: something with a shape, that takes indices."""

    def _opened(self) -> Any:
        with self._lock:
            if self._array is None:
                try:
                    self._array = self.open_array()
                except DunnoError:
                    raise
                except Exception as error:  # whoever reads files raises many kinds; all mean that it is broken
                    raise MovieError(f"{self.path}: cannot be read ({one_line(error)}); is it complete?") from None
            return self._array

    def __len__(self) -> int:
        return len(self.layout)

    def __getitem__(self, t: int) -> NDArray[Any]:
        t = range(len(self))[t]
        array = self._opened()
        try:
            return self.layout.arranged(np.asarray(array[self.layout.index(t)]))
        except Exception as error:
            raise MovieError(f"{self.where(t)} cannot be read ({one_line(error)}); is it complete?") from None

    def where(self, t: int) -> str:
        """Frame t, with the file."""
        return f"{self.path}, frame {t}"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_array": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())
