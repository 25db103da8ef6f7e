"""Points matched to the detections they lie on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from dunno.errors import DunnoWarning
from dunno.io.joining import rows_by_frame
from dunno.types import Detections, Floats, Ints, Movie
from dunno.types.links import GivenLinks
from dunno.types.neighbours import nearest

SHARE_ON_CELLS = 0.5
"""Share of points that lie on cells where their unit is right."""

Matched = tuple[Ints, tuple[str, ...]]
"""(N,) the label of the detection that each point stands for, 0 where there is none; and why there is none, in words."""

TURNED = {2: [1, 0], 3: [0, 2, 1]}


def rows_with(names: Ints, wanted: Ints) -> Ints:
    """The row of each wanted name; -1 where there is none."""
    if not len(names):
        return np.full(len(wanted), -1)
    order = np.argsort(names, kind="stable")
    place = np.minimum(np.searchsorted(names[order], wanted), len(names) - 1)
    return np.where(names[order][place] == wanted, order[place], -1)


def links_between(
    frame: Ints,
    label: Ints,
    first: Ints,
    second: Ints,
    problems: Sequence[str],
    *,
    matched: bool,
    directed: bool = True,
) -> GivenLinks:
    """Links between rows, those of rows without a detection left out; row -1 is none of them.

    Where they are not `directed`, the row in the earlier frame is the mother.
    """
    frame, label = np.append(frame, 0), np.append(label, 0)
    known = (label[first] > 0) & (label[second] > 0)
    first, second = first[known], second[known]
    if not directed:
        swap = (frame[first] > frame[second]) | ((frame[first] == frame[second]) & (label[first] > label[second]))
        first, second = np.where(swap, second, first), np.where(swap, first, second)
    return GivenLinks(frame[first], label[first], frame[second], label[second], tuple(problems), are_detections=matched)


def match_spots(ids: Ints, frame: Ints, place: Floats, movie: Movie) -> Matched:
    """Match points to the detections they lie on, or whose centre is within a cell's radius; each detection has one spot."""
    label, problems = np.zeros(len(ids), np.int64), []
    has_place = np.asarray(np.isfinite(place).all(axis=1))
    problems += [f"spot {each}: has no place, or one that is not finite" for each in ids[~has_place].tolist()]
    for t, rows in rows_by_frame(frame, movie):
        rows = rows[has_place[rows]]
        under = _cells_under(movie.detections(t), place[rows], movie)
        is_first = np.zeros(len(rows), np.bool_)
        is_first[np.unique(under, return_index=True)[1]] = True
        label[rows[is_first]] = under[is_first]
        for i in np.flatnonzero((under == 0) | ~is_first).tolist():
            why = "lies on no cell" if under[i] == 0 else f"lies on cell {under[i]}, which has a spot already"
            problems.append(f"spot {ids[rows[i]]} in frame {frame[rows[i]]}: {why}")
    outside = int((~np.isin(frame, movie.frames)).sum())
    if outside:
        problems.append(f"{outside} spots lie in frames that the movie does not have")
    return label, tuple(problems)


def match_in_either_unit(
    ids: Ints, frame: Ints, place: Floats, movie: Movie, where: str, *, in_pixels: bool
) -> Matched:
    """Match points whose file does not say whether it means pixels or micrometres: the other unit is tried where most fail."""
    scale = np.asarray(movie.scale)
    expected, other = (place * scale, place) if in_pixels else (place, place * scale)
    found = match_spots(ids, frame, expected, movie)
    if np.mean(found[0] > 0) >= SHARE_ON_CELLS:
        return found
    _warn_if_exchanged(ids, frame, place[:, TURNED[place.shape[1]]] * (scale if in_pixels else 1), movie, where)
    others = match_spots(ids, frame, other, movie) if movie.has_scale else found
    if (others[0] > 0).sum() <= (found[0] > 0).sum():
        return found
    unit, unexpected = ("µm", "pixels") if in_pixels else ("pixels", "µm")
    warnings.warn(
        f"{where}: its places fit the masks in {unit}, not in {unexpected}, and are taken so",
        DunnoWarning,
        stacklevel=4,
    )
    return others


def _warn_if_exchanged(ids: Ints, frame: Ints, turned: Floats, movie: Movie, where: str) -> None:
    """Say where places would lie on cells if y and x were exchanged."""
    n = int((match_spots(ids, frame, turned, movie)[0] > 0).sum())
    if n >= SHARE_ON_CELLS * max(len(ids), 1):
        warnings.warn(
            f"{where}: most of its places lie on no mask, and with y and x exchanged {n:,} of {len(ids):,} do; "
            "exchange the columns",
            DunnoWarning,
            stacklevel=5,
        )


def _cells_under(cells: Detections, place: Floats, movie: Movie) -> Ints:
    """(N,) the label at each place, or of the cell whose radius reaches there, or 0."""
    if not movie.has_masks:
        return _nearest(cells, place)
    with np.errstate(over="ignore"):
        pixel = np.floor(place / np.asarray(movie.scale) + 0.5).clip(0, np.asarray(movie.shape) - 1).astype(np.int64)
    under: Ints = cells.masks[tuple(pixel.T)].astype(np.int64)
    beside = np.flatnonzero(under == 0)
    under[beside] = _nearest(cells, place[beside])
    return under


def _nearest(cells: Detections, place: Floats) -> Ints:
    """(N,) the label of the cell whose centre is nearest to each place, if that is within its radius, else 0."""
    if len(cells) == 0 or len(place) == 0:
        return np.zeros(len(place), np.int64)
    distance, index = (each[:, 0] for each in nearest(place, cells.centroid, 1))
    return np.where(distance <= cells.diameter[index] / 2, cells.label[index], 0).astype(np.int64)
