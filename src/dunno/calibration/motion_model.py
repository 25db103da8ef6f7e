"""How cells move, divide, appear and get lost: a generative model of two frames."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dunno.assignment import Problem
from dunno.types import Candidates, Detections, Floats, FramePair, Ints
from dunno.types.detections import typical_diameter

SMALLEST = 1e-12
"""Rates are kept this far from 0 and 1, so that no event is impossible."""

FIELD_GRID = 100


@dataclass(frozen=True, eq=False)
class MotionPair:
    """What the model sees of a frame pair: places, and the candidate edges between them.

    Attributes:
        frame: Original index of the mothers' frame.
        mother: (E,) each candidate edge's mother.
        daughter: (E,) its daughter.
        step: (E, d) from mother to daughter.
        spread: (m,) how much more than usual each mother's squared displacement may be (activity; else 1).
        mother_place: (m, d) centres.
        daughter_place: (n, d) centres.
        drift: (m, d) where each mother is carried by her neighbours.
    """

    frame: int
    mother: Ints
    daughter: Ints
    step: Floats
    spread: Floats
    mother_place: Floats
    daughter_place: Floats
    drift: Floats | None = None

    @classmethod
    def of(cls, pair: FramePair, candidates: Candidates, cost: Any) -> MotionPair:
        """See a pair with a motion cost's eyes."""
        return cls.between(pair.mothers, pair.daughters, candidates, cost.spread(pair))

    @classmethod
    def between(cls, mothers: Detections, daughters: Detections, candidates: Candidates, spread: Floats) -> MotionPair:
        """See two frames' cells, the mothers' spread being known."""
        return cls(
            frame=mothers.frame,
            mother=candidates.mother,
            daughter=candidates.daughter,
            step=daughters.centroid[candidates.daughter] - mothers.centroid[candidates.mother],
            spread=spread,
            mother_place=mothers.centroid,
            daughter_place=daughters.centroid,
        )

    @property
    def n_mothers(self) -> int:
        """M."""
        return len(self.mother_place)

    @property
    def n_daughters(self) -> int:
        """N."""
        return len(self.daughter_place)

    @cached_property
    def squared(self) -> Floats:
        """(E,) δ: squared displacement beyond the drift, in units of the mother's spread."""
        moved = self.step if self.drift is None else self.step - self.drift[self.mother]
        return np.asarray(np.einsum("ed,ed->e", moved, moved) / self.spread[self.mother])

    @cached_property
    def log_volume(self) -> Floats:
        """(E,) (d/2)·log α, what a mother's spread costs each of her densities."""
        return np.asarray(0.5 * self.step.shape[1] * np.log(self.spread[self.mother]))


@dataclass(frozen=True)
class Field:
    """The box in which cells are seen; annotators and segmentations often leave out a margin of the image."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def around(cls, cells: list[Detections]) -> Field:
        """The box of all centres, at least eight cell diameters wide: a few cells do not tell where the field ends."""
        places = np.concatenate([each.centroid for each in cells]) if cells else np.zeros((1, 2))
        if len(places) == 0:
            places = np.zeros((1, cells[0].centroid.shape[1]))
        low, high = places.min(axis=0), places.max(axis=0)
        size = typical_diameter(cells)
        margin = np.maximum(0.02 * size, (8 * size - (high - low)) / 2)
        return cls(tuple((low - margin).tolist()), tuple((high + margin).tolist()))

    @property
    def size(self) -> float:
        """Area or volume."""
        return float(np.prod(np.subtract(self.high, self.low)))


class Events(NamedTuple):
    """What may happen to a pair's cells other than a link.

    Attributes:
        lost: (m,) f₀: lost inside the field, or gone across its border.
        appear: (n,) density of appearing where each daughter is.
        could_leave: Mothers expected to leave if `leaving` were 1.
        could_enter: Cells expected to enter if `entering` were 1: as crowded outside as inside.
    """

    lost: Floats
    appear: Floats
    could_leave: float
    could_enter: float


@dataclass(frozen=True)
class MotionModel:
    r"""The parameters, and the assignment problem that they make of a pair.

    A mother is lost, has one daughter or divides with probabilities π₀, π₁, π₂. A single daughter lands at the mother's place
    plus a Student-t displacement (ν degrees of freedom, scale T per axis; ν → ∞ is the paper's Brownian motion); the
    daughters of a division land at Gaussian displacements with a scale of their own, T₂. New cells appear anywhere in the
    field with density ρ. **Cells cross the border**: a mother leaves with the probability that her displacement ends outside the
    field, times `leaving`; and cells enter with the density of those inside times the probability that one came from
    outside, times `entering`. With $f_0 = π_0 + (1 − π_0)\,leave_i$, $f_1 = π_1$, $f_2 = 2π_2$ (a division's daughters have no
    order), the likelihood of an assignment is

    $$\prod_{i: 0} f_0 \prod_{i \to j} f_1 t_ν(x'_j - x_i; T) \prod_{i \to j,k} f_2 N(x'_j - x_i; T_2) N(x'_k - x_i; T_2)
      \prod_{j: ⊥} ρ_j \cdot e^{-\int ρ}$$

    Lengths are those of the movie; for a cost with a spread α (activity), displacements are in units of √α.
    """

    n_dimensions: int
    motion_scale: float
    tail: float
    division_scale: float
    p_lost: float
    p_divide: float
    appear_density: float
    entering: float
    leaving: float
    field: Field

    @property
    def p_single(self) -> float:
        """π₁."""
        return 1.0 - self.p_lost - self.p_divide

    def interior(self, pair: MotionPair) -> Floats:
        """(m,) 1 for mothers so far from the border that hardly a daughter is lost across it, 0 for others.

        Near the border the long displacements leave, and those that are seen look short. All ones where few are inside.
        """
        low, high = np.array(self.field.low), np.array(self.field.high)
        distance = np.minimum(pair.mother_place - low, high - pair.mother_place).min(axis=1, initial=np.inf)
        inside = distance > 2.5 * np.sqrt(max(self.motion_scale, self.division_scale))
        enough = inside.mean() > 0.3 if len(inside) else False
        return inside.astype(np.float64) if enough else np.ones(pair.n_mothers)

    def log_single(self, pair: MotionPair) -> Floats:
        """(E,) log density of landing there as the only daughter."""
        return log_student(pair.squared, self.motion_scale, self.tail, self.n_dimensions) - pair.log_volume

    def log_dividing(self, pair: MotionPair) -> Floats:
        """(E,) log density of landing there as one of two daughters."""
        return log_student(pair.squared, self.division_scale, np.inf, self.n_dimensions) - pair.log_volume

    def outside(self, places: Floats, spread: Floats | float = 1.0) -> Floats:
        """(n,) probability that a displacement from these places ends outside the field, axes taken as independent."""
        inside = self._inside(places.T, np.sqrt(self.motion_scale * np.asarray(spread))).prod(axis=0)
        return np.asarray(np.clip(1.0 - inside, 0.0, 1.0))

    def _inside(self, places: Floats, width: Floats | float) -> Floats:
        """(d, n) probability that a displacement along each axis ends within the field, from (d, n) places.

        All axes and both ends in one call: the fit asks for a hundred places at a time, where the calls cost more than the places.
        """
        from scipy.special import ndtr, stdtr

        edges = np.array([self.field.high, self.field.low])[:, :, None]
        ends = (edges - places) / width
        above, below = ndtr(ends) if np.isinf(self.tail) else stdtr(self.tail, ends)
        return np.asarray(above - below)

    def events(self, pair: MotionPair) -> Events:
        """What may happen to each cell other than a link."""
        usual = float(np.median(pair.spread)) if pair.n_mothers else 1.0
        cells = 0.5 * (pair.n_mothers + pair.n_daughters)
        leave = self.outside(pair.mother_place, pair.spread)
        twins = self.evolved(motion_scale=self.division_scale, tail=np.inf)
        single, dividing = self.p_single, 2 * self.p_divide  # daughters per cell outside
        enter = single * self.outside(pair.daughter_place, usual) + dividing * twins.outside(pair.daughter_place, usual)
        lost = np.clip(self.p_lost + (1 - self.p_lost) * self.leaving * leave, SMALLEST, 1 - SMALLEST)
        appear = np.maximum(
            self.appear_density + self.entering * cells / self.field.size * enter, SMALLEST / self.field.size
        )
        crossing = cells * (single * (1 - self._stays(usual)) + dividing * (1 - twins._stays(usual)))
        return Events(lost, appear, could_leave=float(leave.sum()), could_enter=crossing)

    def _stays(self, spread: float) -> float:
        """Probability that a cell anywhere in the field stays in it."""
        low, high = np.array(self.field.low)[:, None], np.array(self.field.high)[:, None]
        middles = low + (np.arange(FIELD_GRID) + 0.5) / FIELD_GRID * (high - low)
        return float(self._inside(middles, float(np.sqrt(self.motion_scale * spread))).mean(axis=1).prod())

    def problem(self, pair: MotionPair, events: Events | None = None) -> Problem:
        """The assignment problem whose posterior this model gives."""
        events = events or self.events(pair)
        return Problem(
            pair.mother,
            pair.daughter,
            -self.log_single(pair),
            pair.n_mothers,
            pair.n_daughters,
            appear=-np.log(events.appear),
            disappear=-np.log(events.lost / self.p_single),
            divide=-np.log(2 * self.p_divide / self.p_single),
            dividing_cost=-self.log_dividing(pair),
        )

    def simulate(self, n_mothers: float, gate: float, rng: np.random.Generator, frame: int = 0) -> MotionPair:
        """Draw a pair from the model: on average `n_mothers` in the field, as crowded outside as inside.

        Args:
            n_mothers: Mean number of mothers in the field.
            gate: Longest candidate edge.
            rng: Random numbers.
            frame: What to call the mothers' frame.
        """
        from scipy.spatial import cKDTree

        d, margin = self.n_dimensions, self.reach(1e-3)
        low, high = np.array(self.field.low) - margin, np.array(self.field.high) + margin
        everyone = rng.poisson(n_mothers / self.field.size * float(np.prod(high - low)))
        places = rng.uniform(low, high, (everyone, d))
        load = rng.choice(3, everyone, p=[self.p_lost, self.p_single, self.p_divide])
        normal = rng.standard_normal((everyone, 2, d))
        heavy = np.ones(everyone) if np.isinf(self.tail) else np.sqrt(rng.chisquare(self.tail, everyone) / self.tail)
        single = places + np.sqrt(self.motion_scale) * normal[:, 0] / heavy[:, None]
        twins = places[:, None] + np.sqrt(self.division_scale) * normal
        new = rng.uniform(self.field.low, self.field.high, (rng.poisson(self.appear_density * self.field.size), d))
        mothers = self._seen(places)
        daughters = self._seen(np.concatenate([single[load == 1], twins[load == 2].reshape(-1, d), new]))
        near = cKDTree(daughters).sparse_distance_matrix(cKDTree(mothers), gate, output_type="ndarray")
        order = np.lexsort((near["j"], near["i"]))
        daughter, mother = near["i"][order].astype(np.int64), near["j"][order].astype(np.int64)
        step = daughters[daughter] - mothers[mother]
        return MotionPair(frame, mother, daughter, step, np.ones(len(mothers)), mothers, daughters)

    def _seen(self, places: Floats) -> Floats:
        inside = ((places >= self.field.low) & (places <= self.field.high)).all(axis=1)
        return np.asarray(places[inside])

    def reach(self, beyond: float) -> float:
        """The distance beyond which a share `beyond` of single displacements goes."""
        from scipy.special import chdtri, fdtri

        d = self.n_dimensions
        ratio = chdtri(d, beyond) if np.isinf(self.tail) else d * fdtri(d, self.tail, 1 - beyond)
        return float(np.sqrt(self.motion_scale * ratio))

    def evolved(self, **changes: float) -> MotionModel:
        """The same with some parameters changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


def log_student(squared: Floats, scale: float, tail: float, d: int) -> Floats:
    """Log density of a d-dimensional Student-t at squared distance δ from its centre; Gaussian for an infinite tail."""
    from scipy.special import gammaln

    if np.isinf(tail):
        return np.asarray(-0.5 * squared / scale - 0.5 * d * np.log(2 * np.pi * scale))
    norm = gammaln((tail + d) / 2) - gammaln(tail / 2) - 0.5 * d * np.log(tail * np.pi * scale)
    return np.asarray(norm - 0.5 * (tail + d) * np.log1p(squared / (tail * scale)))
