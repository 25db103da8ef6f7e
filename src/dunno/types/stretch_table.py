"""The columns of a stretch: some frames of a movie, a row per cell, the candidate edges between rows, and their motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dunno.types.arrays import Bools, Floats, Ints
from dunno.types.detections import Detections

Value = float | Floats
"""A parameter: one number, or one per transition of a stretch."""


@dataclass(frozen=True, eq=False)
class StretchTable:
    """What a model sees: R transitions between frames, whose N cells have a row each, and E candidate edges."""

    frames: Ints  # (T,) original index of each frame, ascending
    transitions: Ints  # (R, 2) positions in `frames` of each transition's earlier and later frame
    cells: tuple[Detections, ...]  # One frame's cells each
    row_frame: Ints  # (N,) position in `frames` of each row
    place: Floats  # (N, d) centres
    mother: Ints  # (E,) row of each edge's mother
    daughter: Ints  # (E,) row of its daughter
    spread: Floats  # (N,) how much more than usual each row's squared displacement may be (activity; else 1)
    leads: Ints  # (N,) the transition in which each row is a mother, -1 if in none
    follows: Ints  # (N,) the transition in which each row is a daughter, -1 if in none
    drift: Floats | None = None  # (N, d) where each mother is carried by its neighbours
    score: Floats | None = None  # (E,) what each edge costs, where a cost that is no motion speaks
    lag: Ints | None = None  # (E,) single steps from mother to daughter; `None` where all are 1
    clock: Floats | None = None  # (T,) when each frame was taken, in usual steps; `None` where all steps are usual
    stage: Floats | None = None  # (R, d) by how much the stage jumped in each transition; `None` where it stood still
    unseen: Floats | None = (
        None  # (T,) the share of the cells that a blackout left without a mask; `None` where there was none
    )
    # Squared motion along each axis in whose units displacements count; `None` where all count alike
    axes: tuple[float, ...] | None = None
    _columns: dict[str, Any] = field(default_factory=dict, repr=False)

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
    def linked(self) -> Bools:
        """(T - 1,) whether a transition leads from each frame to the next one in the table."""
        return linked_frames(self.transitions, len(self.frames))

    def latest(self, name: str, key: Any, make: Callable[[], Any]) -> Any:
        """What depends on these edges and on what the key says (`None`: on nothing else); that of the last key is kept."""
        if name not in self._kept or self._kept[name][0] != key:
            self._kept[name] = (key, make())
        return self._kept[name][1]

    @cached_property
    def _kept(self) -> dict[str, Any]:
        return {}  # not a field: with other edges it is empty again

    @cached_property
    def lags(self) -> Ints:
        """(E,) single steps from mother to daughter."""
        return np.ones(len(self.mother), np.int64) if self.lag is None else self.lag

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
        """(E,) (d/2)·log α, what a mother's spread costs each of its densities."""
        return np.asarray(0.5 * self.n_dimensions * np.log(self.spread[self.mother]))

    @cached_property
    def usual_spread(self) -> Floats:
        """(R,) the median spread of each transition's mothers; 1 without mothers."""
        medians = np.ones(len(self))
        for r, t in enumerate(self.transitions[:, 0].tolist()):
            own = self.spread[self.row_frame == t] if (self.spread != 1.0).any() else self.spread[:0]
            medians[r] = np.median(own) if len(own) else 1.0
        return medians

    @cached_property
    def axis_widths(self) -> Floats:
        """(d,) motion along each axis, relative to the geometric mean of all."""
        return np.ones(self.n_dimensions) if self.axes is None else np.sqrt(self.axes)


def linked_frames(transitions: Ints, n_frames: int) -> Bools:
    """(T - 1,) whether a transition leads from each frame to the next one."""
    joined = np.zeros(max(n_frames - 1, 0), np.bool_)
    joined[transitions[transitions[:, 1] == transitions[:, 0] + 1, 0]] = True
    return joined
