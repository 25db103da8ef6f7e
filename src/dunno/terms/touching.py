"""Touching: cells that keep apart push each other, and two that meet may change places."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dunno.terms import ModelView, Step, Term
from dunno.types import Floats
from dunno.types.density import log_student
from dunno.types.special import normal_below
from dunno.types.stretch import Stretch

NEIGHBOURS = 6  # cells; judged
CLOSEST = 0.05  # quantile; judged
"""Cells keep this quantile of the distances to their nearest neighbours from each other."""

PASSING = 0.15  # share; judged
"""Of two cells that pass each other, the share that ends where the other one was."""

IN_TOUCH = 1.5  # distances; judged
"""Cells closer than so many of these distances can push each other."""

MOST_FOR = 50.0  # nats; judged


@dataclass(frozen=True)
class Touching(Term):
    r"""A cell that meets another passes it, and is pushed on to where the other was.

    Two cells at a distance d have changed places where their steps, of scale T each, differ by more than d along the line
    between them, and a share of those ends where the other was: $κ = .15\, Φ(-d / \sqrt{2 T})$. Then both are a whole distance
    away from where they were, of which motion alone says $e^{-d^2/T}$. Each of the two edges says half of it,

    $$\log\Bigl(1 + \sum_k \sqrt{κ_{ik}}\, \frac{t_ν(x'_j - x_k; T)}{t_ν(x'_j - x_i; T)}\Bigr)$$

    over the cells k that i can push.
    """

    name: ClassVar[str] = "touching"
    joins_by_rule: ClassVar[bool] = True

    contact: float = 0.0  # Cells closer than this can push each other
    scale: float = 1.0  # The motion scale
    tail: float = 100.0  # The motion's degrees of freedom

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: ModelView) -> Touching:
        """From how close cells come to each other."""
        nearest = stretch.neighbour_distances(1)[:, 0]
        nearest = nearest[np.isfinite(nearest)]
        closest = float(np.quantile(nearest, CLOSEST)) if len(nearest) else 0.0
        return cls(IN_TOUCH * closest, model.mean("motion_scale"), model.mean("tail"))

    def log_single(self, stretch: Stretch) -> Floats:
        """(E,) what is added to motion where mothers have neighbours that they can push."""
        d, scale = stretch.n_dimensions, self.scale
        distance, index = stretch.neighbour_distances(NEIGHBOURS), stretch.neighbours(NEIGHBOURS)
        exchange = np.sqrt(exchanged(distance, scale)) * (distance < self.contact)
        stayed = log_student(stretch.squared, scale, self.tail, d)
        target = stretch.place[stretch.mother] + stretch.moved
        total = np.ones(len(stretch.mother))
        exchange[np.isinf(distance)] = 0.0
        for k in range(index.shape[1]):
            there = index[stretch.mother, k]
            apart = (target - stretch.place[there]) / stretch.axis_widths
            passed = log_student(
                np.einsum("ed,ed->e", apart, apart) / stretch.spread[stretch.mother], scale, self.tail, d
            )
            total += exchange[stretch.mother, k] * np.exp(np.minimum(passed - stayed, MOST_FOR))
        return np.where(stretch.lags == 1, np.log(total), 0.0)

    def unseen(self, stretch: Stretch) -> float:
        """How many pairs of cells are expected to change places beyond what motion alone says."""
        close = stretch.neighbour_distances(NEIGHBOURS)[stretch.is_mother]
        close = close[close < self.contact]
        surplus = exchanged(close, self.scale) - np.exp(-(close**2) / self.scale)
        return 0.5 * float(np.maximum(surplus, 0.0).sum())  # each pair is seen from both sides

    def updated(self, step: Step) -> Touching:
        """Follow the motion."""
        scale, tail = (step.model.mean(name) for name in ("motion_scale", "tail"))
        return replace(self, scale=scale, tail=tail)


def exchanged(distance: Floats, scale: float) -> Floats:
    """How likely two cells so far apart pass each other in a step."""
    return np.asarray(PASSING * normal_below(-distance / np.sqrt(2 * scale)))
