"""Masks, and what they are cut into."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dunno import _core
from dunno.types.arrays import Floats, Ints
from dunno.types.labels import LabelImage, as_volume
from dunno.types.measurements import to_cells

UNCUT = -1  # number; exact
"""The number of a mask that is not cut."""

LIGHT_OF_PARTS = ("total", "brightness", "texture")


class Cuts(NamedTuple):
    """Some masks of a frame, cut.

    Attributes:
        apart: (n, d) from one half's centroid to the other's, physical.
        ratio: (n,) log ratio of the halves' areas.
        neck: (n,) what the neck is worth, in pixels along their shortest side.
        row: (P,) the mask that each part is of: first the two of every mask, then the two of larger parts.
        number: (P,) 0 and 1 of a mask, 2 and 3 of its larger part.
        columns: What is measured of the parts: columns of `Detections`.
        image: The masks numbered from 1 on in place of their labels, and over them the parts from there on.
    """

    apart: Floats
    ratio: Floats
    neck: Floats
    row: Ints
    number: Ints
    columns: dict[str, Any]
    image: NDArray[np.int32]


def cut_masks(labels: LabelImage, light: NDArray[Any] | None, rows: Ints, into: Ints, scale: Floats) -> Cuts:
    """Cut masks in halves, in two parts, and in three.

    Args:
        labels: The frame's masks.
        light: Its image, as the core takes it.
        rows: (n,) those that are looked at, by ascending label.
        into: (n,) 1, 2 or 3.
        scale: (d,) sides of a pixel.
    """
    apart, ratio, neck, cut, two, again, more, image = _core.cut_masks(
        as_volume(labels), light, rows, into, three_axes(scale)
    )
    d = labels.ndim
    measured = [to_cells(columns, d, light is not None) for columns in (two, more)]
    parts = [each.scaled(scale) for each in measured]
    for columns, each in zip(parts, measured, strict=True):
        if each.light is not None:
            columns.update({name: getattr(each.light, name) for name in LIGHT_OF_PARTS})
    row = np.repeat(rows[np.concatenate([cut, again])], 2)
    number = np.concatenate([np.tile([0, 1], len(cut)), np.tile([2, 3], len(again))])
    joined = {name: np.concatenate([columns[name] for columns in parts]) for name in parts[0]}
    return Cuts(apart.reshape(-1, 3)[:, 3 - d :], ratio, neck, row, number, joined, image.reshape(labels.shape))


def three_axes(scale: Floats) -> Floats:
    """(3,) with the z axis that 2D has not."""
    return np.concatenate([np.ones(3 - len(scale)), scale])
