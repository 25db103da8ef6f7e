"""Regions of a frame that may be one object each, as they were measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Segments:
    """N segments in d dimensions: first the M masks as they are, by frame, then parts of masks and unions of two.

    Every mask is halved by two-means on its pixels, whatever it holds: how its halves lie says more of its shape than an outline.

    Attributes:
        frame: (N,) of each segment, 0 to T - 1.
        masks: (N, 2) the mask that it is, or is a part of, and -1; the two masks of a union.
        place: (N, d) its centre.
        area: (N,) its area, or volume.
        at_border: (N,) whether it touches the field's border, or nearly.
        halves: (N, d) from the centre of one half to that of the other, over the d-th root of the area; NaN for parts.
        balance: (N,) log ratio of the areas of these halves; NaN for parts.
        neck: (N,) how clearly a mask parts at its neck, as in `Parts`; NaN for parts and unions.
        cuts: (C, 3) the parts into which a mask may be cut; -1 where there are only two.
        n_frames: T.
        field: (d,) extent of the field.
    """

    frame: Ints
    masks: Ints
    place: Floats
    area: Floats
    at_border: Bools
    halves: Floats
    balance: Floats
    neck: Floats
    cuts: Ints
    n_frames: int
    field: Floats

    @property
    def n_masks(self) -> int:
        """M."""
        own = (self.masks[:, 0] == np.arange(len(self.frame))) & (self.masks[:, 1] < 0)
        return int(np.count_nonzero(own))

    @property
    def dimensions(self) -> int:
        """How many dimensions places have."""
        return int(self.place.shape[1])

    @property
    def unions(self) -> Ints:
        """(U,) rows of the unions of two masks."""
        return np.flatnonzero(self.masks[:, 1] >= 0)

    @property
    def cut_mask(self) -> Ints:
        """(C,) which mask each cut is of."""
        return np.asarray(self.masks[self.cuts[:, 0], 0])
