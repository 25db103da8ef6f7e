"""What each mask may hold: its states, and the objects in them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from dunno.segments.segments import Segments
from dunno.types import Bools, Ints


class Content(IntEnum):
    """What a state of a mask holds."""

    NOTHING = 0
    CELL = 1
    DEBRIS = 2
    PAIR = 3
    """Two cells, a part each, that touch for a moment."""
    FRAGMENT = 4
    """A cell, and a smaller piece that is debris."""
    TRIO = 5
    """Three cells."""
    UNION = 6
    """One cell together with another mask, which is `JOINED`."""
    JOINED = 7
    COUPLE = 8
    """Two cells that stay together for long."""


@dataclass(frozen=True, eq=False)
class Holdings:
    """S states of M masks, sorted by mask, and their O objects.

    Attributes:
        mask: (S,) whose state it is.
        content: (S,) a `Content`.
        source: (S,) the row of the cut, for states of parts; of the segment, for unions and joined masks; else -1.
        state: (O,) of each object, sorted.
        segment: (O,) which segment each object is.
        is_cell: (O,) whether it is a cell; else it is debris.
    """

    mask: Ints
    content: Ints
    source: Ints
    state: Ints
    segment: Ints
    is_cell: Bools

    @property
    def unions(self) -> Ints:
        """(U, 2) states that are chosen together."""
        union, joined = (np.flatnonzero(self.content == c) for c in (Content.UNION, Content.JOINED))
        order = [states[np.argsort(self.source[states])] for states in (union, joined)]
        return np.stack(order, axis=1)

    def objects(self, states: Ints, k: int) -> Ints:
        """(n,) the k-th object of each state."""
        return np.searchsorted(self.state, states) + k


def hold(segments: Segments, may_be_debris: Bools, with_fragments: bool = True) -> Holdings:
    """All states that these segments allow.

    Args:
        segments: Masks, parts and unions.
        may_be_debris: (N,) which segments are small enough to be debris.
        with_fragments: Whether a mask may hold a cell and a smaller piece of debris.
    """
    masks = np.arange(segments.n_masks)
    none = np.full((0, 3), -1, np.int64)
    debris = np.flatnonzero(may_be_debris[masks])
    cuts, trio = segments.cuts, segments.cuts[:, 2] >= 0
    larger = np.where(segments.area[cuts[:, :1]] >= segments.area[cuts[:, 1:2]], cuts[:, :2], cuts[:, 1::-1])
    fragment = np.flatnonzero(~trio & may_be_debris[larger[:, 1]] & with_fragments)
    couple = np.flatnonzero(~trio)
    unions = segments.unions
    rows = [
        (Content.NOTHING, masks, np.full_like(masks, -1), none[[-1] * 0]),
        (Content.CELL, masks, np.full_like(masks, -1), masks[:, None]),
        (Content.DEBRIS, debris, np.full_like(debris, -1), debris[:, None]),
        (Content.PAIR, segments.cut_mask[~trio], np.flatnonzero(~trio), cuts[~trio, :2]),
        (Content.COUPLE, segments.cut_mask[couple], couple, cuts[couple, :2]),
        (Content.FRAGMENT, segments.cut_mask[fragment], fragment, larger[fragment]),
        (Content.TRIO, segments.cut_mask[trio], np.flatnonzero(trio), cuts[trio]),
        (Content.UNION, segments.masks[unions, 0], unions, unions[:, None]),
        (Content.JOINED, segments.masks[unions, 1], unions, none[[-1] * 0]),
    ]
    return _sorted(rows)


def _sorted(rows: list[tuple[Content, Ints, Ints, Ints]]) -> Holdings:
    """States by mask, their objects in the order in which they were given."""
    mask = np.concatenate([own for _, own, _, _ in rows])
    content = np.repeat([int(c) for c, *_ in rows], [len(own) for _, own, _, _ in rows])
    source = np.concatenate([own for _, _, own, _ in rows])
    order = np.lexsort((source, content, mask))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    first = np.cumsum([0] + [len(own) for _, own, _, _ in rows])
    state, segment, rank = [], [], []
    for begin, (_, own, _, objects) in zip(first, rows, strict=False):
        width = objects.shape[1] if len(objects) else 0
        state.append(np.repeat(place[begin : begin + len(own)], width))
        segment.append(objects.ravel() if width else np.zeros(0, np.int64))
        rank.append(np.tile(np.arange(width), len(own)))
    state_of, segment_of, rank_of = (np.concatenate(each).astype(np.int64) for each in (state, segment, rank))
    sorting = np.lexsort((rank_of, state_of))
    state_of, segment_of, rank_of = state_of[sorting], segment_of[sorting], rank_of[sorting]
    kind = content[order]
    is_cell = (kind[state_of] != Content.DEBRIS) & ~((kind[state_of] == Content.FRAGMENT) & (rank_of == 1))
    return Holdings(mask[order], kind, source[order], state_of, segment_of, is_cell)
