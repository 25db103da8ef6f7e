"""The columns of a stretch: some frames of a movie, their cells, a row each, and the candidate edges between rows."""

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
        unseen: (T,) the share of the cells that a blackout left without a mask in each frame; `None` where there was none.
        stage: (R, d) by how much the stage jumped in each transition; `None` where it stood still.
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
    clock: Floats | None = None
    stage: Floats | None = None
    unseen: Floats | None = None
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


def linked_frames(transitions: Ints, n_frames: int) -> Bools:
    """(T - 1,) whether a transition leads from each frame to the next one."""
    joined = np.zeros(max(n_frames - 1, 0), np.bool_)
    joined[transitions[transitions[:, 1] == transitions[:, 0] + 1, 0]] = True
    return joined
