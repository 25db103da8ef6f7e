"""Readiness: large, bright or round cells divide more often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dunno.terms import ModelView, Prior, Step, Term, parameter
from dunno.terms._feature import population
from dunno.types import Floats
from dunno.types.stretch import Stretch

READINESS_PRIOR = Prior(0, 1, "unit of information")
SLOPES = ("ready_always", "ready_large", "ready_bright", "ready_round")
LARGEST_READINESS = 3.0  # standard deviations; judged; beyond which a feature says no more
NEWTON = 4  # steps; judged; of the logistic regression in one round


@dataclass(frozen=True)
class Readiness(Term):
    """The log odds of dividing grow with a mother's size, brightness and roundness."""

    name: ClassVar[str] = "readiness"
    rank: ClassVar[int] = 5

    ready_always: float = parameter("log odds", (-20.0, 20.0), Prior(0, 0.01, "units of information"), link="none")
    ready_large: float = parameter("log odds per standard deviation", (-10.0, 10.0), READINESS_PRIOR, link="none")
    ready_bright: float = parameter("log odds per standard deviation", (-10.0, 10.0), READINESS_PRIOR, link="none")
    ready_round: float = parameter("log odds per standard deviation", (-10.0, 10.0), READINESS_PRIOR, link="none")
    centres: tuple[float, ...] = (0.0, 0.0, 0.0)  # Of log area, brightness and log elongation in the population
    widths: tuple[float, ...] = (1.0, 1.0, 1.0)  # Their spreads

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: ModelView) -> Readiness:
        """All are alike."""
        centres, widths = zip(*(population(column, 1e-6) for column in _columns(stretch)), strict=True)
        return cls(centres=centres, widths=widths)

    def log_ready(self, stretch: Stretch) -> Floats:
        """(N,) what is added to the log odds of each mother to divide."""
        return np.asarray(self._design(stretch) @ self._slopes())

    def _slopes(self) -> Floats:
        return np.array([getattr(self, name) for name in SLOPES])

    def _design(self, stretch: Stretch) -> Floats:
        columns = [
            np.clip(np.nan_to_num((column - centre) / width), -LARGEST_READINESS, LARGEST_READINESS)
            for column, centre, width in zip(_columns(stretch), self.centres, self.widths, strict=True)
        ]
        return np.stack([np.ones(stretch.n_rows), *columns], axis=1)

    def updated(self, step: Step) -> Readiness:
        """A logistic regression of the expected divisions among mothers that were not lost."""
        if "p_divide" in step.held:
            return self
        stretch, found = step.stretch, step.found
        mothers = stretch.is_mother
        count = step.weight[stretch.leads[mothers]]
        design = self._design(stretch)[mothers]
        divided, survived = count * found.divide[mothers], count * (1 - found.disappear[mothers])
        share = np.clip(stretch.by_mother(step.model.value("p_divide"))[mothers], 1e-9, 1 - 1e-9)
        offset = np.log(share) - np.log1p(-share)
        slopes, prior = self._slopes(), np.diag([self.prior(name).worth for name in SLOPES])
        for _ in range(NEWTON):
            p = 1 / (1 + np.exp(-(offset + design @ slopes)))
            gradient = design.T @ (divided - survived * p) - prior @ slopes
            curvature = (design * (survived * p * (1 - p))[:, None]).T @ design + prior
            slopes = np.clip(slopes + np.linalg.solve(curvature, gradient), -10.0, 10.0)
        return self.fitted(**dict(zip(SLOPES, slopes.tolist(), strict=True)))


def _columns(stretch: Stretch) -> tuple[Floats, Floats, Floats]:
    contrast = stretch.column("brightness") - stretch.background
    return stretch.column("log_area"), contrast, -np.log(stretch.elongation)
