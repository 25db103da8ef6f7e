"""What Cellpose and Omnipose leave beside the images: `NAME_cp_masks.tif` or `.png`."""

from __future__ import annotations

from pathlib import Path

from dunno.errors import MovieError
from dunno.io.images import ImageFiles, image_files
from dunno.io.readers import Options
from dunno.types import Movie

SUFFIX = "_cp_masks"


class CellposeReader:
    """A folder with Cellpose's `*_cp_masks` images, and the images they were made from where they are there."""

    name = "cellpose"
    form = "a Cellpose folder (*_cp_masks)"
    order = 30

    def accepts(self, path: Path) -> bool:
        """Whether a folder holds masks by Cellpose's name."""
        return path.is_dir() and any(_is_masks(file) for file in image_files(path))

    def read(self, path: Path, options: Options) -> Movie:
        """Take masks and images apart by their names."""
        files = image_files(path)
        masks = [file for file in files if _is_masks(file)]
        source = f"{path}/*{SUFFIX}{masks[0].suffix}"
        return options.movie(ImageFiles(masks), _images(files, masks), name=path.name, mask_source=source)


def _is_masks(file: Path) -> bool:
    return file.stem.endswith(SUFFIX)


def _images(files: list[Path], masks: list[Path]) -> ImageFiles | None:
    """The images that the masks are named after: all of them, or none."""
    by_stem = {file.stem: file for file in files}
    found = [by_stem.get(mask.stem.removesuffix(SUFFIX)) for mask in masks]
    images = [file for file in found if file is not None]
    if images and len(images) != len(masks):
        lonely = next(mask for mask, file in zip(masks, found, strict=True) if file is None)
        raise MovieError(
            f"{lonely}: there is no image {lonely.stem.removesuffix(SUFFIX)} beside it, as for other frames"
        )
    return ImageFiles(images) if images else None
