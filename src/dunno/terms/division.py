"""Division: how often mothers divide, and where their daughters land."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dunno.terms import ModelView, Prior, Step, Term, Words, parameter, share
from dunno.types import Floats
from dunno.types.density import log_student
from dunno.types.stretch import Stretch, Value

LEAST_DIVISION_SHARE = 1e-9  # probability; exact: keeps a logarithm finite


@dataclass(frozen=True)
class Division(Term):
    """A share of the surviving mothers divides; each daughter lands at a Gaussian displacement with a scale of its own."""

    name: ClassVar[str] = "division"
    is_place: ClassVar[bool] = True

    division_scale: float = parameter(
        "squared length per axis", (0.0, np.inf), Prior("prior_scale", 5, "edges", "half a cell's size")
    )
    p_divide: Value = share(
        "share of surviving mothers per step",
        (LEAST_DIVISION_SHARE, 0.99),
        Prior("prior_share", 300, "cells", "what growth alone says"),
        Words("divisions", "% of cells per step"),
        varies=True,
    )
    prior_scale: float = 1.0  # What is believed of the division scale before the movie: half a cell's size
    # What is believed of the share: that growth comes from divisions; 0 where cells are known not to divide
    prior_share: float = 0.01

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: ModelView) -> Division:
        """From the growth in numbers and the size of cells."""
        mothers, daughters = stretch.n_mothers.sum(), stretch.n_daughters.sum()
        growth = daughters / max(mothers, 1)
        usual = float(np.median(stretch.spread[stretch.is_mother])) if mothers else 1.0
        scale = max(model.mean("motion_scale"), (cell_size / 2) ** 2 / usual)
        divide = float(np.clip(growth - 1, 0, 0.89)) + 0.01
        return cls(division_scale=scale, p_divide=divide, prior_scale=scale, prior_share=divide)

    @property
    def never(self) -> bool:
        """Whether cells are known not to divide."""
        return self.prior_share == 0

    def parameter(self, name: str) -> Any:
        """The same; nobody is told a rate of divisions where there are none."""
        told = super().parameter(name)
        return replace(told, words=None) if told and self.never else told

    def without_divisions(self) -> Division:
        """The same where cells are known not to divide."""
        return replace(self, p_divide=LEAST_DIVISION_SHARE, prior_share=0.0)

    def log_dividing(self, stretch: Stretch) -> Floats:
        """(E,) log density of landing there as one of two daughters."""
        return log_student(stretch.squared, self.division_scale, np.inf, stretch.n_dimensions) - stretch.log_volume

    def updated(self, step: Step) -> Division:
        """T₂ ← ΣPδ / (dΣP) with a few edges' worth of the prior, and the share of those that did not get lost."""
        stretch, found = step.stretch, step.found
        d = stretch.n_dimensions
        weight = step.counts * step.dividing * step.interior
        prior = self.prior("division_scale")
        prior = replace(prior, worth=prior.worth * d)  # each edge has a displacement along each axis
        scale = prior.posterior_mean(float((weight * stretch.squared).sum()), d * float(weight.sum()))
        if "p_divide" in step.held or self.never:
            return self.fitted(division_scale=scale)
        divided = stretch.per_transition(found.divide, stretch.leads)
        survived = stretch.per_transition(1 - found.disappear, stretch.leads)
        return self.fitted(division_scale=scale, p_divide=step.share(self.prior("p_divide"), divided, survived))
