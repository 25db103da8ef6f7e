"""One door for every kind of movie on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, overload

from dunno.errors import MovieError
from dunno.io import ctc
from dunno.io.tiff import IMAGE, TIFF, ImageFiles, TiffStack, image_files
from dunno.io.zarr import is_zarr, read_zarr
from dunno.types import Frames, Movie, Truth

Scale = Sequence[float] | float | None
CELLPOSE = "_cp_masks"


@overload
def read(
    path: str | Path,
    truth: Literal[False] = False,
    masks: str | Path | None = None,
    scale: Scale = None,
    interval: float | None = None,
) -> Movie: ...
@overload
def read(
    path: str | Path,
    truth: Literal[True],
    masks: str | Path | None = None,
    scale: Scale = None,
    interval: float | None = None,
) -> tuple[Movie, Truth]: ...
def read(
    path: str | Path,
    truth: bool = False,
    masks: str | Path | None = None,
    scale: Scale = None,
    interval: float | None = None,
) -> Movie | tuple[Movie, Truth]:
    """Read a movie: a CTC sequence, a folder of TIFF or PNG masks, a Cellpose folder, a TIFF stack or a zarr.

    Frames are read when they are needed.

    Args:
        path: A sequence such as `Fluo-N2DL-HeLa/01`, a folder, a `.tif` or a `.zarr`.
        truth: Also read the annotation (CTC's `_GT/TRA`), and check it.
        masks: Where the masks are, if not where they are looked for; `path` then holds the images, if it exists.
        scale: Size of a pixel along each axis; distances are then in its unit.
        interval: Minutes between frames.

    Returns:
        The movie, or the movie and its truth.
    """
    path = Path(path)
    movie = _read_movie(path, None if masks is None else Path(masks), scale, interval)
    movie.path = str(path.absolute())
    movie.masks_path = None if masks is None else str(Path(masks).absolute())
    if not truth:
        return movie
    return movie, ctc.read_truth(path, movie)


def _read_movie(path: Path, masks: Path | None, scale: Scale, interval: float | None) -> Movie:
    if masks is not None:
        return _with_masks(path, masks, scale, interval)
    if path.is_dir() and is_zarr(path):
        return read_zarr(path, scale, interval)
    if ctc.is_sequence(path):
        return ctc.read_sequence(path, scale, interval)
    if not path.exists():
        raise MovieError(f"{path}: there is no such file or folder")
    if path.is_file():
        return Movie(_stack(path), None, scale, interval, name=path.stem, mask_source=str(path))
    if ctc.looks_like_images(path):
        raise MovieError(
            f"{path}: holds the images of a sequence, but there are no masks beside it in "
            f"{path.name}_ST/SEG, {path.name}_GT/TRA or {path.name}_RES; segment the images first, or give --masks"
        )
    return _read_folder(path, scale, interval)


def _with_masks(path: Path, masks: Path, scale: Scale, interval: float | None) -> Movie:
    if not masks.exists():
        raise MovieError(f"{masks}: there is no such file or folder; --masks says where the masks are")
    if masks.is_dir() and not is_zarr(masks) and ctc.is_sequence(path) and _is_numbered(masks):
        return ctc.movie_of(path, masks, scale, interval)
    frames = _frames(masks)
    images = _frames(path) if path.exists() and path.resolve() != masks.resolve() else None
    return Movie(frames, images, scale, interval, name=path.stem, mask_source=str(masks))


def _is_numbered(folder: Path) -> bool:
    try:
        return len(ctc.frame_numbers(image_files(folder))) > 0
    except MovieError:
        return False


def _frames(path: Path) -> Frames:
    """The frames of a folder, stack or zarr, whatever they show."""
    if path.is_file():
        return _stack(path)
    if is_zarr(path):
        return read_zarr(path)._masks
    files = image_files(path)
    if not files:
        raise MovieError(f"{path}: holds no TIFF or PNG files")
    return ImageFiles(files)


def _stack(path: Path) -> TiffStack:
    if path.suffix.lower() not in TIFF:
        raise MovieError(f"{path}: cannot read {path.suffix or 'this kind of file'}; expected .tif, .zarr or a folder")
    return TiffStack(path)


def _read_folder(path: Path, scale: Scale, interval: float | None) -> Movie:
    """A folder of masks, or Cellpose's and Omnipose's `*_cp_masks` beside the images."""
    files = image_files(path)
    if not files:
        raise MovieError(f"{path}: holds no {', '.join(sorted(IMAGE))} files; expected one mask image per frame")
    masks = [file for file in files if file.stem.endswith(CELLPOSE)]
    if not masks:
        return Movie(ImageFiles(files), None, scale, interval, name=path.name, mask_source=str(path))
    return Movie(
        ImageFiles(masks),
        _cellpose_images(files, masks),
        scale,
        interval,
        name=path.name,
        mask_source=f"{path}/*{CELLPOSE}{masks[0].suffix}",
    )


def _cellpose_images(files: list[Path], masks: list[Path]) -> ImageFiles | None:
    """The images that the masks are named after: all of them, or none."""
    by_stem = {file.stem: file for file in files}
    found = [by_stem.get(mask.stem.removesuffix(CELLPOSE)) for mask in masks]
    images = [file for file in found if file is not None]
    if images and len(images) != len(masks):
        lonely = next(mask for mask, file in zip(masks, found, strict=True) if file is None)
        raise MovieError(
            f"{lonely}: there is no image {lonely.stem.removesuffix(CELLPOSE)} beside it, as for other frames"
        )
    return ImageFiles(images) if images else None
