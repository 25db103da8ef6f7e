"""A model to begin with, from the masks alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from dunno import _core
from dunno.segments.law_weights import Laws
from dunno.segments.laws.debris import Debris
from dunno.segments.laws.division import Division
from dunno.segments.laws.jolt import Jolt
from dunno.segments.laws.motion import Motion
from dunno.segments.laws.neck import Neck
from dunno.segments.laws.shape import Shape
from dunno.segments.laws.sharing import Sharing
from dunno.segments.laws.turnover import Turnover
from dunno.segments.segments import Segments
from dunno.types import Bools
from dunno.types.records import Size

LARGE_QUANTILE, LARGE_SHARE = 95, 0.1  # percent, share; judged
"""A usual area is the median of those above this share of a large one."""

NEAREST_SHARE = 0.8  # share; judged
"""Median squared distance of mutual nearest neighbours, over a step's variance and dimensions."""

LEAST_STEP, LEAST_AREA_SPREAD, MIDDLE = 0.3, 0.2, 0.12  # px², nats, roots; judged
"""Variance of a step in px²; spread of log areas; step of a division's middle in roots of the area."""


@dataclass(frozen=True)
class Scale:
    """What masks look like at first sight.

    Attributes:
        area: A usual area.
        root: Its d-th root.
        step: Variance of a step.
        crowd: Masks per frame.
    """

    area: Size
    root: Size
    step: Size
    crowd: Size


def scale_of(segments: Segments) -> Scale:
    """Of these masks."""
    areas = segments.area[: segments.n_masks]
    large = LARGE_SHARE * np.percentile(areas, LARGE_QUANTILE)
    area = float(np.median(areas[areas >= large]))
    root, away = area ** (1 / segments.dimensions), _nearest(segments)
    usual = float(np.median(away)) if len(away) else (MIDDLE * root) ** 2  # masks of frames that have no neighbours
    step = max(usual / (NEAREST_SHARE * segments.dimensions), LEAST_STEP)
    return Scale(area, root, step, segments.n_masks / segments.n_frames)


def _nearest(segments: Segments) -> np.ndarray:
    """Squared distances of masks that are each other's nearest in neighbouring frames."""
    frame = segments.frame[: segments.n_masks]
    begin = np.searchsorted(frame, np.arange(segments.n_frames + 1))
    found = [np.zeros(0)]
    for t in range(segments.n_frames - 1):
        early, late = (segments.place[begin[t + k] : begin[t + k + 1]] for k in (0, 1))
        if len(early) and len(late):
            distance, nearest = _core.nearest(late, early, 1)
            back = _core.nearest(early, late, 1)[1]
            found.append(distance[back[nearest] == np.arange(len(late))] ** 2)
    return np.concatenate(found)


def guess(segments: Segments, scale: Scale) -> Laws:
    """Priors, at the scale of these masks."""
    d, usual = segments.dimensions, log(scale.area)
    log_area = np.log(segments.area[: segments.n_masks])
    field = float(np.prod(segments.field))
    border = field - float(np.prod(np.maximum(segments.field - scale.root, 0.0)))
    return Laws(
        Motion.beforehand(scale.step, d),
        Shape.beforehand(segments, _are_usual(segments, usual)),
        Jolt(),
        Turnover.beforehand(scale.crowd, field, border, _usual_area(log_area, usual), usual),
        Division.beforehand(d, max(scale.step, (MIDDLE * scale.root) ** 2), scale.step),
        Debris.beforehand(d, scale.crowd, field, scale.step, usual),
        Sharing.beforehand(scale.crowd, field, usual),
        Neck(),
    )


def _usual_area(log_area: np.ndarray, usual: float) -> tuple[float, float]:
    cells = log_area[log_area > usual - log(3)]
    middle = float(np.median(cells))
    return middle, max(1.48 * float(np.median(np.abs(cells - middle))), LEAST_AREA_SPREAD)


def _are_usual(segments: Segments, usual: float) -> Bools:
    n = segments.n_masks
    return np.asarray(np.log(segments.area[:n]) > usual - 1)
