"""Border: cells leave the field and enter it where they come near its edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dunno import _core
from dunno.terms import ModelView, Prior, Step, Term, parameter
from dunno.types import Floats
from dunno.types.density import student_below, student_overlap, student_table
from dunno.types.field import Field
from dunno.types.stretch import Stretch, Value

FIELD_GRID = 100  # points; judged; of the table of how likely a cell at a depth leaves


@dataclass(frozen=True)
class Border(Term):
    """A mother leaves with the probability that its displacement ends outside the field, times `leaving`.

    Cells enter with the density of those inside times the probability that one came from outside, times `entering`. Axes
    are taken as independent.

    Two things are left out. With `leaving` below 1, what steps outside and is not lost is nowhere: the densities of displacements
    inside are not scaled up by it, so a mother's ways sum to less than 1 near the border (to 1 − (1 − leaving) × the share that
    steps outside). And of a division both daughters stay, or none: one that leaves alone counts as a single daughter's mother.
    """

    name: ClassVar[str] = "border"
    is_place: ClassVar[bool] = True
    lost_as: ClassVar[str] = "left"
    appears_as: ClassVar[str] = "entered"

    entering: float = parameter("of what would enter if it were as crowded outside", (0.0, np.inf), Prior(1, 1, "cell"))
    leaving: float = parameter("share of what steps outside", (0.0, 1.0), Prior(1, 1, "cell"))

    def lost(self, model: ModelView, stretch: Stretch) -> Floats:
        """(N,) of those not lost inside, the share that steps outside and is not seen again."""
        width = np.sqrt(stretch.by_mother(model.value("motion_scale")) * stretch.spread) * stretch.axis_widths[:, None]
        steps_out = outside(model.field, stretch.place_after, width, model.mean("tail"))
        return (1 - stretch.by_mother(model.value("p_lost"))) * self.leaving * steps_out

    def appear(self, model: ModelView, stretch: Stretch) -> Floats:
        """(N,) density of cells that came from outside."""
        usual = stretch.by_daughter(stretch.usual_spread)
        single, dividing = _daughters_per_cell(model, stretch)
        widths = (
            np.sqrt(stretch.by_daughter(scale) * usual) * stretch.axis_widths[:, None] for scale, _ in _laws(model)
        )
        came_alone, came_as_twins = (
            outside(model.field, stretch.place_before, width, tail)
            for width, (_, tail) in zip(widths, _laws(model), strict=True)
        )
        came = single[stretch.follows] * came_alone + dividing[stretch.follows] * came_as_twins
        return self.entering * stretch.by_daughter(_crowd(stretch)) / model.field.size * came

    def appearances(self, model: ModelView, stretch: Stretch) -> Floats:
        """(R,) how many enter."""
        return self.entering * self._could_enter(model, stretch)

    def updated(self, step: Step) -> Border:
        """The expected number of crossings over what would cross if the factors were 1."""
        if "leaving" in step.held:
            return self
        stretch, found, ways = step.stretch, step.found, step.ways
        left = stretch.per_transition(found.disappear * ways.lost_share(self.name), stretch.leads)
        entered = stretch.per_transition(found.appear * ways.appear_share(self.name), stretch.follows)
        kept = (1 - stretch.by_mother(step.model.value("p_lost"))) * self.leaving
        could_leave = stretch.per_transition(ways.lost[self.name] / kept, stretch.leads)
        return self.fitted(
            entering=step.total(self.prior("entering"), entered, self._could_enter(step.model, stretch)),
            leaving=step.total(self.prior("leaving"), left, could_leave),
        )

    def _could_enter(self, model: ModelView, stretch: Stretch) -> Floats:
        """(R,) how many would enter if it were as crowded outside as inside."""
        single, dividing = _daughters_per_cell(model, stretch)
        leave, part = (
            1 - _stays(model.field, np.sqrt(scale * stretch.usual_spread), tail, stretch)
            for scale, tail in _laws(model)
        )
        return _crowd(stretch) * (single * leave + dividing * part)


def _laws(model: ModelView) -> tuple[tuple[Value, float], tuple[Value, float]]:
    """Scale and tail of the steps of single daughters, and of those of divisions."""
    return (model.value("motion_scale"), model.mean("tail")), (model.value("division_scale"), np.inf)


def _crowd(stretch: Stretch) -> Floats:
    """(R,) cells per frame."""
    return 0.5 * (stretch.n_mothers + stretch.n_daughters)


def _daughters_per_cell(model: ModelView, stretch: Stretch) -> tuple[Floats, Floats]:
    """(R,) single daughters, and those of divisions, that a cell has on average."""
    lost, divide = (np.asarray(model.value(name), np.float64) for name in ("p_lost", "p_divide"))
    single, dividing = (1 - lost) * (1 - divide), 2 * (1 - lost) * divide
    return np.broadcast_to(single, len(stretch)), np.broadcast_to(dividing, len(stretch))


def outside(field: Field, places: Floats, width: Floats, tail: float) -> Floats:
    """(n,) probability that a displacement from (n, d) places ends outside the field, axes taken as independent.

    The width is that of the law along each axis, (d, n) or (d, 1).
    """
    box = np.array(field.low, np.float64), np.array(field.high, np.float64)
    found = _core.steps_outside(
        np.ascontiguousarray(places), *box, np.ascontiguousarray(width.T), *student_table(float(tail))
    )
    return np.asarray(found)


def _inside(field: Field, places: Floats, width: Floats | float, tail: float) -> Floats:
    """(d, …) probability that a displacement along each axis ends within the field, from (d, …) places."""
    edges = np.array([field.high, field.low]).reshape(2, field.n_dimensions, *[1] * (places.ndim - 1))
    above, below = student_below(tail, (edges - places) / width)
    return np.asarray(above - below)


def _stays(field: Field, width: Floats, tail: float, stretch: Stretch) -> Floats:
    """(R,) probability that a cell anywhere in the field stays in it, wherever the stage jumps."""
    size = np.subtract(field.high, field.low)[:, None]
    axes = stretch.axis_widths[:, None]
    if stretch.stage is None:
        return np.asarray(student_overlap(tail, size / (width * axes)).prod(axis=0))
    low = np.array(field.low)[:, None]
    middles = low + (np.arange(FIELD_GRID) + 0.5) / FIELD_GRID * size
    distinct, back = np.unique(np.column_stack([width, stretch.stage]), axis=0, return_inverse=True)
    stay = [
        float(_inside(field, middles + each[1:, None], each[0] * axes, tail).mean(axis=1).prod()) for each in distinct
    ]
    return np.array(stay)[back.reshape(-1)]
