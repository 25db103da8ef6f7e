"""What is believed of states, ways, links and events, by messages between masks and edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.errors import ProblemError
from dunno.segments.hypotheses import Hypotheses, Weights
from dunno.types import Floats, Ints

SWEEPS = 200  # sweeps; judged
TOLERANCE = 1e-3  # probability; judged
"""Beliefs that a sweep changes by less have settled."""


@dataclass(frozen=True, eq=False)
class SegmentPosterior:
    """Probabilities; exact where masks and edges form trees.

    Attributes:
        state: (S,) that the mask is in this state.
        way: (W,) that the edge takes this way.
        appear: (O,) that the object is there and no link leads to it.
        disappear: (O,) that it is there and no link leads on from it.
        divide: (O,) that it is there and has two daughters.
        log_evidence: Bethe's approximation of it.
        change: How much the last sweep would have changed a belief at the most.
        sweeps: How many were made.
        converged: Whether that change is below the tolerance.
        messages: What masks said last, for a call with nearly the same weights.
    """

    state: Floats
    way: Floats
    appear: Floats
    disappear: Floats
    divide: Floats
    log_evidence: float
    change: float
    sweeps: int
    converged: bool
    messages: Floats


def propagate(
    hypotheses: Hypotheses,
    weights: Weights,
    sweeps: int = SWEEPS,
    tolerance: float = TOLERANCE,
    messages: Floats | None = None,
) -> SegmentPosterior:
    """Beliefs under these weights; the same for the same arguments, to the bit.

    Args:
        hypotheses: Masks, their states, and the ways between them.
        weights: Their log weights.
        sweeps: At most so many, forwards and backwards in time in turn.
        tolerance: See `TOLERANCE`.
        messages: Of the same hypotheses under nearly the same weights; they save sweeps.
    """
    columns = (weights.state, weights.appear, weights.disappear, weights.way)
    try:
        state, way, *rest, kept = hypotheses.graph.propagate(*columns, sweeps, tolerance, messages)
    except ValueError as error:
        raise ProblemError(str(error)) from None
    log_evidence, change, made = rest
    appear, disappear, divide = _events(hypotheses, state, way)
    settled = change <= tolerance
    return SegmentPosterior(state, way, appear, disappear, divide, log_evidence, change, made, settled, kept)


def _events(hypotheses: Hypotheses, state: Floats, way: Floats) -> tuple[Floats, Floats, Floats]:
    """What links leave of each object's probability, and the ways in which it divides."""
    n = hypotheses.n_objects
    there = state[hypotheses.state]
    led_to = np.bincount(hypotheses.daughter, way[hypotheses.way], n)
    on, dividing = mothers_of_ways(hypotheses)
    led_on = np.bincount(on[:, 1], way[on[:, 0]], n)
    divide = np.bincount(dividing[:, 1], way[dividing[:, 0]], n).astype(np.float64)
    return np.maximum(there - led_to, 0.0), np.maximum(there - led_on, 0.0), divide


def mothers_of_ways(hypotheses: Hypotheses) -> tuple[Ints, Ints]:
    """(K, 2) ways and the objects that go on in them, each once; (D, 2) those that divide in them."""
    pair = hypotheses.way * hypotheses.n_objects + hypotheses.mother
    unique, count = np.unique(pair, return_counts=True)
    rows = np.stack(np.divmod(unique, max(hypotheses.n_objects, 1)), axis=1)
    return rows, rows[count > 1]
