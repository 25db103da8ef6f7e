"""Masks are looked at before they are tracked: what is no segmentation is refused, what is odd is said, with the cure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dunno.errors import MovieError
from dunno.types import Detections, Movie

MANY_LABELS, MANY_PIECES, MOST_OF_THE_FIELD = 8, 3.0, 0.5
"""Raw images have many labels, each in many pieces, and cover most of the field."""
FEW_LABELS = 3
"""Binary masks and classes of pixels have at most as many."""
FRAMES_CHECKED = 3
FRAMES_LISTED = 6


@dataclass(frozen=True)
class MaskCheck:
    """What one frame's masks look like."""

    frame: int  # Its original index
    labels: tuple[int, ...]  # The first few of its labels
    n: int  # How many labels it has
    pieces: float  # Mean number of connected pieces of a label
    covered: float  # Share of the field that is covered
    median_pixels: float  # Median size of a mask, in pixels
    single: tuple[int, ...]  # Labels of masks of a single pixel
    scattered: tuple[int, ...]  # Labels whose pieces lie far apart


def look_at(cells: Detections, movie: Movie) -> MaskCheck | None:
    """Look at one frame's cells; `None` where they have no masks."""
    if cells.pieces is None:
        return None
    pixels = cells.area / np.prod(movie.scale)
    width = (cells.bbox[:, 1] - cells.bbox[:, 0]).max(axis=1, initial=0)
    diameter = 2 * np.sqrt(pixels / np.pi) if movie.n_dimensions == 2 else 2 * np.cbrt(3 * pixels / (4 * np.pi))
    scattered = (cells.pieces > 1) & (width > 3 * diameter)
    return MaskCheck(
        frame=cells.frame,
        labels=tuple(cells.label[: FEW_LABELS + 1].tolist()),
        n=len(cells),
        pieces=float(cells.pieces.mean()) if len(cells) else 0.0,
        covered=float(pixels.sum() / np.prod(movie.shape)),
        median_pixels=float(np.median(pixels)) if len(cells) else 0.0,
        single=tuple(cells.label[pixels < 1.5].tolist()),
        scattered=tuple(cells.label[scattered].tolist()),
    )


def refuse_what_is_no_mask(movie: Movie) -> None:
    """Look at a few frames, and refuse raw images and masks that do not tell cells apart; broken frames are passed over."""
    looks = []
    for t in np.unique(np.linspace(0, len(movie) - 1, FRAMES_CHECKED).round().astype(int)).tolist():
        try:
            look = look_at(movie.detections(t), movie)
        except MovieError:
            continue  # whoever needs the frame says what is wrong with it
        looks += [] if look is None else [look]
    problem = what_is_no_mask(looks)
    if problem is not None:
        raise MovieError(f"{movie.mask_source}: {problem}")


def what_is_no_mask(looks: Sequence[MaskCheck]) -> str | None:
    """Say why frames cannot be masks of cells, with the next step; `None` where they can."""
    raw = next((look for look in looks if _is_raw(look)), None)
    if raw is not None:
        return (
            f"frame {raw.frame} has {raw.n:,} labels in {raw.n * raw.pieces:,.0f} pieces, so this is an image, not masks; segment "
            "it first (Cellpose, StarDist, ilastik …), then give the masks, and this as --images"
        )
    full = [look for look in looks if look.n]
    same = len({look.labels for look in full}) == 1 and full[0].n <= FEW_LABELS
    if same and np.mean([look.pieces >= 2 for look in full]) >= 0.5:
        labels = ", ".join(map(str, full[0].labels))
        return (
            f"all masks have the label{'s' if full[0].n > 1 else ''} {labels}, in {full[0].n * full[0].pieces:.0f} pieces in frame "
            f"{full[0].frame}, so cells are not told apart; --label-components makes a cell of every connected piece"
        )
    return None


def _is_raw(look: MaskCheck) -> bool:
    speckled = look.covered > MOST_OF_THE_FIELD and look.median_pixels <= 2
    return look.n >= MANY_LABELS and (look.pieces > MANY_PIECES or speckled)


def what_is_odd(looks: Sequence[MaskCheck]) -> list[str]:
    """Lines on what is odd about the masks of a whole movie, each with its cure."""
    looks = sorted(looks, key=lambda look: look.frame)
    return [*_empty(looks), *_single(looks), *_scattered(looks)]


def _empty(looks: Sequence[MaskCheck]) -> list[str]:
    full = [look.frame for look in looks if look.n]
    empty = [look.frame for look in looks if not look.n]
    if not full:
        return ["no frame has masks; is it the right file?"]
    inside = [frame for frame in empty if full[0] < frame < full[-1]]
    lines = []
    if inside:
        them = "it" if len(inside) == 1 else "them"
        lines.append(
            f"{_frames(inside)} {'is' if len(inside) == 1 else 'are'} empty; method JP links across up to three such frames, the "
            f"others end all tracks there; segment {them} again, or, in a folder, take the file away"
        )
    outside = [frame for frame in empty if frame not in inside]
    if outside:
        lines.append(
            f"{_frames(outside)} at an end of the movie {'has' if len(outside) == 1 else 'have'} no masks; --frames leaves them out"
        )
    return lines


def _single(looks: Sequence[MaskCheck]) -> list[str]:
    single = [(look.frame, label) for look in looks for label in look.single]
    total = sum(look.n for look in looks)
    if not single:
        return []
    first = f"label {single[0][1]} in frame {single[0][0]}"
    few = "is a single pixel" if len(single) == 1 else "are single pixels"
    return [
        f"{len(single):,} of {total:,} masks {few} ({first}), and taken for cells; if they are dirt, remove them from the masks"
    ]


def _scattered(looks: Sequence[MaskCheck]) -> list[str]:
    scattered = [(look.frame, label) for look in looks for label in look.scattered]
    if not scattered:
        return []
    frame, label = scattered[0]
    others = f", and {len(scattered) - 1:,} more" if len(scattered) > 1 else ""
    return [
        f"label {label} in frame {frame} lies on distant pieces{others}; it is taken for one cell between them; "
        "--label-components makes a cell of every piece"
    ]


def _frames(frames: Sequence[int]) -> str:
    named = ", ".join(map(str, frames[:FRAMES_LISTED])) + (" …" if len(frames) > FRAMES_LISTED else "")
    return f"frame{'s' if len(frames) > 1 else ''} {named}"
