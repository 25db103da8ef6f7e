"""Missed: a cell's mask may be missing in some frames, while the cell lives on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dunno.terms import ModelView, Prior, Sisters, Step, Term, Words, share
from dunno.types import Floats
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

    def _laws(self, stretch: Stretch) -> tuple[Floats, Floats]:
        """(T + 1, K) log probability that a cell which was seen before frame f is missed in f and the frames after it, k in all.

        And, likewise, that the cause of its own is over by the frame that follows. That a blackout leaves a mask is a factor of
        every daughter, and left out.
        """
        n_frames = len(stretch.frames)
        longest = max(self.max_gap + 1, int(stretch.lags.max(initial=1)))
        unseen = np.zeros(n_frames + 1 + longest)
        if stretch.unseen is not None:
            unseen[:n_frames] = stretch.unseen
        clear, hidden = np.ones(n_frames + 1), np.zeros(n_frames + 1)
        missed, over = [], []
        for k in range(longest + 1):
            missed.append(clear + hidden)
            goes, stays = clear * self.p_missed, hidden * self.stays_missed
            over.append(clear - goes + hidden - stays)
            clear, hidden = over[-1] * unseen[k : k + n_frames + 1], goes + stays
        return np.log(np.stack(missed, axis=1)), np.log(np.stack(over, axis=1))

    def log_single(self, stretch: Stretch) -> Floats:
        """(E,) of the misses on the way, and of their end."""
        return np.asarray(self._laws(stretch)[1][stretch.row_frame[stretch.mother] + 1, stretch.lags - 1])

    def log_dividing(self, stretch: Stretch) -> Floats:
        """(E,) the same for one of two daughters."""
        return self.log_single(stretch)

    def log_triple(self, stretch: Stretch, sisters: Sisters) -> Floats:
        """(K,) the misses that both daughters share; before them they were one cell."""
        shared = np.minimum(stretch.lags[sisters.first], stretch.lags[sisters.second]) - 1
        after = stretch.row_frame[stretch.mother[sisters.first]] + 1
        return np.asarray(-self._laws(stretch)[0][after, shared])

    def lost(self, model: ModelView, stretch: Stretch) -> Floats:
        """(N,) probability of being missed for longer than is looked at, or until the last frame."""
        missed = np.clip(stretch.frames_left, 1, self.max_gap + 1)
        return np.asarray(np.exp(self._laws(stretch)[0][stretch.row_frame + 1, missed]))

    def appear(self, model: ModelView, stretch: Stretch) -> Floats:
        """(N,) density of cells that were missed until now."""
        return stretch.by_daughter(stretch.n_mothers / model.field.size) * self._until_now(stretch)

    def appearances(self, model: ModelView, stretch: Stretch) -> Floats:
        """(R,) how many were missed until now."""
        density = stretch.by_daughter(stretch.n_mothers) * self._until_now(stretch)
        return stretch.per_transition(density, stretch.follows) / np.maximum(stretch.n_daughters, 1)

    def _until_now(self, stretch: Stretch) -> Floats:
        missed = np.clip(stretch.frames_before, 1, self.max_gap + 1)
        return np.asarray(np.exp(self._laws(stretch)[0][np.maximum(stretch.row_frame - missed, 0), missed]))

    def updated(self, step: Step) -> Missed:
        """The expected shares of masks that go missing, and that stay so, of gaps up to the longest that is looked for."""
        stretch = step.stretch
        weight = step.counts * step.found.edge
        own = weight * self._own_share(stretch)
        gaps = np.bincount(np.minimum(stretch.lags, self.max_gap + 1), own, minlength=self.max_gap + 2)[2:].astype(
            np.float64
        )
        stays = self._stays(gaps)
        begun = float(gaps.sum()) / (1 - stays**self.max_gap)
        return self.fitted(
            p_missed=self.prior("p_missed").posterior_mean(begun, float(weight.sum())), stays_missed=stays
        )

    def _own_share(self, stretch: Stretch) -> Floats:
        """(E,) how probably a gap begins for a reason of the cell's own, and not with a blackout."""
        if stretch.unseen is None:
            return np.ones(len(stretch.mother))
        unseen = np.append(stretch.unseen, 0.0)[stretch.row_frame[stretch.mother] + 1]
        return np.asarray(self.p_missed / (1 - (1 - self.p_missed) * (1 - unseen)))

    def _stays(self, gaps: Floats) -> float:
        """The most likely share, given how many gaps have each length; longer ones are not seen."""
        length = np.arange(1, len(gaps) + 1)[:, None]
        log_gaps = (length - 1) * np.log(STAYS) + np.log1p(-STAYS) - np.log1p(-(STAYS ** len(gaps)))
        prior = self.prior("stays_missed")
        mean = float(prior.mean)
        log_prior = prior.worth * (mean * np.log(STAYS) + (1 - mean) * np.log1p(-STAYS))
        return float(STAYS[np.argmax(gaps @ log_gaps + log_prior)])
