"""What Cellpose and Omnipose leave beside the images: `NAME_cp_masks.tif` or `.png`, and `NAME_seg.npy`."""

from __future__ import annotations

from pathlib import Path

from dunno.errors import MovieError
from dunno.io.cellpose import SEG, CellposeStack, read_seg_masks
from dunno.io.images import ImageFiles, image_files, natural_key
from dunno.io.pairing import number_files, say_missing
from dunno.io.readers import ReadingOptions
from dunno.io.spacing import read_spacing
from dunno.types import Frames, Movie

SUFFIX = "_cp_masks"


class CellposeReader:
    """A folder with Cellpose's `*_cp_masks` images or `*_seg.npy`, the images beside them, or one `_seg.npy`."""

    name = "cellpose"
    form = "a Cellpose folder (*_cp_masks, *_seg.npy)"
    example = "dunno track cellpose_folder/ -o OUT"
    order = 30

    def accepts(self, path: Path) -> bool:
        """Whether a folder holds masks by Cellpose's name, or a file has it."""
        if path.is_dir():
            return any(_is_masks(file) for file in image_files(path)) or bool(_segs(path))
        return path.name.endswith(SEG) and path.is_file()

    def read(self, path: Path, options: ReadingOptions) -> Movie:
        """Take masks and images apart by their names; masks that were exported as images come first."""
        if path.is_file():
            return options.movie(CellposeStack(path, options), name=_stem(path), mask_source=str(path))
        files = image_files(path)
        masks = [file for file in files if _is_masks(file)] or _segs(path)
        if len(masks) == 1 and masks[0].name.endswith(SEG):
            return self.read(masks[0], options)
        images = _images(files, masks)
        frames = number_files([Path(_stem(mask)) for mask in masks])
        notes = [] if images is None else [f"images are {Path(images.where(0)).name} …, masks {masks[0].name} …"]
        suffix = SEG if masks[0].name.endswith(SEG) else f"{SUFFIX}{masks[0].suffix}"
        return options.movie(
            _frames(masks),
            images,
            name=path.name,
            mask_source=f"{path}/*{suffix}",
            frames=frames,
            spacing=None if images is None else read_spacing(Path(images.where(0))),
            notes=[*notes, *say_missing(frames)],
        )

    def frames(self, path: Path, options: ReadingOptions) -> Frames:
        """The masks, or the images beside them."""
        if path.is_file():
            return CellposeStack(path, options)
        files = image_files(path)
        masks = [file for file in files if _is_masks(file)] or _segs(path)
        images = _images(files, masks)
        return images if options.shows_images and images is not None else _frames(masks)


def _frames(masks: list[Path]) -> ImageFiles:
    return ImageFiles(masks, read_seg_masks if masks[0].name.endswith(SEG) else None)


def _is_masks(file: Path) -> bool:
    return file.stem.endswith(SUFFIX)


def _segs(folder: Path) -> list[Path]:
    found = (each for each in folder.iterdir() if each.name.endswith(SEG) and not each.name.startswith("."))
    return sorted(found, key=natural_key)


def _stem(mask: Path) -> str:
    """The name of the image that masks were made from."""
    return mask.name.removesuffix(SEG) if mask.name.endswith(SEG) else mask.stem.removesuffix(SUFFIX)


def _images(files: list[Path], masks: list[Path]) -> ImageFiles | None:
    """The images that the masks are named after: all of them, or none."""
    by_stem = {file.stem: file for file in files}
    found = [by_stem.get(_stem(mask)) for mask in masks]
    images = [file for file in found if file is not None]
    if images and len(images) != len(masks):
        lonely = next(mask for mask, file in zip(masks, found, strict=True) if file is None)
        raise MovieError(f"{lonely}: there is no image {_stem(lonely)} beside it, as for other frames")
    return ImageFiles(images) if images else None
