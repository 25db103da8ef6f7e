"""Alternative segmentations of the same movie."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.errors import InputError
from dunno.types import Detections, FramePair, Frames, count_frames
from dunno.types.labels import as_labels, count_overlaps


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The masks of K alternative segmentations, as a stochastic segmentation network gives them.

    Draw k shows every cell as member k saw it: the mask of the member that shares most pixels with it, if they share
    more than half of the smaller one; otherwise as it is. With fewer members than draws, they are taken in turn.
    """

    members: Sequence[Frames] = ()  # K sources of masks, each with the same frames as the movie (by original index)
    name = "ensemble"

    def draws(self, pair: FramePair, cost: Any, k: int, rng: np.random.Generator) -> Iterator[FramePair]:
        """Yield k pairs, each as one member saw it."""
        if not self.members:
            raise InputError("the ensemble has no members; name them with --members, or Ensemble([masks, …])")
        for draw in range(k):
            member = self.members[draw % len(self.members)]
            mothers = _as_seen(pair.mothers, member, pair.scale)
            yield replace(pair, mothers=mothers, daughters=_as_seen(pair.daughters, member, pair.scale))


def _as_seen(cells: Detections, member: Frames, scale: tuple[float, ...]) -> Detections:
    """The cells with a member's masks in place of their own."""
    if cells.frame >= count_frames(member):
        raise InputError(f"a member of the ensemble has {count_frames(member)} frames, none for frame {cells.frame}")
    original = cells.masks
    other = as_labels(member[cells.frame], f"ensemble, frame {cells.frame}")
    if other.shape != original.shape:
        raise InputError(f"a member's frame {cells.frame} has shape {other.shape}; the movie's has {original.shape}")
    label, alternative, shared = count_overlaps(original, other)
    areas = dict(zip(*np.unique(other, return_counts=True), strict=True))
    own = dict(zip(*np.unique(original, return_counts=True), strict=True))
    smaller = np.array([min(areas[b], own[a]) for a, b in zip(label, alternative, strict=True)])
    masks = original.copy()
    taken: set[int] = set()
    for index in np.argsort(-shared, kind="stable"):
        mine, theirs = int(label[index]), int(alternative[index])
        if 2 * shared[index] <= smaller[index] or mine in taken or -theirs in taken:
            continue
        taken |= {mine, -theirs}  # members' labels are kept apart by their sign
        free = (other == theirs) & ((masks == 0) | (masks == mine))
        masks[(masks == mine) & ~free] = 0
        masks[free] = mine
    return cells.moved(masks, scale)
