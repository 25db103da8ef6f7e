"""Missed: a cell's mask may be missing in some frames, while the cell lives on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dunno.terms import ModelView, Prior, Sisters, Step, Term, Words, share
from dunno.types import Floats, Ints
from dunno.types.stretch import Stretch

STAYS = np.linspace(0.005, 0.895, 90)  # probability; judged
"""Where `stays_missed` is looked for."""


@dataclass(frozen=True)
class Missed(Term):
    r"""A cell's mask goes missing with probability $π$ per frame, and is missing in the next one, too, with $ρ$.

    A link over $g > 1$ frames has $π ρ^{g-2} (1 - ρ)$, one to the next frame $1 - π$; a cell that is missed for longer than
    `max_gap` frames, or until the movie ends, looks lost, and one that was missed until now appears. Two daughters across the same
    gap share its misses. Masks that are missing independently of each other have $ρ = π$; what a program does not see, it often
    does not see for several frames.
    """

    name: ClassVar[str] = "missed"

    p_missed: float = share(
        "share of cells per frame",
        (1e-6, 0.5),
        Prior(0.002, 100, "cells"),
        Words("masks that go missing", "% of cells per frame"),
        default=0.01,
    )
    stays_missed: float = share(
        "share of missing masks per frame",
        (0.005, 0.9),
        Prior(0.2, 10, "gaps"),
        Words("missing masks that stay missing", "% per frame"),
    )
    max_gap: int = 3

    @property
    def longest_gap(self) -> int:
        """How many frames a link may skip."""
        return self.max_gap

    def log_missed(self, frames: Ints) -> Floats:
        """Log probability that a seen cell is missed for at least so many frames."""
        more = np.where(frames > 0, np.log(self.p_missed) + (frames - 1) * np.log(self.stays_missed), 0.0)
        return np.asarray(more)

    def log_single(self, stretch: Stretch) -> Floats:
        """(E,) of the misses on the way, and of being seen at its end."""
        seen = np.where(stretch.lags > 1, np.log1p(-self.stays_missed), np.log1p(-self.p_missed))
        return np.asarray(self.log_missed(stretch.lags - 1) + seen)

    def log_dividing(self, stretch: Stretch) -> Floats:
        """(E,) the same for one of two daughters."""
        return self.log_single(stretch)

    def log_triple(self, stretch: Stretch, sisters: Sisters) -> Floats:
        """(K,) the misses that both daughters share; before them they were one cell."""
        return -self.log_missed(np.minimum(stretch.lags[sisters.first], stretch.lags[sisters.second]) - 1)

    def lost(self, model: ModelView, stretch: Stretch) -> Floats:
        """(N,) probability of being missed for longer than is looked at, or until the last frame."""
        return np.exp(self.log_missed(np.clip(stretch.frames_left, 1, self.max_gap + 1)))

    def appear(self, model: ModelView, stretch: Stretch) -> Floats:
        """(N,) density of cells that were missed until now."""
        return stretch.by_daughter(stretch.n_mothers / model.field.size) * self._until_now(stretch)

    def appearances(self, model: ModelView, stretch: Stretch) -> Floats:
        """(R,) how many were missed until now."""
        density = stretch.by_daughter(stretch.n_mothers) * self._until_now(stretch)
        return stretch.per_transition(density, stretch.follows) / np.maximum(stretch.n_daughters, 1)

    def _until_now(self, stretch: Stretch) -> Floats:
        return np.exp(self.log_missed(np.clip(stretch.frames_before, 1, self.max_gap + 1)))

    def updated(self, step: Step) -> Missed:
        """The expected shares of masks that go missing, and that stay so, of gaps up to the longest that is looked for."""
        stretch = step.stretch
        weight = step.counts * step.found.edge
        gaps = np.bincount(np.minimum(stretch.lags, self.max_gap + 1), weight, minlength=self.max_gap + 2)[2:].astype(
            np.float64
        )
        stays = self._stays(gaps)
        begun = float(gaps.sum()) / (1 - stays**self.max_gap)
        return self.fitted(
            p_missed=self.prior("p_missed").posterior_mean(begun, float(weight.sum())), stays_missed=stays
        )

    def _stays(self, gaps: Floats) -> float:
        """The most likely share, given how many gaps have each length; longer ones are not seen."""
        length = np.arange(1, len(gaps) + 1)[:, None]
        log_gaps = (length - 1) * np.log(STAYS) + np.log1p(-STAYS) - np.log1p(-(STAYS ** len(gaps)))
        prior = self.prior("stays_missed")
        mean = float(prior.mean)
        log_prior = prior.worth * (mean * np.log(STAYS) + (1 - mean) * np.log1p(-STAYS))
        return float(STAYS[np.argmax(gaps @ log_gaps + log_prior)])
