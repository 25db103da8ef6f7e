"""Masks that are looked at in another way: every connected piece a cell, or some of the field only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.types.labels import as_labels
from dunno.types.movie import Frames, count_frames, frame_shape, where_is

Region = tuple[tuple[int, int], ...]
"""The first pixel and one past the last, along each axis."""


def parse_region(text: str) -> Region:
    """Read `y0:y1,x0:x1`, or `z0:z1,y0:y1,x0:x1`.

    Example:
        >>> parse_region("100:200,0:50")
        ((100, 200), (0, 50))
    """
    parts = [re.fullmatch(r"\s*(\d+):(\d+)\s*", part) for part in text.split(",")]
    sides = [(int(part[1]), int(part[2])) for part in parts if part is not None]
    if len(sides) != len(parts) or len(sides) not in (2, 3) or any(low >= high for low, high in sides):
        raise MovieError(f"--region {text}: expected y0:y1,x0:x1 in pixels (in volumes also z0:z1 first)")
    return tuple(sides)


@dataclass(frozen=True)
class SeenAnew:
    """Masks that are looked at in another way, with all else that is known of them."""

    masks: Frames

    def __len__(self) -> int:
        return count_frames(self.masks)

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """Size of a whole frame."""
        return frame_shape(self.masks)

    @property
    def layout(self) -> Any:
        """That of the masks, where they have one."""
        return getattr(self.masks, "layout", None)

    def where(self, t: int) -> str:
        """Frame t's file."""
        return where_is(self.masks, t)


@dataclass(frozen=True)
class Components(SeenAnew):
    """Masks in which every connected piece of a label is a cell of its own, numbered from 1."""

    def __getitem__(self, t: int) -> NDArray[Any]:
        image = np.asarray(self.masks[t])
        return label_components(image if image.dtype == np.bool_ else as_labels(image, self.where(t)))


def label_components(image: NDArray[Any]) -> NDArray[np.int32]:
    """Number the connected pieces of every label; pixels that share a side or a corner belong together.

    Example:
        >>> label_components(np.array([[1, 1, 0, 1], [0, 0, 0, 1], [2, 0, 0, 0]]))
        array([[1, 1, 0, 2],
               [0, 0, 0, 2],
               [3, 0, 0, 0]], dtype=int32)
    """
    from scipy import ndimage

    around = np.ones((3,) * image.ndim)
    labels = np.unique(image[image != 0])
    if len(labels) <= 1:
        return np.asarray(ndimage.label(image != 0, around)[0], np.int32)
    numbers = np.searchsorted(labels, image).astype(np.int32) + 1
    numbers[image == 0] = 0
    pieces, n = np.zeros(image.shape, np.int32), 0
    for number, box in enumerate(ndimage.find_objects(numbers), 1):
        inside, found = ndimage.label(numbers[box] == number, around)
        pieces[box] += np.where(inside > 0, inside + n, 0).astype(np.int32)
        n += found
    return pieces


@dataclass(frozen=True)
class Within(SeenAnew):
    """Masks of which only a box is looked at; places stay those of the whole field."""

    region: Region

    def __post_init__(self) -> None:
        shape = self.frame_shape
        if len(self.region) != len(shape):
            raise MovieError(f"--region has {len(self.region)} sides, but frames have {len(shape)} axes: {shape}")
        if any(low >= size for (low, _), size in zip(self.region, shape, strict=True)):
            raise MovieError(f"--region begins outside the frames, which have the shape {shape}")

    def __getitem__(self, t: int) -> NDArray[Any]:
        frame = np.asarray(self.masks[t])
        kept, box = np.zeros_like(frame), tuple(slice(low, high) for low, high in self.region)
        kept[box] = frame[box]
        return kept
