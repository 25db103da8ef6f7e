"""The masks of a frame as they are repaired."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from dunno.segments.regions import UNCUT, cut_masks
from dunno.types.arrays import Floats, Ints
from dunno.types.detections import Detections
from dunno.types.labels import LabelImage

SIXTEEN_BITS = 65_535  # label; exact
"""The largest label of the files that most programs write."""


class Drawn(NamedTuple):
    """The chosen segments of masks that change; what is not listed of these masks is left out.

    Attributes:
        row: (D,) of the mask.
        number: (D,) of the part as in `Parts`, or `UNCUT`.
        label: (D,) what is drawn; 0: nothing. Segments of the same label become one.
    """

    row: Ints
    number: Ints
    label: Ints


def draw(
    labels: LabelImage,
    cells: Detections,
    scale: Floats,
    drawn: Drawn,
    filled: Mapping[int, Ints] = MappingProxyType({}),
) -> LabelImage:
    """The masks as they are repaired; those that are not listed keep their labels.

    Args:
        labels: The frame's masks.
        cells: The masks, measured.
        scale: (d,) sides of a pixel.
        drawn: What becomes of the masks that change.
        filled: By label, (P, d) pixels of cells without a mask; they take what is free of it.
    """
    highest = max([*drawn.label.tolist(), *filled, 0])
    repaired = labels.astype(labels.dtype if highest <= np.iinfo(labels.dtype).max else np.min_scalar_type(highest))
    rows = np.unique(drawn.row[drawn.number != UNCUT])
    cuts = cut_masks(labels, None, rows, 2 + np.isin(rows, drawn.row[drawn.number > 1]).astype(np.int64), scale)
    parts = zip(cuts.row.tolist(), cuts.number.tolist(), strict=True)
    region = {part: len(cells) + 1 + i for i, part in enumerate(parts)}
    region.update({(row, UNCUT): row + 1 for row in set(drawn.row.tolist()) - set(rows.tolist())})
    for row in np.unique(drawn.row).tolist():
        _paint(repaired, labels, cells.bbox[row], cells.label[row], 0)
    for row, number, label in zip(*(column.tolist() for column in drawn), strict=True):
        _paint(repaired, cuts.image, cells.bbox[row], region[row, number], label)
    for label, pixels in filled.items():
        draw_over_background(repaired, pixels, label)
    return repaired


def draw_over_background(image: LabelImage, pixels: Ints, label: int) -> None:
    """Give a label to those of the pixels that are free; to the free pixel nearest to their middle where none is."""
    inside = ((pixels >= 0) & (pixels < image.shape)).all(axis=1)
    free = pixels[inside][image[tuple(pixels[inside].T)] == 0]
    if not len(free):
        everywhere = np.argwhere(image == 0)
        free = everywhere[np.argsort(((everywhere - pixels.mean(axis=0)) ** 2).sum(axis=1), kind="stable")[:1]]
    image[tuple(free.T)] = label


def _paint(image: LabelImage, regions: LabelImage, box: Ints, region: int, label: int) -> None:
    """Give a region's pixels, which lie in a box, a label."""
    inside = tuple(slice(low, high) for low, high in zip(*box.tolist(), strict=True))
    image[inside][regions[inside] == region] = label


def spare_labels(used: Ints, n: int) -> Ints:
    """Labels that are not in use: those after the largest one, or free ones below where 16 bits would not hold them.

    Example:
        >>> spare_labels(np.array([1, 2, 7]), 2)
        array([8, 9])
        >>> spare_labels(np.array([1, 2, 65535]), 2)
        array([3, 4])
    """
    top = int(used.max(initial=0))
    if top <= SIXTEEN_BITS < top + n:
        free = np.setdiff1d(np.arange(1, SIXTEEN_BITS + 1), used)[:n]
        if len(free) == n:
            return free
    return np.arange(top + 1, top + n + 1)
