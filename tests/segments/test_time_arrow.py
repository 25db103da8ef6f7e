"""What the reversed movie says of divisions where masks are judged."""

from dataclasses import replace

import numpy as np
import pytest

from dunno import Movie
from dunno.segments.glance import glance
from dunno.segments.posterior import propagate
from dunno.segments.segment_model import SegmentModel
from dunno.segments.table import segment_table
from dunno.segments.time_arrow import Arrow, division_events, reversed_in_time
from dunno.simulate import Colony, FaultShares, colony, spoil
from dunno.types.arrow_counts import ArrowCounts
from tests.segments.scenes import fitted


@pytest.fixture(scope="module")
def dividing() -> Colony:
    """A colony whose masks are merged, and cut, for moments."""
    return colony(cells=25, frames=26, motion=0.12, seed=2)


@pytest.fixture(scope="module")
def spoiled(dividing: Colony) -> Movie:
    return spoil(dividing.movie, dividing.truth, FaultShares(merged=0.06, split=0.06, false=0.02), seed=3).movie


@pytest.fixture(scope="module")
def model(spoiled: Movie) -> SegmentModel:
    return fitted(spoiled)


def n_divisions(made: Colony) -> int:
    _, daughters = np.unique(made.truth.mother[made.truth.mother > 0], return_counts=True)
    return int((daughters > 1).sum())


def test_twice_reversed_is_as_it_was(spoiled: Movie) -> None:
    segments = segment_table(spoiled, glance(spoiled)).segments
    again = reversed_in_time(reversed_in_time(segments))
    np.testing.assert_array_equal(again.frame, segments.frame)


def test_forwards_less_backwards_is_about_as_many_as_there_are(dividing: Colony, model: SegmentModel) -> None:
    assert model.arrow is not None
    true, counts = n_divisions(dividing), model.arrow.counts
    assert true >= 20
    assert sum(counts.backwards) > 1  # masks that are cut are taken for divisions
    assert 0.7 * true <= counts.real <= 1.3 * true


def test_what_it_takes_from_divisions_goes_elsewhere(spoiled: Movie, model: SegmentModel) -> None:
    segments = segment_table(spoiled, model.seen).segments
    without = replace(model, arrow=None).solve(segments)
    found = model.solve(segments)
    assert found.posterior.divide.sum() < without.posterior.divide.sum()
    for each in (without, found):
        answer = each.answer
        into = np.bincount(answer.edges.daughter, answer.edges.probability, len(answer.segment))
        np.testing.assert_allclose(into + answer.appear, 1.0, atol=0.03)
        assert (answer.edges.dividing <= answer.edges.probability + 1e-9).all()


def test_an_arrow_that_saw_nothing_backwards_takes_next_to_nothing(spoiled: Movie, model: SegmentModel) -> None:
    segments = segment_table(spoiled, model.seen).segments
    none = Arrow(ArrowCounts((9.0, 9.0), (0.0, 0.0), 26), (-12.0, *[0.0] * 11))  # type: ignore[arg-type]
    without = replace(model, arrow=None).solve(segments).posterior.divide
    found = replace(model, arrow=none).solve(segments).posterior.divide
    np.testing.assert_allclose(found, without, atol=0.01)


def test_events_hold_the_divisions_that_are_seen(spoiled: Movie, model: SegmentModel) -> None:
    segments = segment_table(spoiled, model.seen).segments
    seen = replace(model, arrow=None).solve(segments)
    events = division_events(model.laws, seen)
    assert events.probability.sum() == pytest.approx(seen.posterior.divide.sum(), rel=0.1)
    assert np.isfinite(events.features).all()
    assert propagate(seen.structure.hypotheses, model.laws.weights(seen.structure)).converged
