"""Some frames of a movie as tables: joined from transitions, and changed by leaving out or adding edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.types.arrays import Bools, Floats, Ints
from dunno.types.blackout import unseen_shares
from dunno.types.detections import Detections
from dunno.types.pairs import Candidates
from dunno.types.stretch_cells import StretchCells
from dunno.types.stretch_motion import StretchMotion
from dunno.types.stretch_table import Value, linked_frames
from dunno.types.transition import Transition

__all__ = ["Stretch", "Transition", "Value"]


@dataclass(frozen=True, eq=False)
class Stretch(StretchMotion, StretchCells):
    """What a model sees: see `StretchTable` for its columns, and its other bases for what follows from them."""

    @classmethod
    def of(cls, given: Sequence[Transition]) -> Stretch:
        """Join transitions; a frame that is the later one of one and the earlier one of the next has its rows once."""
        cells = {each.frame: each for part in given for each in (part.mothers, part.daughters)}
        frames = np.array(sorted(cells), np.int64)
        ordered = tuple(cells[frame] for frame in frames.tolist())
        begin = np.concatenate([[0], np.cumsum([len(each) for each in ordered])]).astype(np.int64)
        position = {frame: t for t, frame in enumerate(frames.tolist())}
        n, mother, daughter, transitions = int(begin[-1]), [], [], []
        spread, leads, follows = np.ones(n), np.full(n, -1, np.int64), np.full(n, -1, np.int64)
        for r, part in enumerate(given):
            early, late = position[part.mothers.frame], position[part.daughters.frame]
            transitions.append((early, late))
            mother.append(part.candidates.mother + begin[early])
            daughter.append(part.candidates.daughter + begin[late])
            spread[begin[early] : begin[early + 1]] = part.spread
            leads[begin[early] : begin[early + 1]] = r
            follows[begin[late] : begin[late + 1]] = r
        ends = np.array(transitions, np.int64).reshape(-1, 2)
        return cls(
            frames=frames,
            transitions=ends,
            cells=ordered,
            row_frame=np.repeat(np.arange(len(ordered)), np.diff(begin)),
            place=np.concatenate([each.centroid for each in ordered]),
            mother=np.concatenate(mother),
            daughter=np.concatenate(daughter),
            spread=spread,
            leads=leads,
            follows=follows,
            score=_joined([part.score for part in given]),
            clock=_clock(ordered),
            stage=_stages([part.stage for part in given], cells),
            unseen=unseen_shares(np.diff(begin), linked_frames(ends, len(frames))),
        )

    def carried(self, drift: Floats | None) -> Stretch:
        """The same with another drift."""
        return replace(self, drift=drift)

    def with_axes(self, axes: tuple[float, ...] | None) -> Stretch:
        """The same with displacements in other units along each axis."""
        return replace(self, axes=axes)

    def among(self, edges: Bools) -> Stretch:
        """The same cells with some of the edges only."""
        score = None if self.score is None else self.score[edges]
        lag = None if self.lag is None else self.lag[edges]
        return replace(self, mother=self.mother[edges], daughter=self.daughter[edges], score=score, lag=lag)

    def with_gaps(self, mother: Ints, daughter: Ints, lag: Ints) -> Stretch:
        """The same with more edges, between frames that are no neighbours."""
        more = None if self.score is None else np.concatenate([self.score, np.full(len(mother), np.nan)])
        return replace(
            self,
            mother=np.concatenate([self.mother, mother]),
            daughter=np.concatenate([self.daughter, daughter]),
            lag=np.concatenate([self.lags, lag]),
            score=more,
        )

    def during(self, transitions: Ints) -> tuple[Stretch, Ints, Ints]:
        """Some of its transitions, with all that is known of them, and which rows and edges are left."""
        frames = np.unique(self.transitions[transitions])
        rows = np.flatnonzero(np.isin(self.row_frame, frames))
        edges = np.flatnonzero(np.isin(self.edge_transition, transitions))
        order, new_row = np.full(len(self) + 1, -1), np.full(self.n_rows, -1)  # the last is that of rows in none, -1
        order[transitions], new_row[rows] = np.arange(len(transitions)), np.arange(len(rows))
        part = replace(
            self,
            frames=self.frames[frames],
            transitions=np.searchsorted(frames, self.transitions[transitions]),
            cells=tuple(self.cells[t] for t in frames.tolist()),
            row_frame=np.searchsorted(frames, self.row_frame[rows]),
            place=self.place[rows],
            mother=new_row[self.mother[edges]],
            daughter=new_row[self.daughter[edges]],
            spread=self.spread[rows],
            leads=order[self.leads[rows]],
            follows=order[self.follows[rows]],
            drift=_at(self.drift, rows),
            score=_at(self.score, edges),
            lag=_at(self.lag, edges),
            clock=_at(self.clock, frames),
            stage=_at(self.stage, transitions),
            unseen=_at(self.unseen, frames),
            _columns={},
        )
        return part, rows, edges

    def part(self, transitions: Sequence[int]) -> Stretch:
        """Some of its transitions, without drift."""
        return Stretch.of([self._transition(r) for r in transitions])

    def _transition(self, r: int) -> Transition:
        early, late = self.transitions[r].tolist()
        begin = np.searchsorted(self.row_frame, [early, early + 1, late])
        edges = self.edge_transition == r
        candidates = Candidates(self.mother[edges] - begin[0], self.daughter[edges] - begin[2])
        score = None if self.score is None else self.score[edges]
        stage = None if self.stage is None else self.stage[r]
        return Transition(
            self.cells[early], self.cells[late], candidates, self.spread[begin[0] : begin[1]], score, stage
        )


def _at(values: Any, places: Ints) -> Any:
    return None if values is None else values[places]


def _joined(parts: Sequence[Floats | None]) -> Floats | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known and len(known) == len(parts) else None


def _clock(cells: Sequence[Detections]) -> Floats | None:
    times = [each.time for each in cells if each.time is not None]
    return np.array(times) if cells and len(times) == len(cells) else None


def _stages(parts: Sequence[Floats | None], cells: dict[int, Detections]) -> Floats | None:
    """(R, d) each transition's jump of the stage; `None` where there is none."""
    if all(part is None for part in parts):
        return None
    still = np.zeros(next(iter(cells.values())).centroid.shape[1])
    return np.stack([still if part is None else part for part in parts])
