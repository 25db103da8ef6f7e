"""When the cells of a stretch are seen: lags of edges, durations of transitions, frames before and after."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dunno.types.arrays import Floats, Ints
from dunno.types.stretch_table import StretchTable


class StretchTimes(StretchTable):
    """A table that knows how long everything takes."""

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
