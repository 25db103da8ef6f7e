"""Which masks hold which annotated cells, where masks are imperfect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dunno.truth.matching import QUARTER, overlaps_of_cells
from dunno.types import Movie, Truth, where_is
from dunno.types.labels import as_labels


@dataclass(frozen=True, eq=False)
class HeldCells:
    """Annotated cells in masks, frame by frame; cells are known by their tracks' labels."""

    truth: Truth  # The annotation
    # For each frame, which mask holds each cell: the one that covers most of it, if that is a quarter
    holder: Sequence[dict[int, int]]
    covered: Sequence[dict[int, set[int]]]  # For each frame, of which cells each mask covers a quarter or more

    @classmethod
    def of(cls, movie: Movie, truth: Truth) -> HeldCells:
        """Lay the annotation over a movie's masks; where either has no pixels, as the annotation was matched to the movie."""
        holder, covered = [], []
        has_pixels = truth.markers is not None and movie.has_masks
        for t in range(len(truth)):
            pairs = _in_pixels(movie, truth, t) if has_pixels else _as_matched(truth, t)
            holder.append(dict(pairs))
            covered.append(_cells_by_mask(pairs))
        return cls(truth, holder, covered)

    @cached_property
    def held(self) -> list[dict[int, set[int]]]:
        """For each frame, the cells that each mask holds."""
        return [_cells_by_mask(list(each.items())) for each in self.holder]

    @cached_property
    def first(self) -> dict[int, int]:
        """The first frame of each cell, by its original index."""
        return dict(zip(self.truth.track.tolist(), self.truth.first.tolist(), strict=True))

    @cached_property
    def mother(self) -> dict[int, int]:
        """The cell that each came from, or 0."""
        return dict(zip(self.truth.track.tolist(), self.truth.mother.tolist(), strict=True))

    @cached_property
    def daughters(self) -> dict[int, set[int]]:
        """The cells that came from each."""
        found: dict[int, set[int]] = {}
        for cell, mother in self.mother.items():
            if mother:
                found.setdefault(mother, set()).add(cell)
        return found

    @cached_property
    def divisions(self) -> dict[int, int]:
        """By cell that divides, the position of the last frame before its daughters."""
        found = {}
        for cell, daughters in self.daughters.items():
            born = min(self.first[each] for each in daughters)
            t = int(np.searchsorted(self.truth.frames, born)) - 1
            if len(daughters) >= 2 and 0 <= t < len(self.truth) - 1 and self.truth.frames[t] >= self.first[cell]:
                found[cell] = t
        return found

    def ancestor(self, cell: int, t: int) -> int:
        """What a cell was in an earlier frame: itself, or the one that it came from; 0 for nothing."""
        frame = int(self.truth.frames[t])
        while cell and self.first[cell] > frame:
            cell = self.mother[cell]
        return cell


def _in_pixels(movie: Movie, truth: Truth, t: int) -> list[tuple[int, int]]:
    """Cells and the masks that cover a quarter of them, those that cover more later."""
    assert truth.markers is not None
    markers = as_labels(truth.markers[t], where_is(truth.markers, t))
    cell, label, pixels, size = overlaps_of_cells(movie.masks(t), markers)
    enough = pixels >= QUARTER * size
    order = np.lexsort((label, pixels, cell))
    order = order[enough[order]]
    return list(zip(cell[order].tolist(), label[order].tolist(), strict=True))


def _as_matched(truth: Truth, t: int) -> list[tuple[int, int]]:
    besides = truth.held_besides(t)
    label = np.concatenate([truth.labels[t], truth.labels[t][besides[0]]])
    cell = np.concatenate([truth.tracks[t], besides[1]])
    return list(zip(cell[cell > 0].tolist(), label[cell > 0].tolist(), strict=True))


def _cells_by_mask(pairs: Sequence[tuple[int, int]]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for cell, label in pairs:
        found.setdefault(label, set()).add(cell)
    return found
