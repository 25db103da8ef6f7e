"""The laws of a movie's segments, by expectation–maximisation around messages, without truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from dunno.segments.answer import decide
from dunno.segments.arrow import Arrow, Seen, fitted_arrow, reversed_in_time
from dunno.segments.clamps import Clamps
from dunno.segments.glance import Glance
from dunno.segments.guess import Scale, guess, scale_of
from dunno.segments.model import Laws, Structure
from dunno.segments.posterior import propagate
from dunno.segments.segments import Segments
from dunno.segments.structure import Options, build
from dunno.segments.table import segment_table
from dunno.types import Movie
from dunno.work.progress import Tell, ignore_progress

ROUNDS, SWEEPS = 6, 30
"""Of expectation–maximisation, and of messages in each."""

FITTED_ON = 12_000
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
    """

    seen: Glance
    scale: Scale
    laws: Laws
    options: Options = field(default_factory=Options)
    arrow: Arrow | None = None

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
        seen = Seen(structure, posterior, decide(structure, weights, posterior, clamps.sets, clamps.kept))
        if self.arrow is None:
            return seen
        weights = self.arrow.weighed(weights, self.laws, seen)
        posterior = propagate(structure.hypotheses, weights, messages=posterior.messages)
        return Seen(structure, posterior, decide(structure, weights, posterior, clamps.sets, clamps.kept))

    def with_arrow(self, segments: Segments) -> SegmentModel:
        """The same with what these segments say, played backwards."""
        if not self.options.divisions:
            return self
        forwards, backwards = (self.solve(each) for each in (segments, reversed_in_time(segments)))
        return replace(self, arrow=fitted_arrow(forwards, backwards, self.laws))

    def fitted(self, segments: Segments, rounds: int = ROUNDS, tell: Tell = ignore_progress) -> SegmentModel:
        """The laws that explain these segments."""
        laws = self.laws
        for k in range(rounds):
            tell(FITTING, k, rounds)
            structure = build(segments, laws, self.scale, self.options)
            laws = laws.fitted(structure, propagate(structure.hypotheses, laws.weights(structure), SWEEPS))
        return replace(self, laws=laws)


def fit_segments(movie: Movie, seen: Glance, options: Options, tell: Tell = ignore_progress) -> SegmentModel:
    """The model of a movie's segments, fitted to frames in a row."""
    segments = segment_table(_some_frames(movie, seen), seen, options.parts).segments
    return begin(seen, segments, options).fitted(segments, tell=tell).with_arrow(segments)


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
