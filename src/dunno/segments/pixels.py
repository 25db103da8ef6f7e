"""Segments of one frame by its pixels: masks cut in parts, joined with neighbours, and drawn again.

    cut(labels, image, cells, rows, into, scale) -> Parts
    unite(labels, cells, scale) -> Unions
    drawing.draw(labels, cells, scale, drawn, filled) -> labels
    drawing.spare_labels(used, n) -> (n,) labels

A label image is (Y, X) or (Z, Y, X). `cells` are all masks of the frame as `Movie.detections` measures them; rows are theirs.
What is measured of a part or a union has the columns of `Detections`, physical: segments and masks can be rows of one table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dunno import _core
from dunno.segments.regions import LIGHT_OF_PARTS, cut_masks, three_axes
from dunno.types.arrays import Bools, Floats, Ints
from dunno.types.detections import Detections
from dunno.types.labels import LabelImage, as_volume
from dunno.types.measurements import plain_volume

REACH = 3.0  # pixels; judged
"""Masks nearly touch whose nearest pixels' centres are no more than so many pixels apart, or are neighbours along an axis."""


class Parts(NamedTuple):
    """Masks in halves and in parts.

    Two-means of a mask's pixels gives its halves a and b, whatever it holds; a begins on the side of larger x (else y, else z)
    along its long axis. Its parts are what lies on either side of its neck, by a watershed of the distance to its outline, and
    where it has no neck its halves; part 0 lies on the side of larger x.

    Attributes:
        apart: (n, d) of each mask asked, u = (c_a - c_b) / A^(1/d), where c are the halves' centroids.
        ratio: (n,) q = log(A_a / A_b).
        neck: (n,) how clearly a mask parts at its neck: how much deeper than there the shallower summit lies, times the root of the
            share of the mask beyond the neck, over A^(1/d). 0 where there is one summit, or the mask is nearly an ellipse; NaN
            where parts were not asked for.
        row: (P,) of each part, the row of its mask.
        number: (P,) 0 and 1 are the two of a mask, 2 and 3 the two of the larger one of these. So a mask is 0 and 1, or the smaller
            one of these with 2 and 3. A mask of one pixel has no parts.
        cells: (P,) what is measured, by row and number; `label` is that of the mask.
    """

    apart: Floats
    ratio: Floats
    neck: Floats
    row: Ints
    number: Ints
    cells: Detections


class Unions(NamedTuple):
    """Masks that touch or nearly do, two taken together.

    Attributes:
        first: (U,) rows.
        second: (U,) rows; `first` < `second`.
        distance: (U,) between the nearest pixels' centres, physical.
        cells: (U,) what is measured; `label` is that of the first mask. `touching` and `pieces` are not.
    """

    first: Ints
    second: Ints
    distance: Floats
    cells: Detections

    def only(self, kept: Bools) -> Unions:
        """Some of them."""
        return Unions(self.first[kept], self.second[kept], self.distance[kept], self.cells.only(kept))


def cut(
    labels: LabelImage, image: NDArray[Any] | None, cells: Detections, rows: Ints, into: Ints, scale: Floats
) -> Parts:
    """Cut masks in halves, in their two parts, and in three.

    Args:
        labels: The frame's masks.
        image: Of the same shape; `None` where there is none, or it cannot be read.
        cells: The masks, measured.
        rows: (n,) those that are looked at, ascending.
        into: (n,) 1: its halves only; 2: its two parts; 3: its three, too.
        scale: (d,) sides of a pixel.
    """
    light = None if image is None else plain_volume(image)
    found = cut_masks(labels, light, rows, into, scale)
    order = np.lexsort((found.number, found.row))
    row = found.row[order]
    columns: dict[str, Any] = {name: column[order] for name, column in found.columns.items()}
    columns["label"] = cells.label[row]
    if cells.total is not None and image is None:
        columns.update(dict.fromkeys(LIGHT_OF_PARTS, np.full(len(row), np.nan)))
    length = cells.area[rows] ** (1 / len(scale))
    parts = Detections(**columns, frame=cells.frame, time=cells.time)
    neck = found.neck * scale.min() / length
    return Parts(found.apart / length[:, None], found.ratio, neck, row, found.number[order], parts)


def unite(labels: LabelImage, cells: Detections, scale: Floats) -> Unions:
    """Masks that touch or nearly do, every two of them.

    Args:
        labels: The frame's masks.
        cells: The masks, measured.
        scale: (d,) sides of a pixel.
    """
    reach = max(REACH * scale.min(), scale.max())
    pairs = _core.near_masks(as_volume(labels), reach, three_axes(scale))
    order = np.lexsort(pairs[1::-1])
    first, second, distance = (column[order] for column in pairs)
    return Unions(first, second, distance, _together(cells, first, second, float(np.prod(scale))))


def _together(cells: Detections, first: Ints, second: Ints, pixel: float) -> Detections:
    """Pairs of cells as one; sums over their pixels add."""
    assert cells.covariance is not None
    area = cells.area[first] + cells.area[second]
    one, other = cells.area[first] / area, cells.area[second] / area

    def mixed(column: Any) -> Any:
        shape = (-1, *(1,) * (column.ndim - 1))
        return one.reshape(shape) * column[first] + other.reshape(shape) * column[second]

    away = cells.centroid[first] - cells.centroid[second]
    spread = mixed(cells.covariance) + (one * other)[:, None, None] * away[:, :, None] * away[:, None, :]
    low, high = (
        np.minimum(cells.bbox[first, 0], cells.bbox[second, 0]),
        np.maximum(cells.bbox[first, 1], cells.bbox[second, 1]),
    )
    light: dict[str, Any] = {}
    if cells.total is not None and cells.brightness is not None and cells.texture is not None:
        contrast = cells.brightness[first] - cells.brightness[second]
        light["total"] = cells.total[first] + cells.total[second]
        light["brightness"] = light["total"] / (area / pixel)
        light["texture"] = np.sqrt(mixed(cells.texture**2) + one * other * contrast**2)
    return Detections(
        cells.label[first], mixed(cells.centroid), area, np.stack([low, high], axis=1), frame=cells.frame, time=cells.time,
        covariance=spread, **light,
    )  # fmt: skip
