"""Some frames of a movie as tables: their cells, a row each, and the candidate edges between rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dunno.types.arrays import Bools, Floats, Ints
from dunno.types.detections import Detections
from dunno.types.pairs import Candidates

LEAST_WIDTH = 0.01
"""Added to the spread of a cell's pixels, as a share of the usual one, so that a line of pixels has a width."""

Value = float | Floats
"""A parameter: one number, or one per transition of a stretch."""


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
class Stretch:
    """What a model sees: R transitions between frames, whose N cells have a row each, and E candidate edges.

    Attributes:
        frames: (T,) original index of each frame, ascending.
        transitions: (R, 2) positions in `frames` of each transition's earlier and later frame.
        cells: One frame's cells each.
        row_frame: (N,) position in `frames` of each row.
        place: (N, d) centres.
        mother: (E,) row of each edge's mother.
        daughter: (E,) row of its daughter.
        spread: (N,) how much more than usual each row's squared displacement may be (activity; else 1).
        leads: (N,) the transition in which each row is a mother, -1 if in none.
        follows: (N,) the transition in which each row is a daughter, -1 if in none.
        drift: (N, d) where each mother is carried by her neighbours.
        score: (E,) what each edge costs, where a cost that is no motion speaks.
        lag: (E,) single steps from mother to daughter; `None` where all are 1.
        clock: (T,) when each frame was taken, in usual steps; `None` where all steps are usual.
        axes: Squared motion along each axis in whose units displacements count; `None` where all count alike.
        stage: (R, d) by how much the stage jumped in each transition; `None` where it stood still.
        recent: (N,) probability that a cell was born of a division a few frames before; `None` where nobody asks.
    """

    frames: Ints
    transitions: Ints
    cells: tuple[Detections, ...]
    row_frame: Ints
    place: Floats
    mother: Ints
    daughter: Ints
    spread: Floats
    leads: Ints
    follows: Ints
    drift: Floats | None = None
    score: Floats | None = None
    lag: Ints | None = None
    recent: Floats | None = None
    clock: Floats | None = None
    stage: Floats | None = None
    axes: tuple[float, ...] | None = None
    _columns: dict[str, Any] = field(default_factory=dict, repr=False)

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
        return cls(
            frames=frames,
            transitions=np.array(transitions, np.int64).reshape(-1, 2),
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
        )

    def __len__(self) -> int:
        return len(self.transitions)

    @property
    def n_rows(self) -> int:
        """N."""
        return len(self.place)

    @property
    def n_dimensions(self) -> int:
        """2 or 3."""
        return int(self.place.shape[1])

    @cached_property
    def is_mother(self) -> Bools:
        """(N,) whether a row takes part as a mother."""
        return np.asarray(self.leads >= 0)

    @cached_property
    def is_daughter(self) -> Bools:
        """(N,) whether a row takes part as a daughter."""
        return np.asarray(self.follows >= 0)

    @cached_property
    def n_mothers(self) -> Floats:
        """(R,) mothers in each transition."""
        return self.per_transition(np.ones(self.n_rows), self.leads)

    @cached_property
    def n_daughters(self) -> Floats:
        """(R,) daughters in each transition."""
        return self.per_transition(np.ones(self.n_rows), self.follows)

    @cached_property
    def transition_frame(self) -> Ints:
        """(R,) original index of each transition's earlier frame."""
        return np.asarray(self.frames[self.transitions[:, 0]])

    @cached_property
    def edge_transition(self) -> Ints:
        """(E,) the transition of each edge."""
        return np.asarray(self.leads[self.mother])

    def per_transition(self, values: Floats, transition: Ints) -> Floats:
        """(R,) sums over the rows (or edges) of each transition; those of none (-1) are left out."""
        inside = transition >= 0
        return np.bincount(transition[inside], values[inside], minlength=len(self)).astype(np.float64)

    def by_edge(self, value: Value) -> Value:
        """A parameter for each edge."""
        return value if isinstance(value, float) else np.asarray(value)[self.edge_transition]

    def by_mother(self, value: Value) -> Floats:
        """(N,) a parameter for each row as a mother."""
        return np.full(self.n_rows, value) if isinstance(value, float) else np.asarray(value)[self.leads]

    def by_daughter(self, value: Value) -> Floats:
        """(N,) a parameter for each row as a daughter."""
        return np.full(self.n_rows, value) if isinstance(value, float) else np.asarray(value)[self.follows]

    @cached_property
    def step(self) -> Floats:
        """(E, d) from mother to daughter, beyond what the stage jumped."""
        step = self.place[self.daughter] - self.place[self.mother]
        if self.stage is not None:
            step = step - self.stage[self.edge_transition]
            far = self.lags > 1
            ends = self.row_frame[self.daughter[far]], self.row_frame[self.mother[far]]
            step[far] += self.stage[self.edge_transition[far]] - self.stage_travel[ends[0]] + self.stage_travel[ends[1]]
        return np.asarray(step)

    @cached_property
    def stage_travel(self) -> Floats:
        """(T, d) how far the stage has jumped until each frame, over frames that are linked without a break."""
        travel = np.zeros((len(self.frames), self.n_dimensions))
        if self.stage is not None:
            early, late = self.transitions.T
            neighbours = late == early + 1
            travel[late[neighbours]] = self.stage[neighbours]
        return np.cumsum(travel, axis=0)

    @cached_property
    def place_after(self) -> Floats:
        """(N, d) where each mother is in the next frame's picture if it does not move."""
        return self.place if self.stage is None else self.place + self._by_row(self.leads)

    @cached_property
    def place_before(self) -> Floats:
        """(N, d) where each daughter was in the picture before if it did not move."""
        return self.place if self.stage is None else self.place - self._by_row(self.follows)

    def _by_row(self, transition: Ints) -> Floats:
        assert self.stage is not None
        return np.asarray(np.where(transition[:, None] >= 0, self.stage[transition], 0.0))

    @cached_property
    def moved(self) -> Floats:
        """(E, d) displacement beyond the drift."""
        return self.step if self.drift is None else self.step - self.drift[self.mother]

    @cached_property
    def squared(self) -> Floats:
        """(E,) δ: squared displacement beyond the drift, in units of the mother's spread and of each axis."""
        moved = self.moved if self.axes is None else self.moved / np.sqrt(self.axes)
        return np.asarray(np.einsum("ed,ed->e", moved, moved) / self.spread[self.mother])

    @cached_property
    def log_volume(self) -> Floats:
        """(E,) (d/2)·log α, what a mother's spread costs each of her densities."""
        return np.asarray(0.5 * self.n_dimensions * np.log(self.spread[self.mother]))

    @cached_property
    def usual_spread(self) -> Floats:
        """(R,) the median spread of each transition's mothers; 1 without mothers."""
        medians = np.ones(len(self))
        for r, t in enumerate(self.transitions[:, 0].tolist()):
            own = self.spread[self.row_frame == t] if (self.spread != 1.0).any() else self.spread[:0]
            medians[r] = np.median(own) if len(own) else 1.0
        return medians

    def column(self, name: str) -> Floats:
        """(N,) what was measured of each cell, by its name in `Detections`; NaN where it was not."""
        if name == "log_area":
            return self._once(name, lambda cells: np.log(cells.area))
        return self._once(name, lambda cells: getattr(cells, name))

    @cached_property
    def background(self) -> Floats:
        """(N,) of each cell's frame; NaN where it was not measured."""
        return self._once("background", lambda cells: cells.background)

    @cached_property
    def elongation(self) -> Floats:
        """(N,) ratio of the longest to the shortest axis; NaN where shapes were not measured."""
        return self._once("elongation", lambda cells: None if cells.covariance is None else cells.elongation)

    @cached_property
    def length_share(self) -> Floats:
        """(N,) 1 − 1/elongation: 0 for round cells, towards 1 for long ones; 0 where shapes were not measured."""
        return np.nan_to_num(1 - 1 / self.elongation)

    @property
    def orientation(self) -> Floats:
        """(N, d) each cell's long axis; zeros where shapes were not measured."""
        if "orientation" not in self._columns:
            none = (self.n_dimensions,)
            self._columns["orientation"] = np.concatenate(
                [np.zeros((len(each), *none)) if each.covariance is None else each.orientation for each in self.cells]
            )
        return np.asarray(self._columns["orientation"])

    @property
    def covariance(self) -> Floats:
        """(N, d, d) of each cell's pixels, with a little added so that none is flat; NaN where shapes were not measured."""
        if "covariance" not in self._columns:
            self._columns["covariance"] = self._covariance()
        return np.asarray(self._columns["covariance"])

    def _covariance(self) -> Floats:
        d = self.n_dimensions
        parts = [
            np.full((len(each), d, d), np.nan) if each.covariance is None else each.covariance for each in self.cells
        ]
        whole = np.concatenate(parts)
        usual = np.nanmedian(np.trace(whole, axis1=1, axis2=2)) if np.isfinite(whole).any() else 1.0
        return np.asarray(whole + LEAST_WIDTH * (usual or 1.0) * np.eye(d))

    def neighbours(self, k: int) -> Ints:
        """(N, k) rows of the nearest other cells of the same frame; its own row where there are fewer."""
        name = f"neighbours {k}"
        if name not in self._columns:
            begin = np.searchsorted(self.row_frame, np.arange(len(self.frames) + 1)).tolist()
            parts = [_nearest(self.place[first:last], k) + first for first, last in pairwise(begin)]
            self._columns[name] = np.concatenate(parts).astype(np.int32)
        return np.asarray(self._columns[name])

    def neighbour_distances(self, k: int) -> Floats:
        """(N, k) distances to the nearest other cells of the same frame; infinite where there are fewer."""
        index = self.neighbours(k)
        apart = self.place[index] - self.place[:, None]
        distance = np.sqrt(np.einsum("nkd,nkd->nk", apart, apart))
        return np.where(index == np.arange(self.n_rows)[:, None], np.inf, distance)

    def _once(self, name: str, get: Callable[[Detections], Any]) -> Floats:
        """(N,) a column over all frames, made when it is first asked for."""
        if name not in self._columns:
            self._columns[name] = np.concatenate([_filled(cells, get(cells)) for cells in self.cells])
        return np.asarray(self._columns[name])

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """What depends on these edges and on nothing that is fitted, made when it is first asked for."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def latest(self, name: str, key: Any, make: Callable[[], Any]) -> Any:
        """What depends on these edges and on what the key says; that of the last key is kept."""
        if name not in self._kept or self._kept[name][0] != key:
            self._kept[name] = (key, make())
        return self._kept[name][1]

    @cached_property
    def _kept(self) -> dict[str, Any]:
        return {}  # not a field: with other edges it is empty again

    def carried(self, drift: Floats | None) -> Stretch:
        """The same with another drift."""
        return replace(self, drift=drift)

    def with_axes(self, axes: tuple[float, ...] | None) -> Stretch:
        """The same with displacements in other units along each axis."""
        return replace(self, axes=axes)

    @cached_property
    def axis_widths(self) -> Floats:
        """(d,) motion along each axis, relative to the geometric mean of all."""
        return np.ones(self.n_dimensions) if self.axes is None else np.sqrt(self.axes)

    def with_recent(self, recent: Floats) -> Stretch:
        """The same with what is known of recent births."""
        return replace(self, recent=recent)

    def among(self, edges: Bools) -> Stretch:
        """The same cells with some of the edges only."""
        score = None if self.score is None else self.score[edges]
        lag = None if self.lag is None else self.lag[edges]
        return replace(self, mother=self.mother[edges], daughter=self.daughter[edges], score=score, lag=lag)

    @cached_property
    def linked(self) -> Bools:
        """(T - 1,) whether a transition leads from each frame to the next one in the table."""
        joined = np.zeros(max(len(self.frames) - 1, 0), np.bool_)
        neighbours = self.transitions[:, 1] == self.transitions[:, 0] + 1
        joined[self.transitions[neighbours, 0]] = True
        return joined

    @cached_property
    def frames_left(self) -> Ints:
        """(N,) how many frames follow a cell's own without a break."""
        left = np.zeros(len(self.frames), np.int64)
        for t in range(len(self.frames) - 2, -1, -1):
            left[t] = left[t + 1] + 1 if self.linked[t] else 0
        return np.asarray(left[self.row_frame])

    @cached_property
    def frames_before(self) -> Ints:
        """(N,) how many frames come before a cell's own without a break."""
        before = np.zeros(len(self.frames), np.int64)
        for t in range(1, len(self.frames)):
            before[t] = before[t - 1] + 1 if self.linked[t - 1] else 0
        return np.asarray(before[self.row_frame])

    @cached_property
    def lags(self) -> Ints:
        """(E,) single steps from mother to daughter."""
        return np.ones(len(self.mother), np.int64) if self.lag is None else self.lag

    @cached_property
    def duration(self) -> Floats:
        """(R,) how long each transition takes, in usual steps."""
        if self.clock is None:
            return np.ones(len(self))
        return np.asarray(self.clock[self.transitions[:, 1]] - self.clock[self.transitions[:, 0]])

    @cached_property
    def elapsed(self) -> Floats | Ints:
        """(E,) time from mother to daughter, in usual steps."""
        if self.clock is None:
            return self.lags
        return np.asarray(self.clock[self.row_frame[self.daughter]] - self.clock[self.row_frame[self.mother]])

    @cached_property
    def beyond(self) -> Floats | Ints:
        """(E,) the same in units of the time to the mother's next frame."""
        return self.lags if self.clock is None else np.asarray(self.elapsed / self.duration[self.edge_transition])

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


def _nearest(place: Floats, k: int) -> Ints:
    """(n, k) the nearest others of n places; a place itself where there are fewer."""
    own = np.arange(len(place))[:, None]
    if len(place) < 2:
        return np.repeat(own, k, axis=1)
    from scipy.spatial import cKDTree

    index = cKDTree(place).query(place, k + 1)[1][:, 1:]
    return np.where(index < len(place), index, own)


def _filled(cells: Detections, values: Any) -> Floats:
    """(n,) a frame's values; NaN where there are none."""
    return (
        np.full(len(cells), np.nan) if values is None else np.broadcast_to(np.asarray(values, np.float64), len(cells))
    )
