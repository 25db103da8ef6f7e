"""What the network sees of a cell: where it is, how large and bright it is, its shape, and whether it is at the border."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.types import Detections
from dunno.types.labels import LabelImage

Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Tokens:
    """One frame's cells.

    Attributes:
        place: (n, d) centres, in pixels.
        features: (n, q) diameter, mean intensity, the inertia tensor row by row, closeness to the border.
    """

    place: Singles
    features: Singles

    def __len__(self) -> int:
        return len(self.place)


def tokens_of(cells: Detections, scale: Sequence[float], n_dimensions: int, uses_images: bool) -> Tokens:
    """A frame's tokens; what needs its pixels is computed once and kept with them.

    Args:
        cells: The frame's detections.
        scale: Size of a pixel along each axis.
        n_dimensions: The model's; a 2D movie is one slice to a model for 3D.
        uses_images: Whether the model wants intensities.
    """
    own = cells.centroid.shape[1]
    if own > n_dimensions:
        raise MovieError(f"frame {cells.frame}: a 3D movie, but the model is for 2D; train or choose one for 3D")
    place = (cells.centroid / np.asarray(scale)).astype(np.float32)
    place = np.pad(place, ((0, 0), (n_dimensions - own, 0)))
    features = cells.once(("tokens", n_dimensions, uses_images), lambda: _features(cells, n_dimensions, uses_images))
    return Tokens(place, features)


def _features(cells: Detections, n_dimensions: int, uses_images: bool) -> Singles:
    image = cells.images if uses_images else None
    return measure_tokens(cells.masks, image, cells.label, n_dimensions)


def measure_tokens(masks: LabelImage, image: NDArray[Any] | None, label: NDArray[Any], n_dimensions: int) -> Singles:
    """(n, q) Trackastra's features of the labelled cells, by ascending label.

    Intensities are between the frame's own 1 % and 99.8 % quantiles, as in Trackastra's training; without an image they are 0.
    """
    from trackastra.data.wrfeat import WRFeatures
    from trackastra.utils import normalize

    # Counted from 1, because skimage makes room for every label up to the largest.
    names = np.where(masks > 0, np.searchsorted(label, masks) + 1, 0).astype(np.int32)
    seen = np.zeros(masks.shape, np.float32) if image is None else normalize(np.asarray(image))
    while names.ndim < n_dimensions:
        names, seen = names[None], seen[None]
    return np.asarray(WRFeatures.from_mask_img(names[None], seen[None]).features_stacked, dtype=np.float32)
