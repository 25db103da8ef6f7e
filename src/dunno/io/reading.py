"""One door for every kind of movie on disk: the readers in `readers/` are asked in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from dunno.errors import DunnoError, MovieError
from dunno.io import ctc
from dunno.io.axes import check_channel
from dunno.io.frame_tables import read_times, with_shifts
from dunno.io.images import TIFF, ImageFiles
from dunno.io.masking import Region
from dunno.io.pairing import images_beside, lone_stack, masks_beside, number_files
from dunno.io.readers import HasFrames, JoinsMasks, Reader, ReadingOptions, Scale, readers
from dunno.io.spacing import in_words, read_spacing
from dunno.types import Frames, Movie, Truth
from dunno.types.movie import count_frames, frame_shape

FrameRange = tuple[int | None, int | None]


@overload
def read(
    path: str | Path,
    truth: Literal[False] = False,
    masks: str | Path | None = None,
    scale: Scale = None,
    interval: float | None = None,
    *,
    images: str | Path | None = None,
    axes: str | None = None,
    channel: int | None = None,
    label_components: bool = False,
    frames: FrameRange | None = None,
    region: Region | None = None,
    times: str | Path | Sequence[float] | None = None,
    shifts: str | Path | Sequence[Sequence[float]] | None = None,
) -> Movie: ...
@overload
def read(
    path: str | Path,
    truth: Literal[True],
    masks: str | Path | None = None,
    scale: Scale = None,
    interval: float | None = None,
    *,
    images: str | Path | None = None,
    axes: str | None = None,
    channel: int | None = None,
    label_components: bool = False,
    frames: FrameRange | None = None,
    region: Region | None = None,
    times: str | Path | Sequence[float] | None = None,
    shifts: str | Path | Sequence[Sequence[float]] | None = None,
) -> tuple[Movie, Truth]: ...
def read(
    path: str | Path,
    truth: bool = False,
    masks: str | Path | None = None,
    scale: Scale = None,
    interval: float | None = None,
    *,
    images: str | Path | None = None,
    axes: str | None = None,
    channel: int | None = None,
    label_components: bool = False,
    frames: FrameRange | None = None,
    region: Region | None = None,
    times: str | Path | Sequence[float] | None = None,
    shifts: str | Path | Sequence[Sequence[float]] | None = None,
) -> Movie | tuple[Movie, Truth]:
    """Read a movie in any of the forms that docs/input.md lists.

    Frames are read when they are needed. What was found out on the way is in the movie's `notes`.

    Args:
        path: A sequence such as `Fluo-N2DL-HeLa/01`, a folder, a `.tif`, a `.npy`, a `.zarr` and so on.
        truth: Also read the annotation (CTC's `_GT/TRA`), and check it.
        masks: Where the masks are, if not where they are looked for; `path` then holds the images, if it exists.
        scale: Size of a pixel along each axis, in micrometres; distances are then in micrometres too.
        interval: Minutes between frames.
        images: Where the images are, if not where they are looked for.
        axes: What the axes of an array are, such as `TZYX`; overrules what the file says.
        channel: Which channel to look at, where there are several.
        label_components: Make every connected piece of a mask a cell of its own.
        frames: The first frame and one past the last, by their own numbers; either may be `None`.
        times: When each frame was taken, in minutes, or a file that says so (a line for each frame of the whole movie).
        shifts: The pixels that put each frame on the first one, as registration finds them, or a table that says so.
        region: The first pixel and one past the last along each axis; masks outside are not looked at.

    Returns:
        The movie, or the movie and its truth.
    """
    path = Path(path)
    sides = None if region is None else tuple((int(low), int(high)) for low, high in region)
    options = ReadingOptions(scale, interval, axes, channel, label_components, sides)
    movie = _read_movie(path, options) if masks is None else _read_with_masks(path, Path(masks), options)
    movie = _with_images(movie, Path(images), options) if images is not None else movie
    movie = _with_spacing_of_images(movie, options)
    check_channel(options, *movie.sources)
    movie.path = str(path.absolute())
    movie.masks_path = movie.masks_path if masks is None else str(Path(masks).absolute())
    movie.opened_with = _opened_with(options, images)
    movie = movie if times is None else _with_times(movie, times)
    movie = movie if shifts is None else with_shifts(movie, shifts)
    movie = movie if frames is None else take_frames(movie, *frames)
    if not truth:
        return movie
    return movie, ctc.read_truth(path, movie)


def _with_times(movie: Movie, times: str | Path | Sequence[float]) -> Movie:
    timed = movie.with_times(read_times(times) if isinstance(times, str | Path) else times)
    steps = np.diff(timed.times) if timed.times is not None else np.empty(0)
    if timed.clock is None:
        return timed
    longest = f"steps of {steps.min():g} to {steps.max():g} minutes, usually {timed.interval:g}"
    return _noted(timed, f"{longest}; motion and rates are by time")


def _opened_with(options: ReadingOptions, images: str | Path | None) -> dict[str, Any]:
    """What the user said beyond paths, scale and interval, as `run.json` keeps it."""
    given = asdict(options)
    told = {each.name: given[each.name] for each in fields(options) if given[each.name] != each.default}
    told |= {} if images is None else {"images": str(Path(images).absolute())}
    return {name: value for name, value in told.items() if name not in ("scale", "interval")}


def take_frames(movie: Movie, first: int | None, end: int | None) -> Movie:
    """Some of a movie's frames, by their own numbers: from `first` up to, but not including, `end`."""
    begin, stop = movie.frames[0] if first is None else first, movie.frames[-1] + 1 if end is None else end
    positions = np.flatnonzero((movie.frames >= begin) & (movie.frames < stop))
    if len(positions) == 0:
        raise MovieError(
            f"{movie.name}: has no frames from {begin} up to {stop}; its frames are {movie.frames[0]} to {movie.frames[-1]}"
        )
    view = movie.part(slice(int(positions[0]), int(positions[-1]) + 1))
    told = f"frames {view.frames[0]} to {view.frames[-1]} of {movie.frames[0]} to {movie.frames[-1]}"
    view.notes = (*movie.notes, told)
    return view


def _reader_of(path: Path) -> Reader:
    reader = next((reader for reader in readers() if reader.accepts(path)), None)
    if reader is None:
        raise _refusal(path, [each.form for each in readers()])
    return reader


def _read_movie(path: Path, options: ReadingOptions) -> Movie:
    """Read what is there; of masks and images that lie side by side under clear names, both."""
    reader = _reader_of(path)
    stack = lone_stack(path) if reader.name == "folder" else None
    if stack is not None:
        return _noted(_read_movie(stack, options), f"{stack.name} is the one file of masks in {path}")
    masks = masks_beside(path) if isinstance(reader, HasFrames) and reader.name != "cellpose" else None
    if masks is not None:
        movie = _read_with_masks(path, masks, options)
        movie.notes = (f"{path} is taken for the images of {masks}, as its name says", *movie.notes)
        movie.masks_path = str(masks.absolute())
        return movie
    movie = reader.read(path, options)
    movie.form = reader.form
    return movie if movie.has_images else _with_neighbours(movie, path, options)


def _with_neighbours(movie: Movie, path: Path, options: ReadingOptions) -> Movie:
    """The movie with the images that lie beside its masks, where that is clear and they fit."""
    images = images_beside(path)
    if images is None:
        return movie
    try:
        found = _images_of(movie, images, options)
        count, shape = count_frames(found), frame_shape(found)
    except DunnoError as error:
        return _noted(movie, f"{images} could be the images, but is not used: {error}")
    if (count, shape) != (len(movie), movie.shape):
        told = f"{images} could be the images, but has {count} frames of {shape}, not {len(movie)} of {movie.shape}"
        return _noted(movie, f"{told}; it is not used")
    return _noted(movie.with_images(found), f"images are taken from {images}, beside the masks")


def _with_spacing_of_images(movie: Movie, options: ReadingOptions) -> Movie:
    """The movie with the sizes that its images know where its masks do not: segmentation programs often drop them."""
    images = movie.sources[1]
    path = Path(images.where(0)) if isinstance(images, ImageFiles) else getattr(images, "path", None)
    if path is None or path.suffix.lower() not in TIFF or (movie.has_scale and movie.interval is not None):
        return movie
    spacing = read_spacing(path)
    scale = None if movie.has_scale else spacing.scale(movie.n_dimensions)
    interval = spacing.interval if movie.interval is None else None
    if scale is None and interval is None:
        return movie
    movie = _noted(movie, f"{in_words(scale or (), interval, scale is not None)}, from the images")
    movie.scale, movie.has_scale = scale or movie.scale, movie.has_scale or scale is not None
    movie.interval = movie.interval if interval is None else interval
    return movie


def _noted(movie: Movie, line: str) -> Movie:
    movie.notes = (line, *movie.notes)
    return movie


def _with_images(movie: Movie, images: Path, options: ReadingOptions) -> Movie:
    if not images.exists() and not any(reader.accepts(images) for reader in readers()):
        raise MovieError(f"{images}: there is no such file or folder; --images says where the images are")
    movie.notes = tuple(line for line in movie.notes if not line.startswith("images are "))  # those found are not used
    return _noted(movie.with_images(_images_of(movie, images, options)), f"images from {images}")


def _images_of(movie: Movie, images: Path, options: ReadingOptions) -> Frames:
    """The images of a movie's frames: of numbered files those with its numbers, where it has them all."""
    found = read_frames(images, options.for_images())
    if not isinstance(found, ImageFiles) or len(found) == len(movie):
        return found
    files = [Path(found.where(t)) for t in range(len(found))]
    numbers = number_files(files)
    if numbers is None or not np.isin(movie.frames, numbers).all():
        return found
    return ImageFiles([files[row] for row in np.searchsorted(numbers, movie.frames)])


def _read_with_masks(path: Path, masks: Path, options: ReadingOptions) -> Movie:
    if not masks.exists() and not any(reader.accepts(masks) for reader in readers()):
        raise MovieError(f"{masks}: there is no such file or folder; --masks says where the masks are")
    for reader in readers():
        if isinstance(reader, JoinsMasks) and (movie := reader.join(path, masks, options)) is not None:
            movie.form = reader.form
            return movie
    movie = _source_of(masks).read(masks, options)
    movie.name, movie.mask_source, movie.form = path.stem, str(masks), _source_of(masks).form
    if not path.exists() or path.resolve() == masks.resolve():
        return movie
    return movie.with_images(_images_of(movie, path, options))


def read_frames(path: Path, options: ReadingOptions | None = None) -> Frames:
    """The frames of a folder, stack or zarr, whatever they show."""
    return _source_of(path).frames(path, options or ReadingOptions())


def _source_of(path: Path) -> HasFrames:
    sources = [reader for reader in readers() if isinstance(reader, HasFrames)]
    source = next((source for source in sources if source.accepts(path)), None)
    if source is None:
        raise _refusal(path, [source.form for source in sources])
    return source


def _refusal(path: Path, forms: list[str]) -> MovieError:
    """Nobody reads this: say what came and what is read."""
    if not path.exists():
        return MovieError(f"{path}: there is no such file or folder")
    kind = path.suffix or "this kind of file"
    return MovieError(f"{path}: cannot read {kind}; expected {', '.join(forms[:-1])} or {forms[-1]}")
