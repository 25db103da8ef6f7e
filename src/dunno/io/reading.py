"""One door for every kind of movie on disk: the readers in `readers/` are asked in turn."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, overload

from dunno.errors import MovieError
from dunno.io import ctc
from dunno.io.readers import HasFrames, JoinsMasks, Options, Scale, readers
from dunno.types import Frames, Movie, Truth


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
    path, options = Path(path), Options(scale, interval)
    movie = _read_movie(path, options) if masks is None else _read_with_masks(path, Path(masks), options)
    movie.path = str(path.absolute())
    movie.masks_path = None if masks is None else str(Path(masks).absolute())
    if not truth:
        return movie
    return movie, ctc.read_truth(path, movie)


def _read_movie(path: Path, options: Options) -> Movie:
    reader = next((reader for reader in readers() if reader.accepts(path)), None)
    if reader is None:
        raise _refusal(path, [each.form for each in readers()])
    return reader.read(path, options)


def _read_with_masks(path: Path, masks: Path, options: Options) -> Movie:
    if not masks.exists():
        raise MovieError(f"{masks}: there is no such file or folder; --masks says where the masks are")
    for reader in readers():
        if isinstance(reader, JoinsMasks) and (movie := reader.join(path, masks, options)) is not None:
            return movie
    frames = read_frames(masks)
    images = read_frames(path) if path.exists() and path.resolve() != masks.resolve() else None
    return options.movie(frames, images, name=path.stem, mask_source=str(masks))


def read_frames(path: Path) -> Frames:
    """The frames of a folder, stack or zarr, whatever they show."""
    sources = [reader for reader in readers() if isinstance(reader, HasFrames)]
    source = next((source for source in sources if source.accepts(path)), None)
    if source is None:
        raise _refusal(path, [source.form for source in sources])
    return source.frames(path)


def _refusal(path: Path, forms: list[str]) -> MovieError:
    """Nobody reads this: say what came and what is read."""
    if not path.exists():
        return MovieError(f"{path}: there is no such file or folder")
    kind = path.suffix or "this kind of file"
    return MovieError(f"{path}: cannot read {kind}; expected {', '.join(forms[:-1])} or {forms[-1]}")
