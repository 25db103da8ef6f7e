"""Folders of images, one per frame."""

from __future__ import annotations

from pathlib import Path

from dunno.errors import MovieError
from dunno.io.images import IMAGE, ImageFiles, image_files
from dunno.io.readers import Options
from dunno.types import Frames, Movie


class FolderReader:
    """A folder of TIFF or PNG label images, one per frame, in natural order."""

    name = "folder"
    form = "a folder of TIFF or PNG masks"
    order = 90  # the last: it takes any folder, and says what it misses there

    def accepts(self, path: Path) -> bool:
        """Whether it is a folder at all."""
        return path.is_dir()

    def read(self, path: Path, options: Options) -> Movie:
        """Read a folder in which every image is a mask."""
        files = image_files(path)
        if not files:
            raise MovieError(f"{path}: holds no {', '.join(sorted(IMAGE))} files; expected one mask image per frame")
        return options.movie(ImageFiles(files), name=path.name, mask_source=str(path))

    def frames(self, path: Path) -> Frames:
        """The folder's images, whatever they show."""
        files = image_files(path)
        if not files:
            raise MovieError(f"{path}: holds no TIFF or PNG files")
        return ImageFiles(files)
