"""Cellpose's `_seg.npy`: a pickled dictionary, read without running anything that it might hold."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.io.array_frames import ArrayFrames
from dunno.io.images import one_line

SEG = "_seg.npy"

HARMLESS = {
    *((f"numpy.{core}.multiarray", name) for core in ("core", "_core") for name in ("_reconstruct", "scalar")),
    *((f"numpy.{core}.numeric", "_frombuffer") for core in ("core", "_core")),
    *(("numpy", name) for name in ("ndarray", "dtype")),
    *(("builtins", name) for name in ("set", "frozenset", "slice", "complex", "bytearray", "range")),
    *(("pathlib", name) for name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath", "Path")),
    *(("pathlib._local", name) for name in ("PosixPath", "WindowsPath")),
    ("_codecs", "encode"),
}
"""All that a pickle of arrays, numbers, text and paths needs."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in HARMLESS:
            raise pickle.UnpicklingError(f"it wants to run {module}.{name}, which no Cellpose file needs")
        if module.startswith("pathlib"):
            return _joined  # a path of another system is but a name here
        return super().find_class(module, name)


def _joined(*parts: Any) -> str:
    return "/".join(map(str, parts))


def read_seg_masks(path: Path) -> NDArray[Any]:
    """The masks in one `_seg.npy`."""
    try:
        with path.open("rb") as file:
            version = npy.read_magic(file)
            shape, _, kind = npy.read_array_header_1_0(file) if version == (1, 0) else npy.read_array_header_2_0(file)
            if not kind.hasobject or shape != ():
                raise ValueError(f"an array of {kind} and shape {shape}")
            content = _Unpickler(file).load()
            masks = np.asarray(content.item()["masks"])
    except FileNotFoundError:
        raise MovieError(f"{path}: there is no such file") from None
    except Exception as error:  # a damaged pickle fails in any way
        message = f"{type(error).__name__}: {one_line(error)}" if isinstance(error, KeyError) else one_line(error)
        raise MovieError(f"{path}: cannot be read as Cellpose's _seg.npy ({message}); is it complete?") from None
    return masks


class CellposeStack(ArrayFrames):
    """Frames of a movie that Cellpose segmented as one stack."""

    def open_array(self) -> Any:
        """The masks (T, Y, X)."""
        masks = read_seg_masks(self.path)
        if masks.ndim == 2:
            raise MovieError(f"{self.path}: holds the masks of one frame; give the folder with all of them")
        return masks
