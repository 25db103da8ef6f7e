"""Shape: long cells keep their axis, and divide along it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dunno.terms import Prior, Sisters, Step, Term, parameter
from dunno.types import Floats, special
from dunno.types.stretch import Stretch

STIFFEST = 400.0  # concentration; judged; the largest of a law of directions
NO_PREFERENCE = Prior(0, 1, "edge halfway to the right angle")

NEGLIGIBLE_SHAPE = 0.01  # probability; judged; edges that take no part in the update
LONG = 0.2  # share; judged
"""Cells are long from this share on: 1 − 1/elongation."""
SHARES = 50  # classes; judged
"""Classes of shares, within which a likelihood is summed up at their mean."""

STIFFNESSES = np.concatenate(
    [[0.0], np.geomspace(0.05, STIFFEST, 60)]
)  # concentration; judged; where the likeliest is looked for


@dataclass(frozen=True)
class Shape(Term):
    r"""The angle Δ between two axes, against no preference: $κ w \cos 2Δ - \log I_0(κ w)$ in 2D, Watson's law in 3D.

    $w$ is $(1 - 1/e)$ for each cell of elongation $e$ that takes part, so that round cells say nothing. The daughter's axis is held
    against its mother's, with a law for single daughters and one for a division's, and the line between sisters against their
    mother's axis.
    """

    name: ClassVar[str] = "shape"
    rank: ClassVar[int] = 4
    is_feature: ClassVar[bool] = True
    sees_sisters: ClassVar[bool] = True

    keeping: float = parameter("stiffness", (0.0, STIFFEST), NO_PREFERENCE, link="none", default=2.0)
    sisters_keeping: float = parameter("stiffness", (0.0, STIFFEST), NO_PREFERENCE, link="none")
    parting_along: float = parameter("stiffness", (0.0, STIFFEST), NO_PREFERENCE, link="none")

    @classmethod
    def can_see(cls, stretch: Stretch) -> bool:
        """Whether shapes were measured, and some cells are long."""
        return bool((stretch.length_share > LONG).any())

    def single_ratio(self, stretch: Stretch) -> Floats:
        """(E,) log, how much likelier the daughter's axis is from this mother than from anybody."""
        along, weight = _all_axes(stretch)
        return _log_ratio(self.keeping * weight, along, stretch.n_dimensions)

    def sister_ratio(self, stretch: Stretch, sisters: Sisters) -> Floats:
        """(K,) the same for a division's daughters, and for the line between them."""
        d = stretch.n_dimensions
        along, weight = _all_axes(stretch)
        each = _log_ratio(self.sisters_keeping * weight, along, d)
        along, weight = _between(stretch, sisters)
        return each[sisters.first] + each[sisters.second] + _log_ratio(self.parting_along * weight, along, d)

    def updated(self, step: Step) -> Shape:
        """The stiffnesses that make the expected angles most likely."""
        stretch, d = step.stretch, step.stretch.n_dimensions
        count = step.counts
        edges = np.flatnonzero(count * step.single > NEGLIGIBLE_SHAPE)
        expected = (count * step.single * step.steady)[edges]
        along, share = _all_axes(stretch)
        keeping = _stiffness(along[edges], share[edges], expected, d)
        if step.divisions is None:
            return replace(self, keeping=keeping)
        sisters, weight = step.divisions
        expected = weight * step.steady_sisters
        kept = expected > NEGLIGIBLE_SHAPE
        both = np.concatenate([sisters.first[kept], sisters.second[kept]])
        sisters_keeping = _stiffness(along[both], share[both], np.tile(expected[kept], 2), d)
        along, share = _between(stretch, sisters)
        parting_along = _stiffness(along[kept], share[kept], expected[kept], d)
        return replace(self, keeping=keeping, sisters_keeping=sisters_keeping, parting_along=parting_along)


def _axes(stretch: Stretch, edges: np.ndarray) -> tuple[Floats, Floats]:
    """The squared cosine between the axes of each edge's mother and daughter, and how much it says."""
    mother, daughter = stretch.mother[edges], stretch.daughter[edges]
    cosine = np.einsum("ed,ed->e", stretch.orientation[mother], stretch.orientation[daughter])
    return cosine**2, stretch.length_share[mother] * stretch.length_share[daughter]


def _all_axes(stretch: Stretch) -> tuple[Floats, Floats]:
    """The same of every edge."""
    found: tuple[Floats, Floats] = stretch.latest("axes", None, lambda: _axes(stretch, np.arange(len(stretch.mother))))
    return found


def _between(stretch: Stretch, sisters: Sisters) -> tuple[Floats, Floats]:
    """The squared cosine between the line of each pair of sisters and their mother's axis, and how much it says."""
    found: tuple[Floats, Floats] = stretch.latest("shape", sisters, lambda: _lines(stretch, sisters))
    return found


def _lines(stretch: Stretch, sisters: Sisters) -> tuple[Floats, Floats]:
    mother = stretch.mother[sisters.first]
    line = stretch.step[sisters.first] - stretch.step[sisters.second]
    length = np.maximum(np.einsum("kd,kd->k", line, line), 1e-30)
    cosine = np.einsum("kd,kd->k", line, stretch.orientation[mother])
    return cosine**2 / length, stretch.length_share[mother]


def _log_ratio(stiffness: Floats, squared_cosine: Floats, d: int) -> Floats:
    """Log density of an axis relative to no preference."""
    if d == 2:
        return np.asarray(stiffness * (2 * squared_cosine - 2) - np.log(special.bessel_i0e(stiffness)))
    root = np.sqrt(np.maximum(stiffness, 1e-12))  # ∫₀¹ exp(κ t²) dt = exp(κ) dawson(√κ) / √κ
    return np.asarray(stiffness * (squared_cosine - 1) - np.log(special.dawson(root) / root))


def _stiffness(along: Floats, share: Floats, weight: Floats, d: int) -> float:
    """The stiffness of highest likelihood on a grid; a few edges at right angles speak for none."""
    known = np.isfinite(share) & (share > 0.05)
    along, share, weight = along[known], share[known], weight[known]
    if weight.sum() < 1:
        return 0.0

    turned = float(
        (weight * share * (1 - along)).sum()
    )  # in which the likelihood is linear; the rest depends on shares alone
    owner = (share * SHARES).astype(np.int64)
    count = np.bincount(owner, weight)
    share = np.bincount(owner, weight * share) / np.maximum(count, 1e-30)
    share, count = share[count > 0], count[count > 0]
    stiffness = STIFFNESSES[:, None]
    most = _log_ratio(stiffness * share, np.ones(1), d) @ count
    prior = NO_PREFERENCE.worth * _log_ratio(0.25 * STIFFNESSES, np.array(0.5), d)
    return float(STIFFNESSES[np.argmax(prior + most - (2 if d == 2 else 1) * STIFFNESSES * turned)])
