"""A cost as evidence: how often links and other edges of the same distance have such a cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from dunno.terms import ModelView, Sisters, Step, Term
from dunno.types import Floats, Ints
from dunno.types.stretch import Stretch

RATIO_BINS = 12  # bins; judged; of a cost's quantiles
DISTANCES = (0.5, 1.5, 3.0)  # standard deviations; judged
"""Bounds of the classes of distance, in standard deviations of the motion per axis and dimension."""

WORTH = 10.0  # edges; judged
"""Weight of all distances together in each class, in edges."""

LARGEST_LOG_RATIO = 4.0  # nats; judged; what a cost may say at most for or against an edge


@dataclass(frozen=True)
class Ratio(Term):
    r"""The log ratio of a cost's densities over links and over other edges of the same distance.

    Costs are sorted into classes, and distances too, so that what motion has said is not said twice.
    """

    name: ClassVar[Any] = None
    is_feature: ClassVar[bool] = True
    sees_sisters: ClassVar[bool] = True

    bounds: tuple[float, ...] = ()  # Of the classes of costs
    ratios: tuple[tuple[float, ...], ...] = ()  # The log ratio of each class of distances and costs
    scale: float = 1.0  # The motion scale in which distances are told

    @classmethod
    def costs(cls, stretch: Stretch) -> Floats:
        """(E,) the cost of each edge; NaN where it is not known."""
        raise NotImplementedError

    @classmethod
    def can_see(cls, stretch: Stretch) -> bool:
        """Whether there is a cost."""
        return bool(np.isfinite(cls.costs(stretch)).any())

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: ModelView) -> Self:
        """With classes that are equally full, and nothing to say."""
        costs = cls.costs(stretch)
        finite = costs[np.isfinite(costs)]
        bounds = np.unique(np.quantile(finite, np.linspace(0, 1, RATIO_BINS + 1)[1:-1])) if len(finite) else np.empty(0)
        silent = tuple((0.0,) * (len(bounds) + 1) for _ in range(len(DISTANCES) + 1))
        return cls(tuple(bounds.tolist()), silent, model.mean("motion_scale"))

    def single_ratio(self, stretch: Stretch) -> Floats:
        """(E,) how much more often links than other edges of this distance have such a cost."""
        row, column = self._classes(stretch)
        return np.where(np.isfinite(self.costs(stretch)), np.array(self.ratios)[row, column], 0.0)

    def sister_ratio(self, stretch: Stretch, sisters: Sisters) -> Floats:
        """(K,) the same for both daughters of a division."""
        single = self.single_ratio(stretch)
        return np.asarray(single[sisters.first] + single[sisters.second])

    def updated(self, step: Step) -> Self:
        """Count links and other edges in each class."""
        stretch = step.stretch
        row, column = self._classes(stretch)
        n_rows, n_columns = len(DISTANCES) + 1, len(self.bounds) + 1
        known = np.isfinite(self.costs(stretch))
        link = np.clip(step.found.edge, 0.0, 1.0)
        shares = []
        for weight in (link, 1 - link):
            counts = np.zeros((n_rows, n_columns))
            np.add.at(counts, (row[known], column[known]), (step.counts * weight)[known])
            anywhere = (counts.sum(axis=0) + 1) / (counts.sum() + n_columns)
            shares.append((counts + WORTH * anywhere) / (counts.sum(axis=1, keepdims=True) + WORTH))
        ratios = np.clip(np.log(shares[0] / shares[1]), -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)
        return replace(self, ratios=tuple(tuple(each) for each in ratios.tolist()))

    def _classes(self, stretch: Stretch) -> tuple[Ints, Ints]:
        key = (self.scale, self.bounds)
        found: tuple[Ints, Ints] = stretch.latest(f"classes of {self.name}", key, lambda: self._find_classes(stretch))
        return found

    def _find_classes(self, stretch: Stretch) -> tuple[Ints, Ints]:
        distance = np.sqrt(stretch.squared / (self.scale * stretch.n_dimensions))
        costs = np.nan_to_num(self.costs(stretch), posinf=np.inf)
        return np.searchsorted(DISTANCES, distance), np.searchsorted(self.bounds, costs, side="right")
