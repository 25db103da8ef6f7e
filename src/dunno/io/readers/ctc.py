"""Sequences of the Cell Tracking Challenge."""

from __future__ import annotations

import warnings
from pathlib import Path

from dunno.errors import DunnoWarning, MovieError
from dunno.io.ctc import MASK_PLACES, beside, frame_numbers, is_sequence, looks_like_images
from dunno.io.images import ImageFiles, image_files
from dunno.io.pairing import say_missing
from dunno.io.readers import ReadingOptions
from dunno.types import Ints, Movie


class CtcReader:
    """A sequence such as `Fluo-N2DL-HeLa/01`, with masks in `01_ST/SEG`, `01_GT/TRA` or `01_RES`."""

    name = "ctc"
    form = "a Cell Tracking Challenge sequence"
    example = "dunno track Fluo-N2DL-HeLa/01 -o OUT"
    order = 20

    def accepts(self, path: Path) -> bool:
        """Whether folders of a sequence lie beside it (its own may be missing), or it holds a sequence's images."""
        return is_sequence(path) or (path.is_dir() and looks_like_images(path))

    def read(self, path: Path, options: ReadingOptions) -> Movie:
        """Read a sequence with the first masks found in `_ST/SEG`, `_GT/TRA`, `_RES`."""
        masks = _find_masks(path)
        if masks.name == "TRA":
            warnings.warn(
                f"masks are taken from {masks}, which in some datasets holds markers instead of whole cells",
                DunnoWarning,
                stacklevel=4,
            )
        return _joined(path, masks, options)

    def join(self, path: Path, masks: Path, options: ReadingOptions) -> Movie | None:
        """A sequence with a folder of numbered masks: its frames keep their numbers."""
        return _joined(path, masks, options) if is_sequence(path) and _are_numbered(masks) else None


def _find_masks(path: Path) -> Path:
    if not is_sequence(path):
        raise MovieError(
            f"{path}: holds the images of a sequence, but there are no masks beside it in "
            f"{path.name}_ST/SEG, {path.name}_GT/TRA or {path.name}_RES; segment the images first, or give --masks"
        )
    folders = [beside(path, place) for place in MASK_PLACES]
    masks = next((folder for folder in folders if folder.is_dir() and image_files(folder)), None)
    if masks is None:
        raise MovieError(
            f"{path}: found no masks in {', '.join(path.name + place for place in MASK_PLACES)}; "
            "segment the images first, or say where the masks are with --masks"
        )
    return masks


def _joined(path: Path, masks: Path, options: ReadingOptions) -> Movie:
    """Join a sequence's images, where there are any, with a folder of masks."""
    mask_files = image_files(masks)
    frames = frame_numbers(mask_files)
    images = _images(path, masks, frames)
    return options.movie(
        ImageFiles(mask_files),
        ImageFiles(images) if images else None,
        name="/".join(path.parts[-2:]),
        mask_source=str(masks),
        frames=frames,
        notes=say_missing(frames),
    )


def _images(path: Path, masks: Path, frames: Ints) -> list[Path]:
    """The sequence's images of these frames: all, or none where there are no images."""
    files = image_files(path) if path.is_dir() else []
    by_number = dict(zip(frame_numbers(files).tolist(), files, strict=True))
    missing = [frame for frame in frames.tolist() if frame not in by_number]
    if files and missing:
        raise MovieError(
            f"{path}: {len(files)} images but {len(frames)} masks in {masks}; every frame needs one of each, "
            f"and frame {missing[0]} has no image"
        )
    return [by_number[frame] for frame in frames.tolist()] if files else []


def _are_numbered(masks: Path) -> bool:
    try:
        return masks.is_dir() and len(frame_numbers(image_files(masks))) > 0
    except MovieError:
        return False
