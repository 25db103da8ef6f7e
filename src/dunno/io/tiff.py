"""TIFF and PNG: folders of frames, and stacks."""

from __future__ import annotations

import re
import struct
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError

TIFF = {".tif", ".tiff"}
IMAGE = TIFF | {".png"}


def natural_key(path: Path) -> list[tuple[int, int | str]]:
    """Sort t2 before t10."""
    parts = re.split(r"(\d+)", path.name)
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts if part]


def image_files(folder: Path) -> list[Path]:
    """List a folder's TIFF and PNG files in natural order; hidden files are left out."""
    found = [path for path in folder.iterdir() if path.suffix.lower() in IMAGE and not path.name.startswith(".")]
    return sorted(found, key=natural_key)


def read_image(path: Path) -> NDArray[Any]:
    """Read one TIFF or PNG file."""
    import imagecodecs
    import tifffile

    try:
        if path.suffix.lower() == ".png":
            return np.asarray(imagecodecs.png_decode(path.read_bytes()))
        return np.asarray(tifffile.imread(path))
    except FileNotFoundError:
        raise MovieError(f"{path}: there is no such file") from None
    except PermissionError:
        raise MovieError(f"{path}: no permission to read it") from None
    except Exception as error:  # decoders raise many kinds; all mean that the file is broken
        raise MovieError(f"{path}: cannot be read ({_one_line(error)}); is it complete?") from None


def header_shape(path: Path) -> tuple[int, ...] | None:
    """The shape of an image from its file's header; `None` where that does not tell, or the file is broken."""
    import tifffile

    try:
        if path.suffix.lower() == ".png":
            return _png_shape(path)
        with tifffile.TiffFile(path) as file:
            return tuple(file.series[0].shape)
    except Exception:  # whoever reads the image will say what is wrong with it
        return None


def _png_shape(path: Path) -> tuple[int, int] | None:
    """Height and width of a grey PNG."""
    with path.open("rb") as file:
        header = file.read(26)
    width, height, _, colour = struct.unpack(">IIBB", header[16:])
    return (height, width) if header[12:16] == b"IHDR" and colour == 0 else None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


class ImageFiles:
    """Frames in files, one each. Keeps paths, not open files, so that it pickles."""

    def __init__(self, paths: Sequence[Path] | Mapping[int, Path]) -> None:
        self.paths = dict(paths) if isinstance(paths, Mapping) else tuple(paths)

    def only(self, frames: Sequence[int]) -> ImageFiles:
        """Some frames under the same numbers: a long list of files need not travel with every block."""
        return ImageFiles({t: self.paths[t] for t in frames})

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, t: int) -> NDArray[Any]:
        frame = read_image(self.paths[t])
        if self.paths[t].suffix.lower() == ".png" and frame.ndim != 2:
            raise MovieError(f"{self.paths[t]}: a colour PNG of shape {frame.shape}; expected one channel")
        return frame

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """Size of the first frame, from its file's header where that tells."""
        first = next(iter(self.paths)) if isinstance(self.paths, dict) else 0
        return header_shape(self.paths[first]) or np.shape(self[first])

    def where(self, t: int) -> str:
        """Frame t's file."""
        return str(self.paths[t])


class TiffStack:
    """Frames in one multi-page TIFF. The file is opened when first used, and again after unpickling."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file: Any = None
        shape, axes = self._series().shape, self._series().axes
        # The leading axis is time whatever the writer called it: few frames are often saved as channels or slices.
        if "C" in axes[1:] or "S" in axes[1:]:
            raise MovieError(f"{path}: has colour channels (axes {axes}, shape {shape}); expected one channel")
        if len(shape) not in (3, 4):
            raise MovieError(f"{path}: an image of shape {shape}; expected a stack (T, Y, X) or (T, Z, Y, X)")
        self.shape: tuple[int, ...] = tuple(shape)

    def _series(self) -> Any:
        import tifffile

        if self._file is None:
            try:
                self._file = tifffile.TiffFile(self.path)
                self._file.filehandle.set_lock(True)
                weakref.finalize(self, self._file.close)
            except Exception as error:
                raise MovieError(f"{self.path}: cannot be read ({_one_line(error)}); is it a complete TIFF?") from None
        return self._file.series[0]

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
        except Exception as error:
            raise MovieError(f"{self.path}: frame {t} cannot be read ({_one_line(error)}); is it complete?") from None
        return np.asarray(frame).reshape(self.shape[1:])

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
