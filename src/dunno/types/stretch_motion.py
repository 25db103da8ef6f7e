"""How far the cells of a stretch move: steps along edges, beyond the stage's jumps and the neighbours' drift."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dunno.types.arrays import Floats, Ints
from dunno.types.stretch_times import StretchTimes


class StretchMotion(StretchTimes):
    """A table that knows the displacement of every edge."""

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
