"""Cells filled in where a link skips frames, for tools that need every frame of a track; they are marked as such.

A link across a gap becomes steps from frame to frame, each as probable as the link, over cells on the straight line from mother to
daughter. A mother that divides across a gap stays one cell until the last step.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from dunno.lineage.tracks import LONGEST
from dunno.types import Bools, Detections, Floats, GapEdges, Ints, PairPosterior


class Filler(NamedTuple):
    """A cell that is filled in: where, how large, and the frame and row of the cell whose mask it borrows."""

    place: Floats
    area: float
    frame: int
    row: int


class Hop(NamedTuple):
    """A step of a link across a gap, by rows of its two frames."""

    mother: int
    daughter: int
    cost: float
    log_probability: float


@dataclass
class _Waiting:
    """Pairs that later links may still reach back into, and what is filled into them."""

    pairs: deque[PairPosterior] = field(default_factory=deque)
    fillers: dict[int, list[Filler]] = field(default_factory=lambda: defaultdict(list))
    hops: dict[int, list[Hop]] = field(default_factory=lambda: defaultdict(list))  # by the daughters' frame

    def cells(self, frame: int) -> Detections:
        """A frame's cells, before anything was filled in."""
        return next(pair.mothers for pair in self.pairs if pair.mother_frame == frame)

    def fill(self, pair: PairPosterior, gaps: GapEdges, edges: Ints) -> None:
        """Fill in the way of links that leave one mother and skip the same frames."""
        frame, mother = int(gaps.mother_frame[edges[0]]), int(gaps.mother[edges[0]])
        start, end = self.cells(frame), pair.daughters
        goal, area = end.centroid[gaps.daughter[edges]].mean(axis=0), float(end.area[gaps.daughter[edges]].mean())
        best = edges[np.argmax(gaps.log_probability[edges])]
        row = mother
        for between in [p.daughter_frame for p in self.pairs if frame <= p.mother_frame and p is not pair]:
            share = (between - frame) / (end.frame - frame)
            place = (1 - share) * start.centroid[mother] + share * goal
            size = (1 - share) * float(start.area[mother]) + share * area
            after = len(self.cells(between)) + len(self.fillers[between])
            self.fillers[between].append(Filler(place, size, frame, mother))
            self.hops[between].append(Hop(row, after, float(gaps.cost[best]), float(gaps.log_probability[best])))
            row = after
        for e in edges.tolist():
            hop = Hop(row, int(gaps.daughter[e]), float(gaps.cost[e]), float(gaps.log_probability[e]))
            self.hops[end.frame].append(hop)

    def next(self) -> PairPosterior:
        """The earliest pair, with what was filled in."""
        pair = self.pairs.popleft()
        mothers, daughters = (self._with_fillers(each) for each in (pair.mothers, pair.daughters))
        self.fillers.pop(pair.mother_frame, None)
        return _with_hops(pair, mothers, daughters, self.hops.pop(pair.daughter_frame, []))

    def _with_fillers(self, cells: Detections) -> Detections:
        added = self.fillers.get(cells.frame, [])
        real = np.full((len(cells), 2), -1, np.int64)
        if not added:
            return replace(cells, filled_from=real)
        return Detections(
            label=np.concatenate([cells.label, cells.label.max(initial=0) + 1 + np.arange(len(added))]),
            centroid=np.concatenate([cells.centroid, [each.place for each in added]]),
            area=np.concatenate([cells.area, [each.area for each in added]]),
            bbox=np.concatenate([cells.bbox, np.zeros((len(added), *cells.bbox.shape[1:]), np.int64)]),
            frame=cells.frame,
            filled_from=np.concatenate([real, [(each.frame, each.row) for each in added]]),
        )


def filled(pairs: Iterable[PairPosterior]) -> Iterator[PairPosterior]:
    """The pairs without links across gaps, but with cells filled in on their way; the pairs' problems are left out."""
    waiting = _Waiting()
    for pair in pairs:
        waiting.pairs.append(pair)
        if (gaps := pair.gaps) is not None and gaps.selected.any():
            chosen = np.flatnonzero(gaps.selected)
            start = np.stack([gaps.mother_frame[chosen], gaps.mother[chosen]])
            _, group = np.unique(start, axis=1, return_inverse=True)
            for k in range(int(group.max()) + 1):
                waiting.fill(pair, gaps, chosen[group.ravel() == k])
        if len(waiting.pairs) > LONGEST:
            yield waiting.next()
    while waiting.pairs:
        yield waiting.next()


def _with_hops(pair: PairPosterior, mothers: Detections, daughters: Detections, hops: list[Hop]) -> PairPosterior:
    """A pair with more cells and steps; what is not known of filled-in cells is NaN."""
    gaps = pair.gaps
    kept = None if gaps is None else gaps.only(~gaps.selected)
    step = np.array(hops, np.float64).reshape(-1, 4)
    from_, to = step[:, 0].astype(np.int64), step[:, 1].astype(np.int64)
    n = len(daughters)
    here = np.bincount(to, np.exp(step[:, 3]), minlength=n)
    none = _longer(np.exp(pair.log_no_mother), n, 1.0)
    mother, daughter = np.concatenate([pair.mother, from_]), np.concatenate([pair.daughter, to])
    order = np.lexsort((mother, daughter))
    columns: dict[str, Any] = {
        "cost": np.concatenate([pair.cost, step[:, 2]]),
        "log_probability": np.concatenate([pair.log_probability, step[:, 3]]),
        "selected": np.concatenate([pair.selected, np.ones(len(step), np.bool_)]),
    }
    with np.errstate(divide="ignore"):
        log_none = np.log(np.clip(none - here, 0.0, 1.0))
    known = (pair.log_disappear, pair.log_divide, pair.border_share)
    lost, divides, share = (_optional(each, len(mothers)) for each in known)
    return PairPosterior(
        mothers=mothers,
        daughters=daughters,
        mother=mother[order],
        daughter=daughter[order],
        **{name: values[order] for name, values in columns.items()},
        log_no_mother=log_none,
        entropy=_longer(pair.entropy, n, np.nan),
        log_disappear=lost,
        log_divide=divides,
        border_share=share,
        reviewed=None if pair.reviewed is None else _no_more(pair.reviewed, n),
        gaps=kept,
        log_together=None if pair.log_together is None else _longer(pair.log_together, n, 0.0),
    )


def _longer(values: Floats, n: int, rest: float) -> Floats:
    return np.concatenate([values, np.full(n - len(values), rest)])


def _no_more(values: Bools, n: int) -> Bools:
    return np.concatenate([values, np.zeros(n - len(values), np.bool_)])


def _optional(values: Floats | None, n: int) -> Floats | None:
    return None if values is None else _longer(values, n, np.nan)
