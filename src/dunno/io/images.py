"""TIFF, PNG and NumPy files, one per frame."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.io.size_claims import DEFLATE, MOST_PACKED, check_claim, check_page
from dunno.io.tiff_chain import open_tiff, read_series

TIFF = {".tif", ".tiff"}
IMAGE = TIFF | {".png", ".npy"}


def natural_key(path: Path) -> list[tuple[int, int | str]]:
    """Sort t2 before t10."""
    parts = re.split(r"(\d+)", path.name)
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts if part]


def image_files(folder: Path) -> list[Path]:
    """List a folder's TIFF, PNG and NumPy files in natural order; hidden ones and Cellpose's `_seg.npy` are left out."""
    return sorted((path for path in folder.iterdir() if _is_image(path)), key=natural_key)


def _is_image(path: Path) -> bool:
    hidden = path.name.startswith(".") or path.name.endswith("_seg.npy")
    return path.suffix.lower() in IMAGE and not hidden


def read_image(path: Path) -> NDArray[Any]:
    """Read one TIFF, PNG or NumPy file."""
    import imagecodecs

    try:
        if path.suffix.lower() == ".png":
            content = path.read_bytes()
            _png_shape(content[:26], len(content))
            return np.asarray(imagecodecs.png_decode(content))
        if path.suffix.lower() == ".npy":
            return np.array(_mapped(path))
        with open_tiff(path) as file:
            check_page(file.series[0].pages[0])
            check_claim(file.series[0].shape, file.series[0].dtype.itemsize)
            return read_series(file.series[0])
    except FileNotFoundError:
        raise MovieError(f"{path}: there is no such file") from None
    except PermissionError:
        raise MovieError(f"{path}: no permission to read it") from None
    except Exception as error:  # decoders raise many kinds; all mean that the file is broken
        raise MovieError(f"{path}: cannot be read ({one_line(error)}); is it complete?") from None


def header_shape(path: Path) -> tuple[int, ...] | None:
    """The shape of an image from its file's header; `None` where that does not tell, or the file is broken."""
    try:
        if path.suffix.lower() == ".png":
            with path.open("rb") as file:
                return _png_shape(file.read(26), path.stat().st_size)
        if path.suffix.lower() == ".npy":
            return tuple(_mapped(path).shape)
        with open_tiff(path) as file:
            check_page(file.series[0].pages[0])
            return tuple(file.series[0].shape)
    except Exception:  # whoever reads the image will say what is wrong with it
        return None


def _png_shape(header: bytes, size: int) -> tuple[int, int] | None:
    """Height and width of a grey PNG; a claim that cannot be is refused."""
    width, height, bits, colour = struct.unpack(">IIBB", header[16:])
    check_claim((height, width), max(bits // 8, 1), most=MOST_PACKED[DEFLATE] * size)
    return (height, width) if header[12:16] == b"IHDR" and colour == 0 else None


def _mapped(path: Path) -> NDArray[Any]:
    """The array in a `.npy`, which is as large as it says."""
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    check_claim(array.shape, array.dtype.itemsize)
    return array


def one_line(error: Exception) -> str:
    """What a decoder said, without its line breaks."""
    return " ".join(str(error).split())[:200] or type(error).__name__


class ImageFiles:
    """Frames in files, one each. Keeps paths, not open files, so that it pickles.

    `read`, a function of a module, reads one of them; without it TIFF, PNG and NumPy files are read.
    """

    def __init__(
        self,
        paths: Sequence[Path] | Mapping[int, Path],
        read: Callable[[Path], NDArray[Any]] | None = None,
    ) -> None:
        self.paths = dict(paths) if isinstance(paths, Mapping) else tuple(paths)
        self.read = read

    def only(self, frames: Sequence[int]) -> ImageFiles:
        """Some frames under the same numbers: a long list of files need not travel with every block."""
        return ImageFiles({t: self.paths[t] for t in frames}, self.read)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, t: int) -> NDArray[Any]:
        if self.read is not None:
            return self.read(self.paths[t])
        frame = read_image(self.paths[t])
        if self.paths[t].suffix.lower() == ".png" and frame.ndim != 2:
            raise MovieError(f"{self.paths[t]}: a colour PNG of shape {frame.shape}; expected one channel")
        return frame

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """Size of the first frame, from its file's header where that tells."""
        first = next(iter(self.paths)) if isinstance(self.paths, dict) else 0
        return (header_shape(self.paths[first]) if self.read is None else None) or np.shape(self[first])

    def where(self, t: int) -> str:
        """Frame t's file."""
        return str(self.paths[t])
