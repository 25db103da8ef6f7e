"""Verdicts on tables whose answer is known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from dunno.benchmark.claims import FAILED, HELD, UNDECIDED, Claim, decide, interval, judge, judge_one
from dunno.benchmark.paper import CLAIMS
from dunno.benchmark.rows import Row
from dunno.benchmark.scenes import scenes

DATASETS, STEPS = ("a", "b", "c"), (1, 10, 30)


def row(dataset: str, step: int, method: str, scaling: str, **values: float) -> Row:
    made = Row(dataset, "02", step, "distance", method, scaling, n_links=100, dimensions=2, trusted=True)
    return replace(made, **values)  # type: ignore[arg-type]


def claim(name: str) -> Claim:
    return next(each for each in CLAIMS if each.name == name)


def test_the_interval_is_that_of_a_t_test() -> None:
    numbers = [0.3, -0.1, 0.4, 0.2, 0.25]
    centre, low, high = interval(numbers)
    expected = ttest_1samp(numbers, 0).confidence_interval(0.95)
    assert (centre, low, high) == pytest.approx((np.mean(numbers), expected.low, expected.high))


@pytest.mark.parametrize(
    ("low", "high", "count", "margin", "verdict"),
    [
        (0.1, 0.2, 6, None, HELD),
        (-0.2, -0.1, 6, None, FAILED),
        (-0.1, 0.1, 6, None, UNDECIDED),
        (0.1, 0.2, 2, None, UNDECIDED),
        (-0.1, 0.1, 6, 0.2, HELD),
        (0.3, 0.4, 6, 0.2, FAILED),
        (0.1, 0.4, 6, 0.2, UNDECIDED),
        (float("nan"), float("nan"), 6, None, UNDECIDED),
    ],
)
def test_the_verdict_follows_from_the_interval(
    low: float, high: float, count: int, margin: float | None, verdict: str
) -> None:
    assert decide(low, high, count, margin) == verdict


def test_scaling_that_lowers_every_error_holds_and_one_that_raises_it_does_not() -> None:
    rows = []
    for number, dataset in enumerate(DATASETS):
        for step in STEPS:
            rows += [
                row(dataset, step, "SM", "none", ece=0.3 + 0.01 * number),
                row(dataset, step, "SM", "temperature", ece=0.1 + 0.001 * step),
                row(dataset, step, "AS", "none", ece=0.1),
                row(dataset, step, "AS", "temperature", ece=0.3 + 0.001 * step),
            ]
    found = {each.claim.name: each for each in judge(CLAIMS, rows)}
    assert found["TS helps SM"].verdict == HELD
    assert found["TS helps SM"].numbers["b", 30] == pytest.approx(0.31 - 0.13)
    assert found["TS helps AS"].verdict == FAILED
    assert found["TS helps FP"].verdict == UNDECIDED
    assert found["TS helps FP"].numbers == {}


def test_a_rise_is_taken_against_the_first_step_of_the_same_dataset() -> None:
    rows = [row(d, s, "SM", "none", confidence=0.9, accuracy=0.9 - s / 100) for d in DATASETS for s in (1, 10, 30, 50)]
    found = judge_one(claim("overconfident when frames are rare"), scenes(rows))
    assert found.numbers["a", 30] == pytest.approx(0.29)
    assert ("a", 1) not in found.numbers
    assert found.verdict == HELD


def test_a_temperature_within_an_octave_of_the_motion_holds_and_one_at_a_bound_does_not_count() -> None:
    rows = [
        row(d, s, "SM", "temperature", temperature=1.8 * s, mean_squared_displacement=2.0 * s)
        for d in DATASETS
        for s in STEPS
    ]
    rows[0] = replace(rows[0], trusted=False)
    found = judge_one(claim("T is the motion's variance"), scenes(rows))
    assert len(found.numbers) == 8
    assert found.mean == pytest.approx(np.log2(1.8))
    assert found.verdict == HELD  # the margin is one octave


def test_costs_and_sequences_are_averaged_within_a_dataset_and_step() -> None:
    one = row("a", 1, "SM", "none", gain_entropy=0.1)
    rows = [one, replace(one, sequence="03", gain_entropy=0.2), replace(one, cost="overlap", gain_entropy=0.6)]
    found = judge_one(claim("useful as it comes"), scenes(rows))
    assert found.numbers == {("a", 1): pytest.approx(0.3)}


def test_steps_of_one_dataset_count_once_and_datasets_are_counted() -> None:
    gains = {"a": (0.1, 0.1, 0.1, 0.1), "b": (0.2, 0.2, 0.2, 0.2), "c": (-0.1, 0.0, 0.0, 0.0)}
    steps = (1, 10, 30, 50)
    rows = [
        row(name, step, "SM", "none", gain_entropy=value)
        for name, values in gains.items()
        for step, value in zip(steps, values, strict=True)
    ]
    found = judge_one(claim("useful as it comes"), scenes(rows))
    assert len(found.numbers) == 12
    assert interval(list(found.numbers.values()))[1] > 0  # as if steps were independent
    assert found.datasets == pytest.approx({"a": 0.1, "b": 0.2, "c": -0.025})
    assert (found.mean, found.low, found.high) == pytest.approx(interval([0.1, 0.2, -0.025]))
    assert found.verdict == UNDECIDED
    assert found.agreement == "in 2 of 3 datasets"


def test_what_should_be_small_agrees_where_it_is_within_the_margin() -> None:
    rows = []
    for dataset, error in (("a", 0.1), ("b", 0.1), ("c", 0.2)):
        rows += [row(dataset, 1, "SM", "temperature", ece=0.1), row(dataset, 1, "SM", "self", ece=error)]
    found = judge_one(claim("self against TS"), scenes(rows))
    assert found.datasets == pytest.approx({"a": 0.0, "b": 0.0, "c": -0.1})
    assert found.agreement == "in 2 of 3 datasets"


def test_overlap_is_compared_with_the_other_costs_of_the_same_scene() -> None:
    rows = []
    for cost, more in (("distance", 0.0), ("activity", 0.1), ("overlap", 0.25)):
        for scaling, extra in (("none", 0.0), ("temperature", more)):
            made = row("a", 1, "SM", scaling, gain_edge=0.1 + extra, gain_entropy=0.1 + extra)
            rows.append(replace(made, cost=cost))
    found = judge_one(claim("TS matters for overlap"), scenes(rows))
    assert found.numbers == {("a", 1): pytest.approx(0.2)}


def test_dropout_rates_are_compared_where_there_are_several() -> None:
    one = replace(row("a", 1, "FP", "none", ece=0.1), cost="transformer", dropout=0.125)
    rows = [one, replace(one, dropout=0.5, ece=0.15)]
    assert judge_one(claim("dropout rate does not matter"), scenes(rows)).numbers == {("a", 1): pytest.approx(0.05)}
    assert judge_one(claim("dropout rate does not matter"), scenes(rows[:1])).numbers == {}


def test_every_claim_has_a_name_of_its_own_and_survives_an_empty_table() -> None:
    assert len({each.name for each in CLAIMS}) == len(CLAIMS)
    assert {each.verdict for each in judge(CLAIMS, [])} == {UNDECIDED}
