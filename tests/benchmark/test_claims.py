"""Verdicts on tables whose answer is known."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from dunno.benchmark.claims import (
    CLAIMS,
    FAILS,
    HOLDS,
    NOT_DECIDED,
    OURS,
    Claim,
    SceneMeans,
    interval,
    judge,
    per_dataset,
    verdict,
)
from dunno.benchmark.results_table import table_of

DATASETS, STEPS = ("a", "b", "c"), (1, 10, 30)


def row(dataset: str, step: int, method: str, scaling: str = "none", **values: Any) -> dict[str, Any]:
    told = {"setup": "paper", "sequence": "02", "cost": "distance", "n_links": 100, "dimensions": 2}
    return {**told, "dataset": dataset, "step": step, "method": method, "scaling": scaling, **values}


def claim(words: str) -> Claim:
    return next(each for each in (*CLAIMS, *OURS) if words in each.words)


def numbers(words: str, rows: list[dict[str, Any]]) -> np.ndarray:
    return per_dataset(claim(words), SceneMeans(table_of(rows)))


def test_the_interval_is_that_of_a_t_test() -> None:
    values = np.array([0.3, -0.1, 0.4, 0.2, 0.25])
    expected = ttest_1samp(values, 0).confidence_interval(0.95)
    assert interval(values) == pytest.approx((values.mean(), expected.low, expected.high))


@pytest.mark.parametrize(
    ("low", "high", "count", "margin", "expected"),
    [
        (0.1, 0.2, 6, None, HOLDS),
        (-0.2, -0.1, 6, None, FAILS),
        (-0.1, 0.1, 6, None, NOT_DECIDED),
        (0.1, 0.2, 2, None, NOT_DECIDED),
        (-0.1, 0.1, 6, 0.2, HOLDS),
        (0.3, 0.4, 6, 0.2, FAILS),
        (0.1, 0.4, 6, 0.2, NOT_DECIDED),
        (float("nan"), float("nan"), 6, None, NOT_DECIDED),
    ],
)
def test_the_verdict_follows_from_the_interval(
    low: float, high: float, count: int, margin: float | None, expected: str
) -> None:
    assert verdict(low, high, count, margin) == expected


def test_scaling_that_lowers_every_error_holds_and_one_that_raises_it_does_not() -> None:
    rows = []
    for number, dataset in enumerate(DATASETS):
        for step in STEPS:
            rows += [
                row(dataset, step, "SM", ece=0.3 + 0.01 * number),
                row(dataset, step, "SM", "temperature", ece=0.1 + 0.001 * step),
                row(dataset, step, "AS", ece=0.1),
                row(dataset, step, "AS", "temperature", ece=0.3 + 0.001 * step),
            ]
    found = judge(table_of(rows)).set_index("claim")
    assert found.loc["Temperature scaling lowers the calibration error of SM.", "verdict"] == HOLDS
    assert found.loc["Temperature scaling lowers the calibration error of SM.", "as claimed"] == "3 of 3"
    assert found.loc["Temperature scaling lowers the calibration error of AS.", "verdict"] == FAILS
    assert found.loc["Temperature scaling lowers the calibration error of FP.", "verdict"] == NOT_DECIDED
    mean_step = np.mean(STEPS) / 1000
    np.testing.assert_allclose(
        numbers("calibration error of SM.", rows), [0.2 - mean_step, 0.21 - mean_step, 0.22 - mean_step]
    )


def test_a_rise_is_taken_against_the_first_step_of_the_same_dataset() -> None:
    rows = [row(d, s, "SM", confidence=0.9, accuracy=0.9 - s / 100) for d in DATASETS for s in (1, 10, 30, 50)]
    rows = [each for each in rows if (each["dataset"], each["step"]) != ("a", 1)]
    found = numbers("Overconfidence grows", rows)
    np.testing.assert_allclose(found, [(0.2 + 0.4) / 2, (0.09 + 0.29 + 0.49) / 3, (0.09 + 0.29 + 0.49) / 3])


def test_a_temperature_at_a_bound_does_not_count() -> None:
    rows = [
        row(d, s, "SM", "temperature", temperature=1.8 * s, squared_displacement=2.0 * s)
        for d in DATASETS
        for s in STEPS
    ]
    rows[0] |= {"verdict": "at bound", "temperature": 1e9}
    np.testing.assert_allclose(numbers("one to one", rows), np.log2(1.8))


def test_models_costs_sequences_and_steps_are_averaged_one_after_another() -> None:
    rows = [
        row("a", 1, "SM", gain_entropy=0.1),
        row("a", 1, "SM", gain_entropy=0.2, sequence="03"),
        row("a", 1, "SM", gain_entropy=0.5, cost="transformer", model="x"),
        row("a", 1, "SM", gain_entropy=0.7, cost="transformer", model="y"),
        row("a", 10, "SM", gain_entropy=0.9),
    ]
    assert numbers("the entropy of SM", rows) == pytest.approx([((0.1 + 0.2 + 0.6) / 3 + 0.9) / 2])


def test_a_mean_over_methods_needs_all_of_them() -> None:
    rows = [
        row("a", 1, "FP+A", gain_entropy=0.3),
        row("a", 1, "SM", gain_entropy=0.1),
        row("a", 1, "FP", gain_entropy=0.2),
    ]
    assert len(numbers("sparsify better than SM and FP", rows)) == 0
    rows.append(row("a", 1, "AS", gain_entropy=0.5))
    assert numbers("sparsify better than SM and FP", rows) == pytest.approx([0.25])


def test_overlap_is_held_against_the_mean_of_the_other_costs() -> None:
    rows = [
        row("a", 1, method, scaling, cost=cost, gain_edge=gain * (scaling == "temperature"), gain_entropy=0.0)
        for method in ("SM", "FP")
        for scaling in ("none", "temperature")
        for cost, gain in (("overlap", 0.6), ("distance", 0.1), ("activity", 0.3))
    ]
    assert numbers("for overlap more", rows) == pytest.approx([(0.6 - 0.2) / 2])


def test_dropout_rates_are_read_from_the_models_names() -> None:
    rows = [
        row("a", 1, method, ece=ece, cost="transformer", model=f"dropout-{rate}")
        for method in ("FP", "FP+A")
        for rate, ece in (("0.5", 0.3), ("0.125", 0.1), ("0.25", 0.9))
    ]
    assert numbers("dropout rate shows no clear trend", rows) == pytest.approx([0.2])
    assert len(numbers("dropout rate shows no clear trend", rows[:1])) == 0


def test_the_papers_claims_are_held_against_its_own_set_up_and_ours_against_the_users() -> None:
    rows = [row(d, 1, "SM", gain_entropy=0.1) for d in DATASETS]
    rows += [{**each, "setup": "user", "gain_entropy": -0.1} for each in rows]
    found = judge(table_of(rows)).set_index("claim")
    own = found.loc[claim("the entropy of SM").words]
    assert (own.setup, own["mean"]) == ("paper", pytest.approx(0.1))
    assert set(found[found.source == "ours"].setup) == {"user"}
    assert isinstance(found, pd.DataFrame)
