"""What may be asked of every cost and every method, whoever made it."""

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dunno import Movie, Tracker, rooms
from dunno.costs import Cost, cost_of
from dunno.costs.distance import Distance
from dunno.errors import InputError
from dunno.methods import method_of
from dunno.methods.joint_posterior import JointPosterior
from dunno.perturbations.gaussian import Gaussian
from dunno.types import EventCosts, FramePair

ASKED = [name for name in vars(Cost) if not name.startswith("_")]


def sideways(pair: FramePair, mother: Any, daughter: Any) -> Any:
    return np.abs(pair.daughters.centroid[daughter, 1] - pair.mothers.centroid[mother, 1])


class Own:
    """A cost that derives from nothing."""

    window = 3
    fitted = ("weight",)

    def __init__(self, weight: float = 1.0) -> None:
        self.weight = weight

    def __call__(self, pair: FramePair, mother: Any, daughter: Any) -> Any:
        return self.weight * sideways(pair, mother, daughter)

    def spread(self, pair: FramePair) -> Any:
        return np.full(len(pair.mothers), 2.0)

    def event_costs(self, pair: FramePair) -> EventCosts:
        return EventCosts(1.0, 2.0, 3.0)


class Derived(Cost):
    """One that derives from ours."""

    def __call__(self, pair: FramePair, mother: Any, daughter: Any) -> Any:
        return sideways(pair, mother, daughter)


@pytest.fixture
def pair(colony: Movie) -> FramePair:
    return FramePair(colony.detections(0), colony.detections(1), 10.0, colony.scale)


def test_a_function_is_a_cost_with_all_that_may_be_asked(pair: FramePair) -> None:
    cost, edges = cost_of(sideways), (np.array([0]), np.array([0]))
    assert (cost.name, cost.window, cost.is_motion, cost.given) == ("sideways", 0, False, sideways)
    assert cost.event_costs(pair) is cost.candidates(pair) is cost.features(pair.mothers) is None
    assert cost(pair, *edges) == cost_of(Derived())(pair, *edges) == sideways(pair, *edges)
    np.testing.assert_array_equal(cost.linkable(np.array([1.0, -1.0])), [1.0, -1.0])
    with pytest.raises(InputError, match="dropout perturbs a network"):
        cost.drawn(pair, 1, None, np.random.default_rng(0))


def test_what_a_cost_of_ones_own_offers_is_taken_and_travels(pair: FramePair) -> None:
    for cost in (cost_of(Own(2.0)), pickle.loads(pickle.dumps(cost_of(Own(2.0))))):
        assert (cost.name, cost.window, cost.is_motion) == ("Own", 3, True)
        assert cost.event_costs(pair) == EventCosts(1.0, 2.0, 3.0)
        assert cost.spread(pair)[0] == 2.0 and cost.feature_unit(pair) == 1.0
        assert cost.changed() == {"weight": 2.0} and rooms.parameters_of(cost.given) == {"weight": 2.0}
    assert cost_of(Own).changed() == {}


def test_ours_and_what_derives_from_ours_are_taken_as_they_are() -> None:
    mine = Derived()
    assert cost_of(mine) is mine is mine.given
    assert (mine.name, mine.is_motion) == ("Derived", False)
    assert cost_of("distance", precision=2.0) == Distance(2.0)
    assert Distance().is_motion


def test_a_cost_that_cannot_be_made_is_named() -> None:
    with pytest.raises(InputError, match="Distance cannot be made with weight"):
        cost_of("distance", weight=2.0)


def test_a_method_of_ones_own_has_the_defaults() -> None:
    method = method_of(lambda scored, rng: None, samples=5)
    assert (method.name, method.samples, method.joint, method.perturbs) == ("<lambda>", None, False, False)
    assert method_of("MC", samples=5).samples == 5
    assert method_of("JP").solves_blocks and not type("Mine", (JointPosterior,), {})().solves_blocks


def test_a_perturbation_of_ones_own_sees_what_the_cost_offers(colony: Movie) -> None:
    seen = []

    class Watches(Gaussian):
        def draws(self, pair: FramePair, cost: Any, k: int, rng: np.random.Generator) -> Any:
            seen.append([hasattr(cost, name) for name in ASKED])
            return super().draws(pair, cost, k, rng)

    given: dict[str, Any] = {"appear_cost": 5.0, "disappear_cost": 5.0, "divide_cost": 0.0, "max_distance": 20.0}
    Tracker(sideways, "FP", perturbation=Watches(), calibration=None, **given).track(colony)
    assert seen and all(map(all, seen))


def test_nothing_behind_the_door_asks_who_made_it() -> None:
    asks = re.compile(r"(getattr|hasattr|isinstance)\((\w+\.)*_?(cost|method|perturbation|executor)[,)]")
    source = Path(rooms.__file__).parent
    found = {str(path.relative_to(source)) for path in source.rglob("*.py") if asks.search(path.read_text())}
    assert found == {"work/schedule.py"}  # which makes a pool of somebody's executor
