"""Turnover: cells that are lost, and cells that appear, inside the field."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dunno.terms import ModelView, Prior, Step, Term, Words, parameter, share
from dunno.types import Floats
from dunno.types.stretch import Stretch, Value

PRIOR_APPEARING = 0.005  # share; judged
"""The share of cells that is believed to appear in each frame before the movie is seen."""


@dataclass(frozen=True)
class Turnover(Term):
    """A share of the mothers is lost wherever they are, and new cells appear anywhere with the same density."""

    name: ClassVar[str] = "turnover"
    is_place: ClassVar[bool] = True
    lost_as: ClassVar[str] = "lost"
    appears_as: ClassVar[str] = "appeared"

    p_lost: Value = share(
        "share of mothers per step",
        (1e-9, 0.98),
        Prior(0.01, 300, "cells"),
        Words("losses", "% of cells per step"),
        varies=True,
    )
    appear_density: Value = parameter(
        "cells per area and step",
        (0.0, np.inf),
        Prior("prior_density", 300, "cells", f"{PRIOR_APPEARING:g} of the cells"),
        varies=True,
        default=0.0,
    )
    prior_density: float = 0.0  # What is believed of the appearance density before the movie

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: ModelView) -> Turnover:
        """From the priors and the number of cells."""
        density = PRIOR_APPEARING * stretch.n_daughters.sum() / max(len(stretch), 1) / model.field.size
        return cls(appear_density=max(density, 1e-9 / model.field.size), prior_density=density)

    def lost(self, model: ModelView, stretch: Stretch) -> Floats:
        """(N,) the same everywhere."""
        return stretch.by_mother(self.p_lost)

    def appear(self, model: ModelView, stretch: Stretch) -> Floats:
        """(N,) the same everywhere."""
        return stretch.by_daughter(self.appear_density)

    def appearances(self, model: ModelView, stretch: Stretch) -> Floats:
        """(R,) density times the field's size."""
        return np.broadcast_to(np.asarray(self.appear_density) * model.field.size, len(stretch))

    def updated(self, step: Step) -> Turnover:
        """The expected shares of losses and appearances that happened inside the field."""
        if "p_lost" in step.held:
            return self
        stretch, found, ways, size = step.stretch, step.found, step.ways, step.model.field.size
        lost = stretch.per_transition(found.disappear * ways.lost_share(self.name), stretch.leads)
        appeared = stretch.per_transition(found.appear * ways.appear_share(self.name), stretch.follows)
        prior = self.prior("appear_density")
        prior = replace(prior, worth=prior.worth / max(float(stretch.n_mothers.mean()), 1.0) * size)  # as an area
        density = step.share(prior, appeared, np.full(len(stretch), size))
        return self.fitted(
            p_lost=step.share(self.prior("p_lost"), lost, stretch.n_mothers),
            appear_density=np.maximum(density, 1e-9 / size),
        )
