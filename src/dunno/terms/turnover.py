"""Turnover: cells that are lost, and cells that appear, inside the field."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dunno.terms import Step, Surroundings, Term, Words, parameter
from dunno.types import Floats
from dunno.types.shrinking import PRIOR_CELLS, shrunk
from dunno.types.stretch import Stretch, Value

PRIOR_LOST = 0.01
PRIOR_APPEARING = 0.005
"""Shares of cells that are believed to be lost, and to appear, before the movie is seen."""


@dataclass(frozen=True)
class Turnover(Term):
    """A share of the mothers is lost wherever they are, and new cells appear anywhere with the same density.

    Attributes:
        prior_density: What is believed of the appearance density before the movie.
    """

    name: ClassVar[str] = "turnover"

    p_lost: Value = parameter(
        "share of mothers per step",
        (1e-9, 0.98),
        f"{PRIOR_LOST:g}, worth {PRIOR_CELLS:.0f} cells",
        link="logit",
        varies=True,
        words=Words("losses", "% of cells per step", "percent"),
    )
    appear_density: Value = parameter(
        "cells per area and step",
        (0.0, np.inf),
        f"{PRIOR_APPEARING:g} of the cells, worth {PRIOR_CELLS:.0f} cells",
        varies=True,
    )
    prior_density: float = 0.0

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: Surroundings) -> Turnover:
        """From the priors and the number of cells."""
        density = PRIOR_APPEARING * stretch.n_daughters.sum() / max(len(stretch), 1) / model.field.size
        return cls(PRIOR_LOST, max(density, 1e-9 / model.field.size), prior_density=density)

    def lost(self, model: Surroundings, stretch: Stretch) -> Floats:
        """(N,) the same everywhere."""
        return stretch.by_mother(self.p_lost)

    def appear(self, model: Surroundings, stretch: Stretch) -> Floats:
        """(N,) the same everywhere."""
        return stretch.by_daughter(self.appear_density)

    def appearances(self, model: Surroundings, stretch: Stretch) -> Floats:
        """(R,) density times the field's size."""
        return np.broadcast_to(np.asarray(self.appear_density) * model.field.size, len(stretch))

    def updated(self, step: Step) -> Turnover:
        """The expected shares of losses and appearances that happened inside the field."""
        if "p_lost" in step.held:
            return self
        stretch, found, size = step.stretch, step.found, step.model.field.size
        ways = step.ways
        lost = stretch.per_transition(found.disappear * ways.lost_share(self.name), stretch.leads)
        appeared = stretch.per_transition(found.appear * ways.appear_share(self.name), stretch.follows)
        share = shrunk(lost, stretch.n_mothers, step.smooth, step.weight, PRIOR_LOST)
        unit = PRIOR_CELLS / max(float(stretch.n_mothers.mean()), 1.0) * size  # the prior's weight as an area
        areas = np.full(len(stretch), size)
        density = shrunk(appeared, areas, step.smooth, step.weight, self.prior_density, unit)
        return replace(
            self,
            p_lost=step.kept(np.clip(share, 1e-9, 0.98)),
            appear_density=step.kept(np.maximum(density, 1e-9 / size)),
        )
