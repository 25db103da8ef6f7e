"""Parting: a mother's two daughters lie on either side of its place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dunno.terms import TAIL, ModelView, Prior, Sisters, Step, Term, Words, bounded, parameter, share
from dunno.types import Floats
from dunno.types.density import UNIT_SPHERE, log_student
from dunno.types.stretch import Stretch

PARTING_BOUND = 4.0  # nats; benchmarks.evidence; what it may say at most for a division


@dataclass(frozen=True)
class Parting(Term):
    r"""The daughters' middle $m$ stays near their mother, and they are $2r$ apart in any direction.

    $$\frac{t_4(m;\, T_m)\; t_4(\log r;\, \log r_0, s)\, /\, (S_d\, r^d)}{2^d\; h_{ij}\, h_{ik}}$$

    with $S_d$ the surface of the unit ball, in the place of the densities $h$ of two daughters that do not know each other.
    """

    name: ClassVar[str] = "parting"
    rank: ClassVar[int] = 1
    sees_sisters: ClassVar[bool] = True

    middle_scale: float = parameter(
        "squared length per axis", (0.0, np.inf), Prior("prior_middle", 5, "divisions", "the motion's")
    )
    parted: float = parameter(
        "length",
        (0.0, np.inf),
        Prior("prior_parted", 5, "divisions", "half a cell's size"),
        words=Words("daughters part by", "length each", "as it is"),
    )
    parted_spread: float = parameter("of its logarithm", (0.02, 3.0), Prior(0.35, 5, "divisions"))
    odd: float = share("share of divisions", (1e-3, 0.5), Prior(0.05, 20, "divisions"))
    alone_scale: float = 1.0
    prior_middle: float = 1.0
    prior_parted: float = 1.0

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: ModelView) -> Parting:
        """From the motion and the size of cells."""
        middle, alone = (model.mean(name) for name in ("motion_scale", "division_scale"))
        middle = max(middle, 1e-4 * cell_size**2)
        parted = cell_size / 2
        return cls(middle, parted, alone_scale=alone, prior_middle=middle, prior_parted=parted)

    def log_triple(self, stretch: Stretch, sisters: Sisters) -> Floats:
        """(K,) beyond what two daughters that do not know each other would say."""
        return bounded(self._ratio(stretch, sisters), self.odd, PARTING_BOUND)

    def _ratio(self, stretch: Stretch, sisters: Sisters) -> Floats:
        d = stretch.n_dimensions
        middle, size = _geometry(stretch, sisters)
        own = log_student(middle, self.middle_scale, TAIL, d) - d * np.log(2)
        own = own + log_student((size - np.log(self.parted)) ** 2, self.parted_spread**2, TAIL, 1)
        own = own - np.log(UNIT_SPHERE[d]) - d * size
        alone = log_student(stretch.squared, self.alone_scale, np.inf, d)
        return np.asarray(own - alone[sisters.first] - alone[sisters.second])

    def updated(self, step: Step) -> Parting:
        """Each law by one step of its own, with a few divisions' worth of the priors."""
        alone = step.model.mean("division_scale")
        if step.divisions is None:
            return replace(self, alone_scale=alone)
        stretch, (sisters, weight) = step.stretch, step.divisions
        weight = weight * step.interior[sisters.first]
        inlying = (1 - self.odd) * np.exp(np.minimum(self._ratio(stretch, sisters), PARTING_BOUND))
        inlying = inlying / (inlying + self.odd)
        odd = self.prior("odd").posterior_mean(float((weight * (1 - inlying)).sum()), float(weight.sum()))
        weight = weight * inlying
        middle, size = _geometry(stretch, sisters)
        scale = self.student_scale(middle, weight, "middle_scale", stretch.n_dimensions)
        law = self.student(size, weight, "parted", "parted_spread")
        return self.fitted(middle_scale=scale, **law, odd=odd, alone_scale=alone)


def _geometry(stretch: Stretch, sisters: Sisters) -> tuple[Floats, Floats]:
    """(K,) squared way of the daughters' middle, and the logarithm of half their distance."""
    found: tuple[Floats, Floats] = stretch.latest("parting", sisters, lambda: _measured(stretch, sisters))
    return found


def _measured(stretch: Stretch, sisters: Sisters) -> tuple[Floats, Floats]:
    usual = np.sqrt(stretch.spread[stretch.mother[sisters.first]])[:, None]
    one, other = stretch.moved[sisters.first] / usual, stretch.moved[sisters.second] / usual
    middle, apart = 0.5 * (one + other), 0.5 * (one - other)
    half = np.sqrt(np.einsum("kd,kd->k", apart, apart))
    return np.einsum("kd,kd->k", middle, middle), np.log(np.maximum(half, 1e-12))
