"""Blackouts: frames in which many masks are missing at once, as where the light failed or a segmentation broke down."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dunno.types.arrays import Bools, Floats, Ints

FRAMES_BESIDE = 4  # frames; exact, a block's halo
"""Frames on either side that say how many cells are usual: the halo of a block."""

FEWEST_DARK, LEAST_DARK = 5, 0.15  # cells, share; benchmarks.blackout
"""How many fewer cells, and which share of the usual number, are a blackout; births and deaths change less from frame to frame."""


def unseen_shares(counts: Ints, linked: Bools) -> Floats | None:
    """(T,) the share of the cells that have no mask in each frame for a reason that all cells share; `None` where there is none.

    A frame is compared with the medians of those before it and those after it, of which the lower one counts: a wash-out that
    takes cells for good is no blackout. A run's first and last frames are compared with nothing. `linked` (T - 1,) says whether
    each frame is followed by its neighbour.

    Example:
        >>> unseen_shares(np.array([100, 101, 99, 30, 0, 98, 100]), np.ones(6, bool))[3:5].round(2).tolist()
        [0.69, 1.0]
    """
    share = np.zeros(len(counts))
    for first, end in pairwise([0, *(np.flatnonzero(~linked) + 1).tolist(), len(counts)]):
        for t in range(first + 1, end - 1):
            before, after = counts[max(t - FRAMES_BESIDE, first) : t], counts[t + 1 : min(t + FRAMES_BESIDE + 1, end)]
            usual = min(float(np.median(before)), float(np.median(after)))
            if usual - counts[t] >= max(FEWEST_DARK, LEAST_DARK * usual):
                share[t] = 1 - counts[t] / usual
    return share if share.any() else None
