"""What holds for models and their fit; a new term is tested on arrival by tests/terms."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from benchmarks.coverage import CELL_SIZE, FIELD, TRUE, fitted
from benchmarks.draws import draw_transition, transition_between
from dunno import Tracker, rooms
from dunno.calibration import ModelCalibration
from dunno.calibration.base import from_dict
from dunno.models import Model, find_fit
from dunno.models.expectation import carried_by, expect, maximise
from dunno.models.fast_em import FastEM
from dunno.simulate import colony
from dunno.terms.border import outside
from dunno.tracking.self_calibration import calibration_of
from dunno.types.density import log_student
from dunno.types.records import from_json, to_json
from dunno.types.stretch import Stretch, Transition


def drawn(model: Model, n: int = 25, seed: int = 0, mothers: float = 100, first: int = 0) -> list[Transition]:
    rng = np.random.default_rng(seed)
    return [draw_transition(model, mothers, 120.0, rng, 2 * (first + t)) for t in range(n)]


@pytest.mark.parametrize("tail", [2.5, 8.0, np.inf])
@pytest.mark.parametrize("d", [2, 3])
def test_displacement_densities_are_normalised(tail: float, d: int) -> None:
    radius = np.linspace(0, 3000, 600_001)
    shell = 2 * np.pi * radius if d == 2 else 4 * np.pi * radius**2
    density = np.exp(log_student(radius**2, 4.0, tail, d))
    assert np.trapezoid(shell * density, radius) == pytest.approx(1.0, abs=2e-3)


def test_the_reach_leaves_the_share_beyond_that_it_says() -> None:
    rng = np.random.default_rng(0)
    heavy = np.sqrt(rng.chisquare(4.0, 400_000) / 4.0)
    steps = 4.0 * np.linalg.norm(rng.standard_normal((400_000, 2)), axis=1) / heavy
    assert np.mean(steps > TRUE.reach(0.01)) == pytest.approx(0.01, rel=0.1)


def test_the_probability_of_leaving_is_what_a_simulation_counts() -> None:
    rng = np.random.default_rng(1)
    place = np.array([[3.0, 200.0]])
    steps = 4.0 * rng.standard_normal((200_000, 2)) / np.sqrt(rng.chisquare(4.0, (200_000, 1)) / 4.0)
    ends = place + steps
    share = ((ends < 0) | (ends > 400)).any(axis=1).mean()
    assert outside(FIELD, place, np.full((2, 1), 4.0), 4.0)[0] == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize("tail", [2.0, 2.3, 5.0, 100.0, np.inf])
def test_leaving_is_as_probable_as_the_law_says(tail: float) -> None:
    rng = np.random.default_rng(2)
    place, width = rng.uniform(-5, 405, (500, 2)), rng.uniform(0.1, 80.0, (2, 500))
    law = stats.norm() if np.isinf(tail) else stats.t(tail)
    inside = law.cdf((400 - place.T) / width) - law.cdf(-place.T / width)
    np.testing.assert_allclose(outside(FIELD, place, width, tail), 1 - inside.prod(axis=0), atol=1e-8)
    alike = outside(FIELD, place, np.array([[3.0], [7.0]]), tail)
    each = outside(FIELD, place, np.repeat([[3.0], [7.0]], 500, axis=1), tail)
    np.testing.assert_array_equal(alike, each)


def test_the_fit_finds_the_parameters_of_the_model_it_was_drawn_from() -> None:
    fit = fitted(0)
    assert not fit.problems
    assert fit.converged
    assert "flow" not in [term.name for term in fit.model.terms]
    value = {name: each.value for name, each in fit.model.parameters.items()}
    assert value["motion_scale"] == pytest.approx(16.0, rel=0.1)
    assert value["tail"] == pytest.approx(4.0, rel=0.25)
    assert value["division_scale"] == pytest.approx(100.0, rel=0.2)
    assert value["p_divide"] == pytest.approx(0.06, abs=0.015)
    assert value["p_lost"] == pytest.approx(0.02, abs=0.01)
    intervals = fit.intervals()
    inside = sum(low <= TRUE.parameters[name].value <= high for name, (low, high) in intervals.items())
    assert inside >= 6  # of eight; benchmarks/coverage.py counts over many seeds


def test_no_interval_leaves_what_is_possible() -> None:
    """Four transitions of a few cells: the intervals are as wide as they get."""
    fit = find_fit(Stretch.of(drawn(TRUE, 4, mothers=6)), FIELD, CELL_SIZE)
    for name, (low, high) in fit.intervals().items():
        assert 0 <= low <= fit.model.parameters[name].value <= high
        assert high <= fit.model.parameters[name].bounds[1]
        if name.startswith("p_"):
            assert high < 1


def test_some_transitions_have_the_marginals_that_they_have_among_all() -> None:
    """With rates that vary, and drift: what is left has its own numbers, and what is expected of it stays."""
    model = TRUE.with_values({"p_divide": np.linspace(0.02, 0.1, 8)})
    stretch = Stretch.of(drawn(TRUE, 8))
    whole = expect(model, stretch.carried(np.random.default_rng(0).normal(0, 1, (stretch.n_rows, 2))))
    kept = np.array([1, 2, 6])
    part = whole.during(kept)
    again = expect(part.model, part.stretch)
    assert len(part.stretch) == 3
    np.testing.assert_array_equal(part.stretch.transition_frame, stretch.transition_frame[kept])
    np.testing.assert_allclose(again.found.edge, part.found.edge, atol=1e-9)
    np.testing.assert_allclose(again.found.divide, part.found.divide, atol=1e-9)
    seen = part.stretch.is_daughter
    np.testing.assert_allclose(again.ways.total_appear[seen], part.ways.total_appear[seen], rtol=1e-12)
    assert part.stretch.n_mothers.tolist() == stretch.n_mothers[kept].tolist()


def test_free_parameters_go_there_and_back() -> None:
    again = TRUE.with_free(TRUE.free)
    for name, each in TRUE.parameters.items():
        assert again.parameters[name].value == pytest.approx(each.value, rel=1e-12)


def test_the_evidence_is_highest_near_the_truth() -> None:
    stretch = Stretch.of(drawn(TRUE, 15))

    def evidence(**changes: float) -> float:
        return expect(TRUE.with_values(changes), stretch).log_evidence

    best = evidence()
    for changes in (
        {"motion_scale": 8.0},
        {"motion_scale": 32.0},
        {"tail": 50.0},
        {"division_scale": 10.0},
        {"p_divide": 0.3},
        {"p_divide": 0.005},
        {"p_lost": 0.2},
        {"appear_density": 20.0 / FIELD.size},
    ):
        assert evidence(**changes) < best - 5


def test_a_stretch_has_the_evidence_and_the_marginals_of_its_transitions() -> None:
    transitions = drawn(TRUE, 6)
    together = expect(TRUE, Stretch.of(transitions))
    alone = [expect(TRUE, Stretch.of([each])) for each in transitions]
    assert together.log_evidence == pytest.approx(sum(each.log_evidence for each in alone), abs=1e-9)
    np.testing.assert_allclose(together.found.edge, np.concatenate([each.found.edge for each in alone]), atol=1e-12)


def test_the_pair_problem_is_the_stretch_s_without_idle_rows() -> None:
    stretch = Stretch.of(drawn(TRUE, 1))
    wide, narrow = TRUE.problem(stretch), TRUE.pair_problem(stretch)
    m = narrow.n_mothers
    np.testing.assert_array_equal(wide.cost, narrow.cost)
    np.testing.assert_array_equal(wide.disappear[:m], narrow.disappear)
    np.testing.assert_array_equal(wide.appear[m:], narrow.appear)
    assert not wide.disappear[m:].any()


def test_neighbours_that_move_together_are_found_out_by_the_evidence() -> None:
    still = TRUE.with_values({"motion_scale": 4.0, "p_divide": 0.02})
    transitions = []
    for t, each in enumerate(drawn(still, 12, seed=5)):
        place = each.daughters.centroid
        moved = place + 6 * np.sin(place[:, ::-1] / 120)  # neighbours move nearly alike
        transitions.append(transition_between(each.mothers.centroid, moved, 120.0, 2 * t))
    fit = find_fit(Stretch.of(transitions), FIELD, CELL_SIZE)
    assert "flow" in [term.name for term in fit.model.terms]
    assert fit.model.parameters["motion_scale"].value < 12
    assert "flow" not in [
        term.name for term in find_fit(Stretch.of(drawn(still, 12, seed=5)), FIELD, CELL_SIZE).model.terms
    ]


def test_the_drift_of_a_mother_is_that_of_her_neighbours_without_herself() -> None:
    grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), -1).reshape(-1, 2) * 30 + 50
    moved = grid + np.array([5.0, -3.0])
    moved[27] = grid[27] + [-9.0, 9.0]
    stretch = Stretch.of([transition_between(grid, moved, 14.0)])
    drift = carried_by(expect(TRUE.with_values({"motion_scale": 30.0}), stretch), stretch).drift
    assert drift is not None
    np.testing.assert_allclose(drift[27], [5.0, -3.0], rtol=0.25)


def test_pairs_of_sisters_stay_aligned_when_edges_are_left_out() -> None:
    stretch = Stretch.of(drawn(TRUE, 6))
    parting = rooms.find("terms", "parting").start(stretch, CELL_SIZE, TRUE)
    expected = expect(replace(TRUE, terms=(*TRUE.terms, parting)), stretch)
    likely = expected.found.edge > 1e-3
    part, numbers = expected.among(likely), np.flatnonzero(likely)
    whole, left = expected.model.sisters(stretch), part.model.sisters(part.stretch)
    assert whole is not None and left is not None
    assert expected.found.triple is not None and part.found.triple is not None
    by_edges = dict(
        zip(zip(whole.first.tolist(), whole.second.tolist(), strict=True), expected.found.triple, strict=True)
    )
    there = [by_edges[one, other] for one, other in zip(numbers[left.first], numbers[left.second], strict=True)]
    assert 0 < len(there) < len(by_edges)
    np.testing.assert_array_equal(part.found.triple, there)


def test_rates_that_change_in_time_are_followed() -> None:
    early = drawn(TRUE.with_values({"p_divide": 0.25}), 10, seed=1)
    late = drawn(TRUE.with_values({"p_divide": 0.01}), 10, seed=2, first=10)
    fit = find_fit(Stretch.of([*early, *late]), FIELD, CELL_SIZE)
    calibration = calibration_of(fit, Tracker().asked(colony(cells=3, frames=2).movie))
    assert calibration.frames == tuple(range(0, 40, 2))

    def share(frame: int) -> float:
        somewhere = Stretch.of(drawn(TRUE, 1, first=frame // 2))
        return float(np.mean(calibration.at(somewhere).value("p_divide")))

    assert share(4) > 0.15
    assert share(34) < 0.1


def test_a_model_goes_through_json() -> None:
    assert from_json(Model, to_json(TRUE), "model") == TRUE
    fitted_model = ModelCalibration(TRUE, "self")
    assert from_dict(json.loads(json.dumps(fitted_model.to_dict()))) == fitted_model


def test_rough_rounds_that_are_corrected_end_nearer_to_where_others_do() -> None:
    """Crowded cells, whose rough marginals are off."""
    off_rough = off_refined = 0.0
    for scale in (60.0, 90.0):
        crowded = TRUE.with_values({"motion_scale": scale})
        stretch, one = Stretch.of(drawn(crowded, 8, mothers=300)), np.ones((8, 8))
        em = FastEM(lambda rounds: None)
        rough = em.fit(crowded, stretch)
        likely = rough.expected.found.edge > 1e-4
        refined = em.refined(replace(rough, expected=rough.expected.among(likely)))
        fine = rough.expected
        for _ in range(25):
            fine = expect(maximise(fine, one), stretch)
        off_rough += np.abs(rough.model.free - fine.model.free).sum()
        off_refined += np.abs(refined.model.free - fine.model.free).sum()
    assert off_refined < 0.75 * off_rough


def test_where_nothing_happens_nothing_is_known_to_a_hair() -> None:
    """No division in some hundred cells: the interval of their share is as wide as so many cells leave it."""
    never = TRUE.with_values({"p_divide": 1e-9})
    fit = find_fit(Stretch.of(drawn(never, 8)), FIELD, CELL_SIZE)
    low, high = fit.intervals()["p_divide"]
    value = fit.model.parameters["p_divide"].value
    assert low < value < high
    assert high / low > 4
