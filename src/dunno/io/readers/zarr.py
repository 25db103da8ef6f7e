"""Zarr arrays, and OME-Zarr groups with labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.io.images import one_line
from dunno.io.readers import Options
from dunno.types import Frames, Movie

SPACE = ("z", "y", "x")
MINUTES = {"second": 1 / 60, "minute": 1.0, "hour": 60.0, "millisecond": 1 / 60000, "day": 1440.0}


class ZarrReader:
    """A zarr array (T, [Z,] Y, X) of labels, or an OME-Zarr group whose `labels` hold the masks."""

    name = "zarr"
    form = "a zarr or OME-Zarr folder"
    order = 10

    def accepts(self, path: Path) -> bool:
        """Whether a folder is a zarr array or group."""
        return is_zarr(path)

    def read(self, path: Path, options: Options) -> Movie:
        """Read an array, or a group's first labels with the image behind them, its scale and its interval."""
        if _is_array(path):
            return options.movie(ZarrFrames(path), name=path.stem, mask_source=str(path))
        masks, image = _masks_and_image(path)
        images = None if image is None else ZarrFrames(image.path, image.axes)
        return options.movie(
            _mask_frames(masks),
            images,
            scale=masks.scale,
            interval=masks.interval,
            name=path.stem,
            mask_source=str(masks.path),
        )

    def frames(self, path: Path) -> Frames:
        """The array's frames, or those of a group's labels or image."""
        return ZarrFrames(path) if _is_array(path) else _mask_frames(_masks_and_image(path)[0])


def is_zarr(path: Path) -> bool:
    """Whether a folder is a zarr array or group."""
    return any((path / marker).exists() for marker in ("zarr.json", ".zarray", ".zgroup"))


class ZarrFrames:
    """Frames of a zarr array on disk. Keeps the path, so that it pickles; reads one channel where there are some."""

    def __init__(self, path: Path, axes: str | None = None) -> None:
        self.path = path
        self._array = _open(path)
        self.shape = shape = tuple(self._array.shape)
        self.axes = axes or {3: "tyx", 4: "tzyx"}.get(len(shape), "")
        if len(self.axes) != len(shape) or self.axes[:1] != "t":
            raise MovieError(f"{path}: an array of shape {shape}; expected (T, Y, X) or (T, Z, Y, X)")

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, t: int) -> NDArray[Any]:
        frame = (t, *(0 if axis == "c" else slice(None) for axis in self.axes[1:]))
        try:
            return np.asarray(self._array[frame])
        except Exception as error:
            raise MovieError(
                f"{self.path}: frame {t} cannot be read ({one_line(error)}); is the store complete?"
            ) from None

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """Size of a frame, without its channels."""
        return tuple(size for axis, size in zip(self.axes[1:], self.shape[1:], strict=True) if axis != "c")

    def where(self, t: int) -> str:
        """Frame t, with the array."""
        return f"{self.path}, frame {t}"

    def __reduce__(self) -> tuple[type[ZarrFrames], tuple[Path, str]]:
        return ZarrFrames, (self.path, self.axes)


class _Multiscale(NamedTuple):
    path: Path
    axes: str
    scale: tuple[float, ...] | None
    interval: float | None


def _is_array(path: Path) -> bool:
    return hasattr(_open(path), "shape")


def _masks_and_image(path: Path) -> tuple[_Multiscale, _Multiscale | None]:
    """A group's first labels and the image behind them; where it has no labels, the image is taken for masks."""
    labels, image = _first_labels(path), _multiscale(path)
    masks = _multiscale(labels) if labels is not None else image
    if masks is None:
        raise MovieError(
            f"{path}: a zarr group without OME metadata holds {_listing(path)}; "
            f"give the array that holds the masks, such as {path}/NAME"
        )
    return masks, image if labels is not None else None


def _mask_frames(masks: _Multiscale) -> ZarrFrames:
    frames = ZarrFrames(masks.path, masks.axes)
    if "c" in masks.axes and frames.shape[masks.axes.index("c")] != 1:
        raise MovieError(f"{masks.path}: masks with several channels; expected one")
    return frames


def _open(path: Path) -> Any:
    import zarr

    try:
        return zarr.open(path, mode="r")
    except Exception as error:
        raise MovieError(f"{path}: cannot be opened as zarr ({one_line(error)})") from None


def _attributes(path: Path) -> dict[str, Any]:
    attributes = dict(_open(path).attrs)
    ome = attributes.get("ome", attributes)
    if not isinstance(ome, dict):
        raise MovieError(f"{path}: its OME metadata are {ome!r:.60}; expected names with values")
    return ome


def _first_labels(path: Path) -> Path | None:
    folder = path / "labels"
    if not is_zarr(folder):
        return None
    names = _attributes(folder).get("labels") or sorted(child.name for child in folder.iterdir() if is_zarr(child))
    if not names or not isinstance(names, list):
        raise MovieError(f"{folder}: holds no label images")
    return folder / str(names[0])


def _multiscale(path: Path) -> _Multiscale | None:
    """The full-resolution level of an OME-Zarr image."""
    multiscales = _attributes(path).get("multiscales")
    if not multiscales:
        return None
    try:
        return _full_resolution(path, multiscales)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise MovieError(
            f"{path}: its OME metadata are incomplete ({type(error).__name__}: {one_line(error)}); "
            f"expected multiscales with datasets and axes, or give the array that holds the masks, such as {path}/0"
        ) from None


def _full_resolution(path: Path, multiscales: Any) -> _Multiscale:
    level = multiscales[0]["datasets"][0]
    axes = multiscales[0].get("axes") or [{"name": name} for name in "tczyx"]
    names = "".join(str(axis["name"] if isinstance(axis, dict) else axis)[0].lower() for axis in axes)
    factors = next(
        (step["scale"] for step in level.get("coordinateTransformations", []) if step.get("type") == "scale"),
        None,
    )
    if factors is None:
        return _Multiscale(path / level["path"], names, None, None)
    space = tuple(float(factor) for name, factor in zip(names, factors, strict=True) if name in SPACE)
    unit = axes[0].get("unit") if isinstance(axes[0], dict) else None
    minutes = MINUTES.get(str(unit))
    interval = float(factors[0]) * minutes if names[0] == "t" and minutes is not None else None
    return _Multiscale(path / level["path"], names, space, interval)


def _listing(path: Path) -> str:
    return ", ".join(sorted(child.name for child in path.iterdir() if is_zarr(child))) or "nothing"
