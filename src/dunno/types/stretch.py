"""Some frames of a movie as tables: joined from transitions, what their cells look like, and with other edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dunno.types.arrays import Bools, Floats, Ints
from dunno.types.detections import Detections
from dunno.types.measurements import elongation, long_axis
from dunno.types.neighbours import nearest_others
from dunno.types.pairs import Candidates
from dunno.types.stretch_table import StretchTable, Value, linked_frames

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


__all__ = ["Stretch", "Transition", "Value"]

LEAST_WIDTH = 0.01  # share; judged
"""Added to the spread of a cell's pixels, as a share of the usual one, so that a line of pixels has a width."""


class Transition(NamedTuple):
    """Two frames' cells with the candidate edges between them, and how much each mother's squared steps vary."""

    mothers: Detections
    daughters: Detections
    candidates: Candidates
    spread: Floats
    score: Floats | None = None
    """(E,) what each edge costs, where a cost that is no motion speaks."""
    stage: Floats | None = None
    """(d,) by how much the stage jumped between the frames; `None` if it did not."""


@dataclass(frozen=True, eq=False)
class Stretch(StretchTable):
    """What a model sees: see `StretchTable` for its columns."""

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

    def among(self, edges: Bools) -> Stretch:
        """The same cells with some of the edges only."""
        score, lag = _at(self.score, edges), _at(self.lag, edges)
        return replace(self, mother=self.mother[edges], daughter=self.daughter[edges], score=score, lag=lag)

    def with_edges(self, mother: Ints, daughter: Ints) -> Stretch:
        """The same with more edges between neighbouring frames, each once; by daughter, then by mother."""
        edges = [each[1] * self.n_rows + each[0] for each in ((self.mother, self.daughter), (mother, daughter))]
        daughter, mother = np.divmod(np.union1d(*edges), max(self.n_rows, 1))
        return replace(self, mother=mother, daughter=daughter)

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

    def column(self, name: str) -> Floats:
        """(N,) what was measured of each cell, by its name in `Detections`, or its "log_area"; NaN where it was not."""

        def of_frame(cells: Detections) -> Floats:
            values = np.log(cells.area) if name == "log_area" else getattr(cells, name)
            return np.broadcast_to(np.asarray(np.nan if values is None else values, np.float64), len(cells))

        return self._of_cells(name, lambda: np.concatenate([of_frame(cells) for cells in self.cells]))

    @property
    def background(self) -> Floats:
        """(N,) of each cell's frame; NaN where it was not measured."""
        return self.column("background")

    @property
    def elongation(self) -> Floats:
        """(N,) ratio of the longest to the shortest axis; NaN where shapes were not measured."""
        return self._of_cells("elongation", lambda: self._of_shapes(elongation, np.nan, ()))

    @cached_property
    def length_share(self) -> Floats:
        """(N,) 1 − 1/elongation: 0 for round cells, towards 1 for long ones; 0 where shapes were not measured."""
        return np.nan_to_num(1 - 1 / self.elongation)

    @property
    def orientation(self) -> Floats:
        """(N, d) each cell's long axis; zeros where shapes were not measured."""
        return self._of_cells("orientation", lambda: self._of_shapes(long_axis, 0.0, (self.n_dimensions,)))

    def _of_shapes(self, find: Callable[[Floats], Floats], unknown: float, shape: tuple[int, ...]) -> Floats:
        """What follows from second moments, found for the cells of all frames at once."""
        known, found = [each.covariance is not None for each in self.cells], np.full((self.n_rows, *shape), unknown)
        if any(known):
            rows = np.repeat(known, [len(each) for each in self.cells])
            found[rows] = find(np.concatenate([each.covariance for each in self.cells if each.covariance is not None]))
        return found

    @property
    def covariance(self) -> Floats:
        """(N, d, d) of each cell's pixels, with a little added so that none is flat; NaN where shapes were not measured."""
        return self._of_cells("covariance", self._covariance)

    def _covariance(self) -> Floats:
        flat = np.eye(self.n_dimensions)
        whole = np.concatenate(
            [
                np.full((len(each), *flat.shape), np.nan) if each.covariance is None else each.covariance
                for each in self.cells
            ]
        )
        usual = np.nanmedian(np.trace(whole, axis1=1, axis2=2)) if np.isfinite(whole).any() else 1.0
        return np.asarray(whole + LEAST_WIDTH * (usual or 1.0) * flat)

    def neighbours(self, k: int) -> Ints:
        """(N, k) rows of the nearest other cells of the same frame; its own row where there are fewer."""
        begin = np.searchsorted(self.row_frame, np.arange(len(self.frames) + 1))
        return self._of_cells(f"neighbours {k}", lambda: nearest_others(self.place, begin, k).astype(np.int32))

    def neighbour_distances(self, k: int) -> Floats:
        """(N, k) distances to the nearest other cells of the same frame; infinite where there are fewer."""
        index = self.neighbours(k)
        apart = self.place[index] - self.place[:, None]
        distance = np.sqrt(np.einsum("nkd,nkd->nk", apart, apart))
        return np.where(index == np.arange(self.n_rows)[:, None], np.inf, distance)

    def _of_cells(self, name: str, make: Callable[[], Any]) -> NDArray[Any]:
        """What depends on the cells alone, whatever the edges are; made when it is first asked for."""
        if name not in self._columns:
            self._columns[name] = make()
        return np.asarray(self._columns[name])


def _at(values: Any, places: Ints | Bools) -> Any:
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
