"""Zarr arrays, and OME-Zarr groups with labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from dunno.errors import MovieError
from dunno.io.array_frames import ArrayFrames
from dunno.io.images import one_line
from dunno.io.plates import is_zarr, plate_fields
from dunno.io.readers import ReadingOptions
from dunno.io.spacing import MICROMETRES, MINUTES, Spacing
from dunno.types import Frames, Movie

SPACE = ("z", "y", "x")


class ZarrReader:
    """A zarr array (T, [Z,] Y, X) of labels, or an OME-Zarr group whose `labels` hold the masks."""

    name = "zarr"
    form = "a zarr or OME-Zarr folder"
    example = "dunno track movie.ome.zarr -o OUT"
    order = 10

    def accepts(self, path: Path) -> bool:
        """Whether a folder is a zarr array or group."""
        return is_zarr(path)

    def read(self, path: Path, options: ReadingOptions) -> Movie:
        """Read an array, or a group's first labels with the image behind them, its scale and its interval."""
        if _is_array(path):
            return options.movie(ZarrFrames(path, options), name=path.stem, mask_source=str(path))
        _refuse_plate(path)
        masks, image = _masks_and_image(path)
        images = None if image is None else ZarrFrames(image.path, options.for_images(), image.axes, named=True)
        return options.movie(
            ZarrFrames(masks.path, options, masks.axes, named=True),
            images,
            spacing=masks.spacing,
            name=path.stem,
            mask_source=str(masks.path),
        )

    def frames(self, path: Path, options: ReadingOptions) -> Frames:
        """The array's frames, or those of a group's labels or image."""
        if _is_array(path):
            return ZarrFrames(path, options)
        found = _multiscale(path) if options.shows_images else None
        found = found or _masks_and_image(path)[0]
        return ZarrFrames(found.path, options, found.axes, named=True)


class ZarrFrames(ArrayFrames):
    """Frames of a zarr array on disk."""

    def open_array(self) -> Any:
        """The array."""
        return _open(self.path)

    def __getstate__(self) -> dict[str, Any]:
        """With the array, which pickles as its path and metadata: opening it takes a worker longer than reading a frame."""
        return {**super().__getstate__(), "_array": self._array}


class _Multiscale(NamedTuple):
    path: Path
    axes: str
    spacing: Spacing


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


def _refuse_plate(path: Path) -> None:
    fields = plate_fields(path)
    if fields:
        raise MovieError(
            f"{path}: is a plate of {len(fields)} fields; dunno track takes it as a whole, and one field is {fields[0]}"
        )


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
        return _Multiscale(path / level["path"], names, Spacing())
    units = [axis.get("unit") if isinstance(axis, dict) else None for axis in axes]
    sizes = {name: _size(name, float(factor), unit) for name, factor, unit in zip(names, factors, units, strict=True)}
    spacing = Spacing(*(sizes.get(name) for name in (*SPACE, "t")))
    return _Multiscale(path / level["path"], names, spacing)


def _size(axis: str, factor: float, unit: str | None) -> float | None:
    """A step along an axis in micrometres or minutes; a length without a unit is taken as it is, a time is not."""
    known = MINUTES.get(str(unit)) if axis == "t" else MICROMETRES.get(str(unit), 1.0)
    return None if known is None else factor * known


def _listing(path: Path) -> str:
    return ", ".join(sorted(child.name for child in path.iterdir() if is_zarr(child))) or "nothing"
