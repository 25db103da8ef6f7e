"""Missed: a cell's mask may be missing in some frames, while the cell lives on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dunno.terms import Sisters, Step, Surroundings, Term, Words, parameter
from dunno.types import Floats
from dunno.types.stretch import Stretch

PRIOR_MISSED, PRIOR_WORTH = 0.002, 100.0


@dataclass(frozen=True)
class Missed(Term):
    r"""In every frame a living cell has no mask with probability $π_m$, for at most `max_gap` frames in a row.

    A link over $g$ frames has $π_m^{g-1} (1 - π_m)$; one that is missed for longer, or until the movie ends, looks lost, and one
    that was missed until now appears. Two daughters across the same gap share its misses.
    """

    name: ClassVar[str] = "missed"

    p_missed: float = parameter(
        "share of cells per frame",
        (1e-6, 0.5),
        f"{PRIOR_MISSED:g}, worth {PRIOR_WORTH:.0f} cells",
        link="logit",
        words=Words("missing masks", "% of cells per frame", "percent"),
    )
    max_gap: int = 3

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: Surroundings) -> Missed:
        """With one in a hundred masks missing, which the fit then finds out."""
        return cls(0.01)

    def log_single(self, stretch: Stretch) -> Floats:
        """(E,) of the misses on the way, and of being seen at its end."""
        return np.asarray((stretch.lags - 1) * np.log(self.p_missed) + np.log1p(-self.p_missed))

    def log_dividing(self, stretch: Stretch) -> Floats:
        """(E,) the same for one of two daughters."""
        return self.log_single(stretch)

    def log_triple(self, stretch: Stretch, sisters: Sisters) -> Floats:
        """(K,) the misses that both daughters share; before them they were one cell."""
        shared = np.minimum(stretch.lags[sisters.first], stretch.lags[sisters.second]) - 1
        return np.asarray(-shared * np.log(self.p_missed))

    def lost(self, model: Surroundings, stretch: Stretch) -> Floats:
        """(N,) probability of being missed for longer than is looked at, or until the last frame."""
        return np.asarray(self.p_missed ** np.clip(stretch.frames_left, 1, self.max_gap + 1).astype(np.float64))

    def appear(self, model: Surroundings, stretch: Stretch) -> Floats:
        """(N,) density of cells that were missed until now."""
        before = np.clip(stretch.frames_before, 1, self.max_gap + 1).astype(np.float64)
        return stretch.by_daughter(stretch.n_mothers / model.field.size) * self.p_missed**before

    def appearances(self, model: Surroundings, stretch: Stretch) -> Floats:
        """(R,) how many were missed until now."""
        density = stretch.by_daughter(stretch.n_mothers) * self.p_missed ** np.clip(
            stretch.frames_before, 1, self.max_gap + 1
        ).astype(np.float64)
        return stretch.per_transition(density, stretch.follows) / np.maximum(stretch.n_daughters, 1)

    def updated(self, step: Step) -> Missed:
        """The expected share of frames without a mask, among those on the way of a link."""
        stretch = step.stretch
        weight = step.weight[stretch.edge_transition] * step.found.edge
        missed, passed = float((weight * (stretch.lags - 1)).sum()), float((weight * stretch.lags).sum())
        share = (missed + PRIOR_MISSED * PRIOR_WORTH) / (passed + PRIOR_WORTH)
        return replace(self, p_missed=float(np.clip(share, 1e-6, 0.5)))
