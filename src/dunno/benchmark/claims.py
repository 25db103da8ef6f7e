"""By what measure a claim holds; see docs/benchmark.

**Criterion.** A claim is a number that should be above zero (or, for "makes little difference", near zero), computed for
every cost on every sequence at every frame step. It is averaged over costs and sequences to one number per dataset × step;
claims about falling temporal resolution take the number at a step minus that at the dataset's first step. Steps of one dataset
are not independent of each other, so they are averaged too: one number per dataset. The mean of these gets a 95 % Student-t
interval, and in how many datasets the number alone is as claimed is said beside it.

- held: the interval lies above zero (near zero: within ± the margin);
- did not hold: it lies below zero (near zero: outside the margin);
- undecided here: anything else, or fewer than three datasets.

A temperature that ran into a bound of its search is no temperature; its other numbers count like all others. No correction is
made for the number of claims.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dunno.benchmark.rows import Row
from dunno.benchmark.scenes import Scene, Value, mean, scenes

LEAST = 3
CONFIDENCE = 0.95
HELD, FAILED, UNDECIDED = "held", "did not hold", "undecided here"
OURS = "ours"


@dataclass(frozen=True)
class Claim:
    """Something that should show in the table.

    Attributes:
        name: Short, for reference.
        words: The claim, in our words.
        source: Where it is made: a section of the paper, or "ours".
        quantity: What is computed, in words.
        value: The number that should be above zero, for one scene and cost.
        against_first: Take the number minus that at the dataset's first frame step.
        margin: Where given, the claim is that the number lies within ± this.
        applies: Which costs count.
    """

    name: str
    words: str
    source: str
    quantity: str
    value: Value
    against_first: bool = False
    margin: float | None = None
    applies: Callable[[str], bool] = lambda cost: True


@dataclass(frozen=True)
class Verdict:
    """What the table says about a claim.

    Attributes:
        claim: Which.
        mean: Of the datasets' numbers.
        low: Lower end of the interval; `high` is the upper one.
        numbers: One per dataset × step.
        datasets: One per dataset, the mean over its steps.
        verdict: "held", "did not hold" or "undecided here".
    """

    claim: Claim
    mean: float
    low: float
    high: float
    numbers: dict[tuple[str, int], float]
    datasets: dict[str, float]
    verdict: str

    @property
    def agreement(self) -> str:
        """In how many datasets the number is as claimed, in words."""
        margin = self.claim.margin
        agree = sum(value > 0 if margin is None else abs(value) <= margin for value in self.datasets.values())
        return f"in {agree} of {len(self.datasets)} datasets" if self.datasets else "–"


def judge(claims: Sequence[Claim], rows: Sequence[Row]) -> list[Verdict]:
    """Hold claims against a table."""
    measured = scenes(rows)
    return [judge_one(claim, measured) for claim in claims]


def judge_one(claim: Claim, measured: Sequence[Scene]) -> Verdict:
    """Hold one claim against the scenes."""
    numbers = blocks(claim, measured)
    datasets = by_dataset(numbers)
    centre, low, high = interval(list(datasets.values()))
    return Verdict(claim, centre, low, high, numbers, datasets, decide(low, high, len(datasets), claim.margin))


def decide(low: float, high: float, count: int, margin: float | None) -> str:
    """The verdict that an interval gives."""
    if count < LEAST or math.isnan(low):
        return UNDECIDED
    if margin is None:
        return HELD if low > 0 else FAILED if high < 0 else UNDECIDED
    return HELD if -margin <= low and high <= margin else FAILED if low > margin or high < -margin else UNDECIDED


def interval(numbers: Sequence[float]) -> tuple[float, float, float]:
    """The mean and its Student-t interval; NaN ends for fewer than two."""
    if not numbers:
        return (float("nan"),) * 3
    from scipy.stats import t

    centre = float(np.mean(numbers))
    if len(numbers) < 2:
        return centre, float("nan"), float("nan")
    half = float(t.ppf((1 + CONFIDENCE) / 2, len(numbers) - 1) * np.std(numbers, ddof=1) / math.sqrt(len(numbers)))
    return centre, centre - half, centre + half


def by_dataset(numbers: Mapping[tuple[str, int], float]) -> dict[str, float]:
    """The mean over each dataset's steps."""
    names = dict.fromkeys(dataset for dataset, _ in numbers)
    return {name: mean(value for (dataset, _), value in numbers.items() if dataset == name) for name in names}


def blocks(claim: Claim, measured: Sequence[Scene]) -> dict[tuple[str, int], float]:
    """One number per dataset × step, the mean over costs and sequences; those without any are left out."""
    values = {
        (scene.dataset, scene.sequence, scene.step, cost): claim.value(scene, cost)
        for scene in measured
        for cost in scene.costs
        if claim.applies(cost)
    }
    if claim.against_first:
        values = _against_first(values)
    gathered: dict[tuple[str, int], list[float]] = {}
    for (dataset, _, step, _), value in values.items():
        gathered.setdefault((dataset, step), []).append(value)
    found = {block: mean(each) for block, each in gathered.items()}
    return {block: value for block, value in sorted(found.items()) if not math.isnan(value)}


Key = tuple[str, str, int, str]


def _against_first(values: dict[Key, float]) -> dict[Key, float]:
    first = {dataset: min(key[2] for key in values if key[0] == dataset) for dataset, *_ in values}
    return {
        key: value - values.get((key[0], key[1], first[key[0]], key[3]), float("nan"))
        for key, value in values.items()
        if key[2] != first[key[0]]
    }
