"""The laws of a movie's segments, by expectation–maximisation around messages, without truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from dunno.segments.answer import decide
from dunno.segments.clamps import Clamps
from dunno.segments.glance import Glance
from dunno.segments.guess import Scale, guess, scale_of
from dunno.segments.law_weights import Laws, Structure
from dunno.segments.posterior import propagate
from dunno.segments.segments import Segments
from dunno.segments.skipped_segments import SkippedSegments, compared, every_second
from dunno.segments.structure import Options, build
from dunno.segments.table import segment_table
from dunno.segments.time_arrow import Arrow, Seen, fitted_arrow, reversed_in_time
from dunno.types import Floats, Movie
from dunno.work.progress import Tell, ignore_progress

FITTED_ROUNDS, FITTED_SWEEPS, SKIPPED_ROUNDS = 6, 30, 3  # rounds, sweeps, rounds; judged
"""Of expectation–maximisation, of messages in each, and of the fit with every second frame left out, which begins at the other."""

FITTED_ON = 12_000  # masks; judged
"""Masks: the laws are fitted on so many, in frames in a row from the middle of the movie on."""

FITTING = "judging masks"

Given = Callable[[Structure], Clamps]


@dataclass(frozen=True)
class SegmentModel:
    """How a movie's masks are made of objects.

    Attributes:
        seen: What was seen of the masks at a glance, by which it is known which segments are measured.
        scale: What masks look like at first sight.
        laws: The laws, fitted.
        options: What may be.
        arrow: What the reversed movie says of divisions; `None` where nobody has looked.
        skipped: What skipping frames says of links and of segments, likewise.
    """

    seen: Glance
    scale: Scale
    laws: Laws
    options: Options = field(default_factory=Options)
    arrow: Arrow | None = None
    skipped: SkippedSegments | None = None

    def solve(self, segments: Segments, given: Given = Clamps.none) -> Seen:
        """What may be, what is believed of it, and the answer.

        Args:
            segments: As they were measured.
            given: Says of the structure what is known beforehand.
        """
        clamps = given(build(segments, self.laws, self.scale, self.options))
        structure = clamps.structure
        weights = clamps.on(self.laws.weights(structure))
        posterior = propagate(structure.hypotheses, weights)
        if clamps.beliefs is not None:
            weights = clamps.beside(weights, posterior.state)
            posterior = propagate(structure.hypotheses, weights, messages=posterior.messages)
        unknown = self._unknown(clamps)
        seen = Seen(structure, posterior, decide(structure, weights, posterior, clamps.sets, clamps.kept, unknown))
        if self.arrow is None:
            return seen
        weights = self.arrow.weighed(weights, self.laws, seen)
        posterior = propagate(structure.hypotheses, weights, messages=posterior.messages)
        return Seen(structure, posterior, decide(structure, weights, posterior, clamps.sets, clamps.kept, unknown))

    def _unknown(self, clamps: Clamps) -> Floats | None:
        """(M,) the share of parts and unions that are none, of masks of which nobody said anything."""
        if self.skipped is None:
            return None
        mask = clamps.structure.hypotheses.mask
        asked = np.bincount(mask, ~clamps.state, clamps.structure.segments.n_masks) > 0
        return np.where(asked, 0.0, self.skipped.unknown)

    def tested(self, segments: Segments) -> SegmentModel:
        """The same with what these segments say played backwards, and with every second frame left out."""
        forwards = self.solve(segments)
        found = replace(self, skipped=self._skipped(segments, forwards))
        if not self.options.divisions:
            return found
        return replace(found, arrow=fitted_arrow(forwards, self.solve(reversed_in_time(segments)), self.laws))

    def _skipped(self, segments: Segments, forwards: Seen) -> SkippedSegments:
        few, rows = every_second(segments)
        return compared(forwards, self.fitted(few, SKIPPED_ROUNDS).solve(few), rows)

    def fitted(self, segments: Segments, rounds: int = FITTED_ROUNDS, tell: Tell = ignore_progress) -> SegmentModel:
        """The laws that explain these segments."""
        laws = self.laws
        for k in range(rounds):
            tell(FITTING, k, rounds)
            structure = build(segments, laws, self.scale, self.options)
            laws = laws.fitted(structure, propagate(structure.hypotheses, laws.weights(structure), FITTED_SWEEPS))
        return replace(self, laws=laws)


def fit_segments(movie: Movie, seen: Glance, options: Options, tell: Tell = ignore_progress) -> SegmentModel:
    """The model of a movie's segments, fitted to frames in a row."""
    segments = segment_table(_some_frames(movie, seen), seen, options.parts).segments
    return begin(seen, segments, options).fitted(segments, tell=tell).tested(segments)


def begin(seen: Glance, segments: Segments, options: Options) -> SegmentModel:
    """The model before it is fitted."""
    scale = scale_of(segments)
    return SegmentModel(seen, scale, guess(segments, scale), options)


def _some_frames(movie: Movie, seen: Glance) -> Movie:
    """So many frames that there are enough masks, from the middle of the movie."""
    counts = np.array([len(movie.detections(t)) for t in range(0, len(movie), max(len(movie) // 20, 1))])
    wanted = int(np.ceil(FITTED_ON / max(counts.mean(), 1.0)))
    if wanted >= len(movie):
        return movie
    first = (len(movie) - wanted) // 2
    return movie.part(slice(first, first + wanted))
