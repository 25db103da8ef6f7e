"""Cellpose's `_seg.npy`: a pickled dictionary, of which the masks are read and nothing else is made."""

from __future__ import annotations

import mmap
import re
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.io.array_frames import ArrayFrames
from dunno.io.images import one_line
from dunno.io.pickles import Made, Name, describe

SEG = "_seg.npy"
MOST_AXES = 8

NUMBER_DTYPES = re.compile("[biuf][1248]")
"""How a pickle calls a kind of numbers; objects, texts and records are none."""

ARRAY, FROM_BYTES = "multiarray._reconstruct", "numeric._frombuffer"
"""What makes an array of NumPy's, as `numpy.core` or `numpy._core` has it: given its state, or all at once."""


def read_seg_masks(path: Path) -> NDArray[Any]:
    """The masks in one `_seg.npy`; nothing else of it is made."""
    try:
        with path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        version = npy.read_magic(content)
        shape, _, kind = npy.read_array_header_1_0(content) if version == (1, 0) else npy.read_array_header_2_0(content)
        if not kind.hasobject or shape != ():
            raise ValueError(f"an array of {kind} and shape {shape}")
        return _array(_entries(describe(content))["masks"])
    except FileNotFoundError:
        raise MovieError(f"{path}: there is no such file") from None
    except Exception as error:  # a damaged pickle fails in any way
        message = f"{type(error).__name__}: {one_line(error)}" if isinstance(error, KeyError) else one_line(error)
        raise MovieError(f"{path}: cannot be read as Cellpose's _seg.npy ({message}); is it complete?") from None


def _entries(thing: Any) -> dict[str, Any]:
    """What the dictionary holds that is the only item of an array of objects."""
    match thing:
        case Made(state=(_, (), _, _, [dict(entries)])):
            return entries
    raise ValueError("it holds no dictionary")


def _array(thing: Any) -> NDArray[Any]:
    """An array of numbers that is as large as it says."""
    match thing:
        case Made(Name(text), _, (_, tuple(shape), kind, is_fortran, data)) if text.endswith(ARRAY):
            order: Literal["C", "F"] = "F" if is_fortran is True else "C"
        case Made(Name(text), (data, kind, tuple(shape), "C" | "F" as order)) if text.endswith(FROM_BYTES):
            pass
        case Made(Name(text)):
            raise ValueError(f"its masks are made by {text:.60}; expected an array of numbers")
        case _:
            raise ValueError(f"its masks are of type {type(thing).__name__}; expected an array of numbers")
    numbers, raw = _kind(kind), _raw(data)
    sizes = [size for size in shape if type(size) is int and 0 <= size <= len(raw)]
    if len(sizes) != len(shape) or len(shape) > MOST_AXES or prod(sizes) * numbers.itemsize != len(raw):
        raise ValueError(f"its masks have {len(raw):,} bytes, which is not what their shape needs")
    return np.frombuffer(raw, numbers).reshape(sizes, order=order).copy()  # the file may change


def _kind(thing: Any) -> np.dtype[Any]:
    match thing:
        case Made(Name("numpy.dtype"), (str(code), *_), (_, "<" | ">" | "|" | "=" as order, None, None, None, *_)):
            if NUMBER_DTYPES.fullmatch(code):
                return np.dtype(f"{order}{code}")
    raise ValueError("its masks are no array of numbers")


def _raw(thing: Any) -> memoryview | bytes:
    """The bytes of an array; before Python had them, they were written as text."""
    match thing:
        case memoryview():
            return thing
        case Made(Name("_codecs.encode"), (str(text), "latin1")):
            return text.encode("latin1")
        case Made(Name("builtins.bytearray"), (memoryview() as raw,)):
            return raw
    raise ValueError("its masks have no bytes")


class CellposeStack(ArrayFrames):
    """Frames of a movie that Cellpose segmented as one stack."""

    def open_array(self) -> Any:
        """The masks (T, Y, X)."""
        masks = read_seg_masks(self.path)
        if masks.ndim == 2:
            raise MovieError(f"{self.path}: holds the masks of one frame; give the folder with all of them")
        return masks
