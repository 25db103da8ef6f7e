"""The Cell Tracking Challenge's layout: sequences, truth and results.

A sequence `X/01` has images in `01/`, masks in `01_ST/SEG`, `01_GT/TRA` or `01_RES`, and truth in `01_GT/TRA`.
A track table has a row `L B E P` per track: label, first frame, last frame, the track it came from or 0.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import MovieError, OutputError, TruthError
from dunno.io.images import ImageFiles, image_files
from dunno.truth.matching import TrackTable, match_truth
from dunno.types import Ints, Movie, Truth
from dunno.types.movie import MOST_FRAMES_OF_A_MOVIE

MASK_PLACES = ("_ST/SEG", "_GT/TRA", "_RES")
MAX_LABEL = np.iinfo(np.uint16).max


def is_sequence(path: Path) -> bool:
    """Whether `path` names a CTC sequence; its image folder may be missing."""
    return any(beside(path, place).is_dir() for place in ("_ST", "_GT", "_RES"))


def looks_like_images(path: Path) -> bool:
    """Whether a folder is a sequence's images with no masks beside it."""
    return bool(re.fullmatch(r"\d\d", path.name)) and any(
        re.fullmatch(r"t\d{3,}\.tiff?", f.name) for f in path.iterdir()
    )


def frame_numbers(files: Sequence[Path]) -> Ints:
    """(T,) the number at the end of each file's name, ascending; some may be missing in between."""
    numbers = []
    for file in files:
        match = re.search(r"(\d+)$", file.stem)
        if match is None:
            raise MovieError(f"{file}: expected a frame number at the end of the name, as in mask007.tif")
        numbers.append(int(match.group(1)))
    if max(numbers, default=0) > MOST_FRAMES_OF_A_MOVIE:
        raise MovieError(f"{files[-1]}: frame {max(numbers)}; expected a number below {MOST_FRAMES_OF_A_MOVIE:,}")
    frames = np.array(numbers, dtype=np.int64)
    doubles = np.flatnonzero(np.diff(frames) < 1)
    if len(doubles):
        first, second = files[doubles[0]].name, files[doubles[0] + 1].name
        raise MovieError(f"{files[0].parent}: {second} follows {first}; there are two files for a frame")
    return frames


def read_truth(path: Path, movie: Movie) -> Truth:
    """Read a sequence's truth from `_GT/TRA`, check the table against the masks, and match it to the movie's detections."""
    folder = beside(path, "_GT/TRA")
    table = folder / "man_track.txt"
    if not table.is_file():
        raise TruthError(f"{table}: there is no such file; truth is read from {folder.parent.name}/TRA")
    return match_folder(folder, movie)


def truth_folder(path: Path) -> Path:
    """The `TRA` folder that is meant: itself, the one in `02_GT`, or that of the sequence `02`."""
    if (path / "man_track.txt").is_file():
        return path
    places = (path / "TRA", beside(path, "_GT/TRA"))
    return next((place for place in places if (place / "man_track.txt").is_file()), path)


def match_folder(folder: Path, movie: Movie, cells: Path | None = None) -> Truth:
    """Read the truth in a `TRA` folder, or the one that is meant, and match it to the movie's detections.

    Where its masks are markers, `cells` holds whole cells with the same labels, a mask per frame.
    """
    folder = truth_folder(folder)
    table = folder / "man_track.txt"
    if not table.is_file():
        raise TruthError(f"{folder}: expected man_track.txt and one mask per frame")
    markers, n_files = _frames_of(cells or folder, movie)
    complete = cells is None and n_files == len(movie)
    return match_truth(movie, read_table(table), markers, str(table), complete=complete)


def _frames_of(folder: Path, movie: Movie) -> tuple[ImageFiles, int]:
    """The files of a movie's frames in a folder of masks, and how many it has in all."""
    files = image_files(folder) if folder.is_dir() else []
    if not files:
        raise TruthError(f"{folder}: expected one mask per frame")
    by_number = dict(zip(frame_numbers(files).tolist(), files, strict=True))
    missing = [frame for frame in movie.frames.tolist() if frame not in by_number]
    if missing:
        raise TruthError(f"{folder}: has {len(files)} frames, and none for the movie's frame {missing[0]}")
    return ImageFiles([by_number[frame] for frame in movie.frames.tolist()]), len(files)


def read_table(path: Path) -> TrackTable:
    """Read a track table into its four columns, by ascending label."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an empty table is fine
            rows = np.loadtxt(path, dtype=np.int64, ndmin=2)
    except (ValueError, OverflowError, OSError) as error:
        raise TruthError(
            f"{path}: {' '.join(str(error).split())}; expected four whole numbers a row: label, first, last, parent"
        ) from None
    if rows.size == 0:
        rows = np.empty((0, 4), np.int64)
    if rows.shape[1] != 4:
        raise TruthError(f"{path}: {rows.shape[1]} columns; expected four: label, first, last, parent")
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    return TrackTable(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3])


def beside(path: Path, place: str) -> Path:
    """`X/01` and `_GT/TRA` → `X/01_GT/TRA`."""
    return path.parent / (path.name + place)


def write_mask(path: Path, labels: Any) -> None:
    """Write one label image."""
    import tifffile

    tifffile.imwrite(path, labels, photometric="minisblack", compression="zlib")


def write_table(path: Path, rows: Iterable[tuple[int, int, int, int]]) -> None:
    """Write a track table."""
    path.write_text("".join(f"{label} {first} {last} {mother}\n" for label, first, last, mother in rows))


def write_masks(folder: Path, movie: Movie) -> None:
    """Write a movie's masks as the challenge names a program's: `mask000.tif` and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    digits = max(3, len(str(len(movie) - 1)))
    for t in range(len(movie)):
        write_mask(folder / f"mask{t:0{digits}d}.tif", _small(movie.masks(t)))


def _small(masks: Any) -> Any:
    """Labels in the challenge's 16 bits."""
    if masks.max(initial=0) > MAX_LABEL:
        raise OutputError(f"more than {MAX_LABEL} tracks do not fit the challenge's 16-bit masks; write fewer frames")
    return masks.astype(np.uint16)


def write_sequence(images: Path, annotation: Path, movie: Movie, truth: Truth) -> None:
    """Write a movie's images, and its truth as `TRA` and `SEG` under `annotation`; the masks' labels must be the tracks."""
    import tifffile

    tracking, segmentation = annotation / "TRA", annotation / "SEG"
    for folder in (images, tracking, segmentation):
        folder.mkdir(parents=True)
    digits = max(3, len(str(len(movie) - 1)))
    for t in range(len(movie)):
        masks = _small(movie.masks(t))
        tifffile.imwrite(images / f"t{t:0{digits}d}.tif", movie.images(t), photometric="minisblack", compression="zlib")
        write_mask(tracking / f"man_track{t:0{digits}d}.tif", masks)
        write_mask(segmentation / f"man_seg{t:0{digits}d}.tif", masks)
    columns = (truth.track, truth.first, truth.last, truth.mother)
    write_table(tracking / "man_track.txt", zip(*(column.tolist() for column in columns), strict=True))
