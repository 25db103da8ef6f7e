"""Folders of images, one per frame."""

from __future__ import annotations

import re
from pathlib import Path

from dunno.errors import MovieError
from dunno.io.ctc import is_sequence
from dunno.io.images import IMAGE, ImageFiles, image_files, natural_key
from dunno.io.pairing import halves, is_masks, number_files, say_missing, take_apart
from dunno.io.readers import ReadingOptions
from dunno.io.spacing import read_spacing
from dunno.types import Frames, Movie

MOVIES = (".zarr", ".h5", ".hdf5", ".npz")
"""What may be a whole movie inside a folder."""


class FolderReader:
    """A folder of TIFF, PNG or NumPy label images, one per frame, with or without the images beside them."""

    name = "folder"
    form = "a folder of TIFF or PNG masks"
    example = "dunno track masks/ -o OUT --images raw/"
    order = 90  # the last: it takes any folder, and says what it misses there

    def accepts(self, path: Path) -> bool:
        """Whether it is a folder at all."""
        return path.is_dir()

    def read(self, path: Path, options: ReadingOptions) -> Movie:
        """Read a folder of masks; images beside them, by their names or in a folder of their own, are taken for images."""
        below = None if any(is_masks(file) for file in image_files(path)) else halves(path)
        if below is not None:
            return _two_folders(path, below[0], path if image_files(path) else below[1], options)
        files = _files(path)
        masks, images = take_apart(files)
        frames = number_files(masks)
        notes = [] if images is None else [f"images are {images[0].name} …, masks {masks[0].name} …"]
        return options.movie(
            ImageFiles(masks),
            None if images is None else ImageFiles(images),
            name=path.name,
            mask_source=str(path) if images is None else f"{path}/{_pattern(masks[0])}",
            frames=frames,
            spacing=read_spacing(masks[0]),
            notes=[*notes, *say_missing(frames)],
        )

    def frames(self, path: Path, options: ReadingOptions) -> Frames:
        """The folder's images, whatever they show; of a folder with both, the half that is asked for."""
        below = None if image_files(path) else halves(path)
        if below is not None:
            path = below[1] if options.shows_images and below[1] is not None else below[0]
        masks, images = take_apart(_files(path))
        return ImageFiles(images if options.shows_images and images is not None else masks)


def _two_folders(path: Path, masks: Path, images: Path | None, options: ReadingOptions) -> Movie:
    files = image_files(masks)
    frames = number_files(files)
    pictures = [] if images is None else image_files(images)
    fits = len(pictures) == len(files)
    notes = [f"images are in {images}, masks in {masks}"] if fits else []
    if pictures and not fits:
        notes = [f"{images} has {len(pictures)} images but {masks} {len(files)} masks, so the images are not used"]
    return options.movie(
        ImageFiles(files),
        ImageFiles(pictures) if fits else None,
        name=path.name,
        mask_source=str(masks),
        frames=frames,
        spacing=read_spacing(files[0]),
        notes=[*notes, *say_missing(frames)],
    )


def _files(path: Path) -> list[Path]:
    """A folder's images; where there are none, say what might have been meant."""
    files = image_files(path)
    if files:
        return files
    inside = sorted((each for each in path.iterdir() if not each.name.startswith(".")), key=natural_key)
    below = [each for each in inside if each.is_dir()]
    meant = [each.name for each in inside if each.suffix.lower() in MOVIES]
    meant = meant or [each.name for each in below if is_sequence(each) or image_files(each)]
    meant = [name for name in meant if not re.search(r"_(ST|GT|RES)$", name)] or _sequences(below)
    if meant:
        raise MovieError(
            f"{path}: holds no images itself; did you mean {_either([str(path / each) for each in meant])}?"
        )
    raise MovieError(f"{path}: holds no {', '.join(sorted(IMAGE))} files; expected one mask image per frame")


def _sequences(below: list[Path]) -> list[str]:
    """The sequences whose truth or result lies here, though their images do not."""
    return sorted({re.sub(r"_(ST|GT|RES)$", "", each.name) for each in below if re.search(r"_(ST|GT|RES)$", each.name)})


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1][:4])} or {names[-1]}"


def _pattern(mask: Path) -> str:
    return re.sub(r"\d+", "*", mask.name)
