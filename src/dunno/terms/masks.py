"""Masks: a mask may hold no cell, one, or two; how often, and what such masks look like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dunno.terms import TAIL, ModelView, Prior, Term, Words, bounded, parameter, share
from dunno.terms._feature import POPULATION_TAIL, population
from dunno.types import Floats, Ints
from dunno.types.density import UNIT_SPHERE, log_student
from dunno.types.stretch import Stretch

NEIGHBOURS = 3
UNIT_BALL = {2: np.pi, 3: 4 * np.pi / 3}
"""Volume of the unit ball, by dimension."""

TOUCH = 1.6
"""Cells may merge whose centres are no farther apart than so many times the sum of their radii."""

SIZE_ODD = 0.2
"""Share of links over which a mask's size is not what it was. Not fitted: a fit that believes in sizes finds few such links, and
takes every cell whose mask jumps for a neighbour's daughter."""

MOST_OF_SIZE = 2.5
"""What sizes may say for a link, in nats."""


@dataclass(frozen=True)
class Masks(Term):
    r"""A mask's state $s \in \{0, 1, 2\}$ and what it does to edges; see `dunno.models.mask_ways` for the ways in and out.

    Sizes are compared as logarithms $f$: of a link $f_j - f_i \sim t_4(0, σ)$, of two that merge or come apart the size of both
    together, of a division $f_{j+k} - f_i \sim t_4(μ, σ_d)$ and $f_j - f_k \sim t_4(0, σ_l)$; each over the population's density.
    """

    name: ClassVar[str] = "masks"
    joins_by_rule: ClassVar[bool] = True
    judges_masks: ClassVar[bool] = True
    gives_way_to_masks: ClassVar[bool] = True

    p_false: float = share(
        "share of cells per step",
        (1e-7, 0.3),
        Prior(0.001, 300, "cells"),
        Words("false masks that come up anywhere", "% of cells per step"),
        default=3e-3,
    )
    p_fragment: float = share(
        "share of cells per step",
        (1e-7, 0.3),
        Prior(0.001, 300, "cells"),
        Words("false masks that come up beside a cell", "% of cells per step"),
        default=3e-3,
    )
    false_stays: float = share("probability per step", (0.05, 0.5), Prior(0.4, 20, "masks"))
    false_size: float = parameter("log area over the usual", (-10.0, 10.0), Prior(-0.5, 10, "masks"), link="none")
    false_size_spread: float = parameter("of it", (0.05, 3.0), Prior(0.6, 10, "masks"))
    fragment_distance: float = parameter("sums of radii", (0.05, 10.0), Prior(0.9, 10, "masks"))
    fragment_spread: float = parameter("of its logarithm", (0.05, 2.0), Prior(0.4, 10, "masks"))
    p_cut: float = share(
        "share of cells per step",
        (1e-7, 0.3),
        Prior(0.001, 300, "cells"),
        Words("masks that are cut in two", "% of cells per step"),
        default=3e-3,
    )
    p_merge: float = share(
        "share of touching pairs per step",
        (1e-7, 0.3),
        Prior(0.001, 300, "pairs"),
        Words("pairs of near cells whose masks merge", "% per step"),
        default=3e-3,
    )
    p_apart: float = share("probability per step", (0.1, 0.9), Prior(0.2, 10, "masks"))
    share_two: float = share("share of masks", (1e-6, 0.3), Prior(0.002, 300, "masks"), default=0.01)
    share_false: float = share("share of masks", (1e-6, 0.3), Prior(0.002, 300, "masks"), default=0.01)
    size_spread: float = parameter("of log area per step", (0.02, 1.0), Prior(0.1, 20, "links"))
    young_growth: float = parameter("of log area per step", (-0.5, 0.5), Prior(0, 20, "links"), link="none")
    together_scale: float = parameter("squared radii per axis", (1e-4, 4.0), Prior(0.05, 10, "masks"))
    division_scale_of_middle: float = parameter("squared radii per axis", (1e-4, 4.0), Prior(0.05, 10, "divisions"))
    division_distance: float = parameter("sums of radii", (0.05, 10.0), Prior(1, 10, "divisions"))
    division_spread: float = parameter("of its logarithm", (0.05, 1.0), Prior(0.3, 10, "divisions"))
    division_size: float = parameter(
        "log area of both over the mother's", (-3.0, 3.0), Prior(0, 10, "divisions"), link="none"
    )
    division_size_spread: float = parameter("of it", (0.05, 2.0), Prior(0.3, 10, "divisions"))
    sister_spread: float = parameter("of the log ratio of sisters' areas", (0.03, 2.0), Prior(0.25, 20, "divisions"))
    p_mature: float = share(
        "probability per step", (1e-3, 0.9), Prior(source="four times the rate of division"), default=0.05
    )
    share_young: float = share("share of cells", (0.01, 0.95), Prior(0.4, 50, "cells"))
    centre: float = 0.0
    width: float = 1.0

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: ModelView) -> Masks:
        """With the population's sizes."""
        centre, width = population(stretch.column("log_area"), 0.1)
        return cls(centre=centre, width=width)

    def radius(self, stretch: Stretch) -> Floats:
        """(N,) of a disc or ball with the mask's area."""
        d = stretch.n_dimensions
        return np.asarray(np.exp((stretch.column("log_area") - np.log(UNIT_BALL[d])) / d))

    def log_population(self, stretch: Stretch) -> Floats:
        """(N,) log density of each mask's log area in the population."""
        return log_student((stretch.column("log_area") - self.centre) ** 2, self.width**2, POPULATION_TAIL, 1)

    def log_size(self, change: Floats, daughter: Ints, stretch: Stretch, *, young: bool = False) -> Floats:
        """What a change of log area along links says, bounded in both directions."""
        own = log_student((change - self.young_growth * young) ** 2, self.size_spread**2, TAIL, 1)
        return bounded(own - self.log_population(stretch)[daughter], SIZE_ODD, MOST_OF_SIZE)

    def false_density(self, model: ModelView, stretch: Stretch) -> tuple[Floats, Floats]:
        """(N,) densities of false masks that come up anywhere, and beside a cell."""
        size = stretch.column("log_area") - self.centre
        own = log_student((size - self.false_size) ** 2, self.false_size_spread**2, TAIL, 1)
        ratio = np.exp(np.minimum(own - self.log_population(stretch), 3.0))
        count = np.bincount(stretch.row_frame, minlength=len(stretch.frames))[stretch.row_frame]
        anywhere = self.p_false * count / model.field.size
        return np.asarray(anywhere * ratio), np.asarray(self.p_fragment * self._near(stretch) * ratio)

    def _near(self, stretch: Stretch) -> Floats:
        """(N,) density of a place beside its neighbours."""
        d = stretch.n_dimensions
        distance = stretch.neighbour_distances(NEIGHBOURS)
        usual = 2 * np.exp((self.centre - np.log(UNIT_BALL[d])) / d) * self.fragment_distance
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(distance)
            law = log_student((logs - np.log(usual)) ** 2, self.fragment_spread**2, TAIL, 1)
            density = np.exp(law - np.log(UNIT_SPHERE[d]) - d * logs)
        return np.asarray(np.where(np.isfinite(distance) & (distance > 0), density, 0.0).sum(axis=1))

    def two_ratio(self, stretch: Stretch) -> Floats:
        """(N,) how much more usual each size is among masks that hold two cells than in the population."""
        size = stretch.column("log_area") - self.centre
        own = log_student((size - np.log(2.0)) ** 2, max(self.width, 0.2) ** 2, POPULATION_TAIL, 1)
        return np.clip(own - self.log_population(stretch), -4.0, 3.0)

    def apart_law(self, geometry: Together, stretch: Stretch) -> Floats:
        """(K,) log density of two masks that one mask came apart into."""
        like = log_student(geometry.unlike**2, 2 * self.width**2, POPULATION_TAIL, 1)
        change = log_student(geometry.growth**2, self.size_spread**2 * 2, TAIL, 1)
        return geometry.place(self.together_scale, 1.0, 0.35) + like + change - geometry.population

    def cut_law(self, geometry: Together, stretch: Stretch) -> Floats:
        """(K,) log density of the two pieces of a mask that was cut."""
        like = log_student((np.abs(geometry.unlike) - 0.7) ** 2, 0.7**2, TAIL, 1) - np.log(2)
        change = log_student(geometry.growth**2, self.size_spread**2 * 2, TAIL, 1)
        return np.asarray(geometry.place(self.together_scale, 0.9, 0.3) + like + change - geometry.population)

    def division_law(self, geometry: Together, stretch: Stretch) -> Floats:
        """(K,) log density of a division's two daughters."""
        like = log_student(geometry.unlike**2, self.sister_spread**2, TAIL, 1)
        change = log_student((geometry.growth - self.division_size) ** 2, self.division_size_spread**2, TAIL, 1)
        place = geometry.place(self.division_scale_of_middle, self.division_distance, self.division_spread)
        return place + like + change - geometry.population

    def apart_dividing_law(self, other: Together, sisters: Together) -> Floats:
        """(K,) log density of the three masks that a mask comes apart into while one of its two cells divides.

        Args:
            other: The cell that does not divide beside both sisters together.
            sisters: The sisters.
        """
        like = log_student(other.unlike**2, 2 * self.width**2, POPULATION_TAIL, 1)
        change = log_student(other.growth**2, self.size_spread**2 * 2, TAIL, 1)
        born = log_student(sisters.unlike**2, self.sister_spread**2, TAIL, 1)
        places = other.place(self.together_scale, 1.0, 0.35) + sisters.apart(
            self.division_distance, self.division_spread
        )
        return np.asarray(places + like + change + born - other.population)

    def merge_law(self, geometry: Together, stretch: Stretch) -> Floats:
        """(K,) log density of the mask that two merge into."""
        change = log_student(geometry.growth**2, self.size_spread**2 * 2, TAIL, 1) - geometry.population
        return log_student(geometry.middle, self.together_scale * geometry.radius**2, TAIL, geometry.d) + change


@dataclass(frozen=True, eq=False)
class Together:
    """Two masks beside the one that they come from, or become.

    Attributes:
        middle: (K,) squared distance of their common centre from the one mask.
        distance: (K,) between the two.
        radii: (K,) sum of their radii.
        radius: (K,) of the one mask.
        growth: (K,) log of both areas together, over the one mask's.
        unlike: (K,) log ratio of their areas.
        population: (K,) log density of the population at the sizes that are to be explained.
        d: Dimensions.
    """

    middle: Floats
    distance: Floats
    radii: Floats
    radius: Floats
    growth: Floats
    unlike: Floats
    population: Floats
    d: int

    def place(self, scale: float, ratio: float, spread: float) -> Floats:
        """(K,) log density of the two places: their common centre, and how far they are apart in any direction."""
        middle = log_student(self.middle, scale * self.radius**2, TAIL, self.d)
        return np.asarray(middle + self.apart(ratio, spread))

    def apart(self, ratio: float, spread: float) -> Floats:
        """(K,) log density of the one's place given the other's: how far they are apart in any direction."""
        logs = np.log(self.distance)
        law = log_student((logs - np.log(ratio * self.radii)) ** 2, spread**2, TAIL, 1)
        return np.asarray(law - np.log(UNIT_SPHERE[self.d]) - self.d * logs)


def together(masks: Masks, stretch: Stretch, first: Ints, second: Ints, *, out: bool) -> Together:
    """Two edges each that leave one mask (`out`), or lead to one."""
    one = (stretch.mother if out else stretch.daughter)[first]
    far = stretch.daughter if out else stretch.mother
    pair = far[first], far[second]
    size, radius = stretch.column("log_area"), masks.radius(stretch)
    area = np.exp(size)
    moved = stretch.moved if out else -stretch.moved
    share = (area[pair[0]] / (area[pair[0]] + area[pair[1]]))[:, None]
    middle = share * moved[first] + (1 - share) * moved[second]
    apart = stretch.place[pair[0]] - stretch.place[pair[1]]
    both = np.logaddexp(size[pair[0]], size[pair[1]]) - size[one]
    own = masks.log_population(stretch)
    return Together(
        middle=np.einsum("kd,kd->k", middle, middle),
        distance=np.maximum(np.sqrt(np.einsum("kd,kd->k", apart, apart)), 1e-9),
        radii=radius[pair[0]] + radius[pair[1]],
        radius=radius[one],
        growth=both,
        unlike=size[pair[0]] - size[pair[1]],
        population=own[pair[0]] + own[pair[1]] if out else own[one],
        d=stretch.n_dimensions,
    )


def three_together(masks: Masks, stretch: Stretch, other: Ints, first: Ints, second: Ints) -> tuple[Together, Together]:
    """Three edges each that leave one mask: the first cell beside the two others as one, and these two."""
    sisters = together(masks, stretch, first, second, out=True)
    size, radius, own = stretch.column("log_area"), masks.radius(stretch), masks.log_population(stretch)
    one, lone, pair = (
        stretch.mother[other],
        stretch.daughter[other],
        (stretch.daughter[first], stretch.daughter[second]),
    )
    area = np.exp(size)
    both = area[pair[0]] + area[pair[1]]
    share = (area[pair[0]] / both)[:, None]
    middle_of_pair = share * stretch.place[pair[0]] + (1 - share) * stretch.place[pair[1]]
    moved_pair = share * stretch.moved[first] + (1 - share) * stretch.moved[second]
    part = (area[lone] / (area[lone] + both))[:, None]
    middle = part * stretch.moved[other] + (1 - part) * moved_pair
    apart = stretch.place[lone] - middle_of_pair
    wide = radius[pair[0]] ** stretch.n_dimensions + radius[pair[1]] ** stretch.n_dimensions
    beside = Together(
        middle=np.einsum("kd,kd->k", middle, middle),
        distance=np.maximum(np.sqrt(np.einsum("kd,kd->k", apart, apart)), 1e-9),
        radii=radius[lone] + wide ** (1 / stretch.n_dimensions),
        radius=radius[one],
        growth=np.log(area[lone] + both) - size[one],
        unlike=size[lone] - np.log(both),
        population=own[lone] + own[pair[0]] + own[pair[1]],
        d=stretch.n_dimensions,
    )
    return beside, sisters
