"""Bounds on candidates, beside no bounds."""

from dataclasses import replace

import numpy as np
import pytest

from dunno.assignment import marginals
from dunno.costs.distance import Distance
from dunno.models.expectation import expect
from dunno.models.model import MOST_DAUGHTERS, start_model
from dunno.tracking.gate import MOST_MOTHERS, find_candidates
from dunno.tracking.solver import bounded
from dunno.types import Detections, FramePair
from dunno.types.field import Field
from dunno.types.stretch import Stretch, Transition

GATE = 30.0


def frame(number: int, places: np.ndarray) -> Detections:
    box = np.concatenate([places, places + 1], axis=1).astype(np.int64)
    return Detections(np.arange(len(places)) + 1, places, np.ones(len(places)), box, frame=number)


@pytest.fixture(scope="module")
def pair() -> tuple[Detections, Detections]:
    """A crowd, two cells apart each, one of which jumps over forty others."""
    rng = np.random.default_rng(1)
    before = rng.uniform(0, 40, (400, 2))
    after = before + rng.normal(0, 0.3, before.shape)
    before[0], after[0] = [20.0, 20.0], [28.0, 28.0]
    return frame(0, before), frame(1, after)


def stretch_of(pair: tuple[Detections, Detections], most: int) -> Stretch:
    candidates = find_candidates(*pair, GATE, most=most)
    return Stretch.of([Transition(*pair, candidates, np.ones(len(pair[0])))])


def test_a_daughter_has_its_nearest_mothers_as_candidates_and_no_more(pair: tuple) -> None:
    found = find_candidates(*pair, GATE)
    apart = np.linalg.norm(pair[1].centroid[:, None] - pair[0].centroid, axis=2)
    nearest = np.sort(np.argsort(apart, axis=1)[:, :MOST_MOTHERS], axis=1)
    assert np.bincount(found.daughter).tolist() == [MOST_MOTHERS] * 400
    np.testing.assert_array_equal(found.mother.reshape(400, -1), nearest)


def test_bounds_change_next_to_nothing_and_find_who_jumped_far(pair: tuple) -> None:
    whole, near = stretch_of(pair, 400), stretch_of(pair, MOST_MOTHERS)
    model = start_model(whole, Field.around(list(pair)), 1.0)
    model = model.with_values({"motion_scale": 0.1, "tail": 2.0, "p_lost": 1e-6, "appear_density": 1e-9})
    few = bounded(model, near, GATE, 1.0)
    assert len(few.mother) < len(near.mother) < len(whole.mother) / 5
    found, known = (marginals(model.problem(each)) for each in (few, whole))
    at = dict(zip(zip(few.mother, few.daughter, strict=True), found.edge, strict=True))
    there = np.array([at.get(edge, 0.0) for edge in zip(whole.mother, whole.daughter, strict=True)])
    assert (0, 400) not in set(zip(near.mother.tolist(), near.daughter.tolist(), strict=True))
    jump = (whole.mother == 0) & (whole.daughter == 400)
    assert there[jump] == pytest.approx(known.edge[jump], abs=0.1)  # who else might have jumped is bounded, too
    assert known.edge[jump] > 0.3
    assert np.abs(there - known.edge).mean() < 1e-5
    missing = np.bincount(whole.daughter, np.where(there > 0, 0.0, known.edge), minlength=800)
    assert np.median(missing) < 1e-6


def test_where_candidates_are_few_nothing_is_left_out() -> None:
    few = frame(0, np.array([[0.0, 0.0], [9.0, 0.0]])), frame(1, np.array([[0.0, 1.0], [9.0, 1.0]]))
    stretch = stretch_of(few, MOST_MOTHERS)
    model = start_model(stretch, Field.around(list(few)), 1.0)
    assert bounded(model, stretch, GATE, 1.0) is stretch


def test_a_cost_of_ones_own_is_not_bounded_by_places(pair: tuple) -> None:
    near = replace(stretch_of(pair, MOST_MOTHERS), score=np.zeros(400 * MOST_MOTHERS))
    assert bounded(start_model(near, Field.around(list(pair)), 1.0), near, GATE, 1.0) is near


def test_pairs_of_sisters_keep_what_was_believed_of_them_where_edges_are_left_out(pair: tuple) -> None:
    from dunno import rooms

    stretch = stretch_of(pair, MOST_MOTHERS)
    model = start_model(stretch, Field.around(list(pair)), 1.0).with_values({"division_scale": 4.0})
    model = model.plus(rooms.find("terms", "parting").start(stretch, 1.0, model))
    expected = expect(model, stretch)
    before = model.sisters(stretch)
    assert np.bincount(stretch.mother[before.first]).max() <= MOST_DAUGHTERS * (MOST_DAUGHTERS - 1) // 2
    kept = np.random.default_rng(0).random(len(stretch.mother)) > 0.3
    part = expected.among(kept)
    after = model.sisters(part.stretch)
    number = np.flatnonzero(kept)
    known = dict(zip(zip(before.first, before.second, strict=True), expected.found.triple, strict=True))
    wanted = [known.get(pair, 0.0) for pair in zip(number[after.first], number[after.second], strict=True)]
    np.testing.assert_array_equal(part.found.triple, wanted)
    assert 0 < sum(pair in known for pair in zip(number[after.first], number[after.second], strict=True)) < len(wanted)


def test_frame_pairs_have_the_same_candidates_for_every_method(pair: tuple) -> None:
    assert len(find_candidates(*pair, np.inf)) == 400 * 400  # asked for, and given
    assert Distance().candidates(FramePair(*pair, GATE)) is None
