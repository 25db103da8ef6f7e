"""The model of a movie, by expectation–maximisation around messages, without truth."""

from __future__ import annotations

from dataclasses import dataclass

from dunno.segments.guess import guess, scale_of
from dunno.segments.model import Model, Structure
from dunno.segments.posterior import SegmentPosterior, propagate
from dunno.segments.segments import Segments
from dunno.segments.structure import Options, build

ROUNDS = 6
SWEEPS = 40
"""Of expectation–maximisation, and of messages in each."""


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit found.

    Attributes:
        model: The laws.
        structure: What may be under them.
        posterior: What is believed of it.
    """

    model: Model
    structure: Structure
    posterior: SegmentPosterior


def fit(segments: Segments, options: Options | None = None, rounds: int = ROUNDS) -> Fit:
    """Laws and posterior of these segments."""
    options = options or Options()
    scale = scale_of(segments)
    model = guess(segments, scale)
    for _ in range(rounds):
        structure = build(segments, model, scale, options)
        model = model.fitted(structure, propagate(structure.hypotheses, model.weights(structure), SWEEPS))
    structure = build(segments, model, scale, options)
    return Fit(model, structure, propagate(structure.hypotheses, model.weights(structure)))
