"""The paper's claims, and ours beyond it: a table of numbers that should be above zero, and what the measurements say of them.

A claim's number is computed for every cost on every sequence at every frame step. Those of one dataset are not independent of
each other, so they are averaged to one number per dataset (first over the transformer's models, costs and sequences, then over
steps); a claim about falling resolution takes the number at a step minus that at the dataset's first. The mean over datasets
gets a 95 % Student-t interval. **Holds**: the interval lies above zero ("makes little difference": within ± a margin). **Does
not hold**: below it (outside the margin). **Undecided**: neither, or fewer than three datasets. No correction is made for the
number of claims.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dunno.benchmark.units import PAPER, USER

if TYPE_CHECKING:
    from pandas import DataFrame

Series = Any  # pandas is imported inside functions only

PAPERS, POINTWISE, BAYESIAN = ("SM", "FP", "FP+A", "AS"), ("SM", "FP"), ("FP+A", "AS")
TS, SELF = "temperature", "self"
LEAST_SCENES, CONFIDENCE = 3, 0.95
HOLDS, FAILS, NOT_DECIDED = "holds", "does not hold", "undecided"


class SceneMeans:
    """A set-up's table by what was measured where: a column's mean over some methods with one scaling, for every scene."""

    def __init__(self, table: DataFrame) -> None:
        self.table = table

    def __call__(self, column: str, methods: str | tuple[str, ...], scaling: str = "none") -> Series:
        """A number for each dataset, sequence, step, cost and model; missing where any of the methods has none."""
        names = (methods,) if isinstance(methods, str) else methods
        own = self.table[(self.table.scaling == scaling) & self.table.method.isin(names)]
        if column == "temperature":  # one at a bound is none
            own = own[own.verdict != "at bound"]
        wide = own.pivot_table(column, list(SCENE), "method", aggfunc="first").reindex(columns=list(names))
        return wide.mean(axis=1, skipna=False)

    def scaled(self, column: str, methods: str | tuple[str, ...], scaling: str = TS) -> Series:
        """What scaling adds."""
        return self(column, methods, scaling) - self(column, methods)


SCENE = ("dataset", "sequence", "step", "cost", "model")
Value = Callable[[SceneMeans], Series]


@dataclass(frozen=True)
class Claim:
    """Something that should show in the table."""

    words: str  # The claim, in our words
    source: str  # Where it is made: a section of the paper, or "ours"
    quantity: str  # What is computed, in words
    value: Value  # The number that should be above zero, for each scene
    rising: bool = False  # Take the number minus that at the dataset's first step
    margin: float | None = None  # Where given, the claim is that the number lies within ± this
    costs: tuple[str, ...] = ()  # Which count; all, if none is named


def drop(method: str, scaling: str = TS) -> Value:
    """How much lower a method's calibration error is with scaling."""
    return lambda s: -s.scaled("ece", method, scaling)


def slower(method: str) -> Value:
    """How much longer a method takes than SM, as a logarithm."""
    return lambda s: np.log(s("overhead", method))


OTHERS = ("activity", "distance", "overlap")

CLAIMS = (
    Claim("As they come, trackers are overconfident.", "1", "confidence − accuracy of SM",
          lambda s: s("confidence", "SM") - s("accuracy", "SM")),
    Claim("Overconfidence grows as temporal resolution falls.", "1", "confidence − accuracy of SM",
          lambda s: s("confidence", "SM") - s("accuracy", "SM"), rising=True),
    Claim("Without scaling, calibration error rises as temporal resolution falls (all but the transformer).", "4.1",
          "ECE of SM, FP, FP+A, AS", lambda s: s("ece", PAPERS), rising=True, costs=OTHERS),
    Claim("The transformer with SM and FP is the exception: its error falls.", "4.1", "− ECE of SM, FP",
          lambda s: -s("ece", POINTWISE), rising=True, costs=("transformer",)),
    *(Claim(f"Temperature scaling lowers the calibration error of {method}.", "4.1", f"ECE of {method} − {method}+TS",
            drop(method)) for method in PAPERS),
    Claim("Temperature scaling helps most at the lowest temporal resolutions.", "4.1", "fall of ECE by TS",
          lambda s: -s.scaled("ece", PAPERS), rising=True),
    Claim("Of the scaled methods, AS+TS is particularly well calibrated.", "4.1", "ECE of SM, FP, FP+A − AS, with TS",
          lambda s: s("ece", ("SM", "FP", "FP+A"), TS) - s("ece", "AS", TS)),
    Claim("The fitted temperature rises as temporal resolution falls.", "4.1",
          "log T of SM, FP (that of FP+A mostly runs into a bound)",
          lambda s: np.log(s("temperature", POINTWISE, TS)), rising=True),
    Claim("It rises least for SM and FP with the transformer.", "4.1", "rise of log T of SM, FP: other costs − transformer",
          lambda s: _other_costs(np.log(s("temperature", POINTWISE, TS))), rising=True, costs=("transformer",)),
    Claim("For the distance cost, T grows with the mean squared displacement.", "4.1",
          "log T − ½ log MSD/d of SM+TS", lambda s: np.log(s("temperature", "SM", TS)) - _log_motion(s) / 2, rising=True,
          costs=("distance",)),
    Claim("For the distance cost, T is the mean squared displacement per axis, one to one.", "B",
          "log2 of T over MSD/d, SM+TS; within a factor of two",
          lambda s: (np.log(s("temperature", "SM", TS)) - _log_motion(s)) / math.log(2), margin=1.0, costs=("distance",)),
    Claim("Even without scaling, the entropy of SM tells right from wrong links.", "4.2", "gain by entropy of SM",
          lambda s: s("gain_entropy", "SM")),
    Claim("Temperature scaling mostly improves sparsification.", "4.2", "what TS adds to the gains of SM, FP, FP+A, AS",
          lambda s: (s.scaled("gain_edge", PAPERS) + s.scaled("gain_entropy", PAPERS)) / 2),
    Claim("By edge, FP+A and AS need temperature scaling.", "4.2", "what TS adds to their gain by edge",
          lambda s: s.scaled("gain_edge", BAYESIAN)),
    Claim("By entropy, FP+A and AS gain little from temperature scaling.", "4.2", "what TS adds to their gain by entropy; ± 0.01",
          lambda s: s.scaled("gain_entropy", BAYESIAN), margin=0.01),
    Claim("For SM and FP, scaling matters to sparsification for overlap more than for the others.", "4.2",
          "what TS adds to their gains: overlap − other costs",
          lambda s: -_other_costs(s.scaled("gain_edge", POINTWISE) + s.scaled("gain_entropy", POINTWISE)) / 2, costs=("overlap",)),
    Claim("Entropy relies less on temperature scaling than the link's probability does.", "4.2",
          "what TS adds by edge − by entropy", lambda s: s.scaled("gain_edge", PAPERS) - s.scaled("gain_entropy", PAPERS)),
    Claim("Without scaling, FP+A and AS sparsify better than SM and FP.", "5", "gain by entropy of FP+A, AS − SM, FP",
          lambda s: s("gain_entropy", BAYESIAN) - s("gain_entropy", POINTWISE)),
    Claim("FP+A and AS rely less on temperature scaling for calibration than SM and FP.", "5",
          "fall of ECE by TS: SM, FP − FP+A, AS", lambda s: s.scaled("ece", BAYESIAN) - s.scaled("ece", POINTWISE)),
    *(Claim(f"{method} takes longer than SM.", "5", f"log of {method}'s processor time over SM's",
            slower(method)) for method in ("FP", "FP+A", "AS")),
    Claim("The transformer's dropout rate shows no clear trend in calibration.", "D",
          "ECE of FP, FP+A: highest rate − lowest; ± 0.02", lambda s: _by_model(s("ece", ("FP", "FP+A"))), margin=0.02,
          costs=("transformer",)),
)  # fmt: skip

OURS = (
    *(Claim(f"A temperature fitted without truth, by skipping frames, lowers the calibration error of {method}.", "ours",
            f"ECE of {method} − {method} self", drop(method, SELF)) for method in PAPERS),
    Claim("It is as good as one fitted with truth on another sequence.", "ours", "ECE with TS − self; ± 0.02",
          lambda s: s("ece", PAPERS, TS) - s("ece", PAPERS, SELF), margin=0.02),
    Claim("JP self, without truth, has a lower calibration error than SM+TS, which has seen truth.", "ours",
          "ECE of SM+TS − JP self", lambda s: s("ece", "SM", TS) - s("ece", "JP", SELF), costs=("distance",)),
    Claim("JP self decides more daughters right than the cheapest assignment, which SM reports.", "ours",
          "daughters right: JP self − SM", lambda s: s("daughter_accuracy", "JP", SELF) - s("daughter_accuracy", "SM"),
          costs=("distance",)),
    Claim("JP self sparsifies better than SM.", "ours", "gain by edge, JP self − SM",
          lambda s: s("gain_edge", "JP", SELF) - s("gain_edge", "SM"), costs=("distance",)),
)  # fmt: skip


def _log_motion(s: SceneMeans) -> Series:
    """The logarithm of the mean squared displacement per axis."""
    return np.log(s("squared_displacement", "SM", TS) / s("dimensions", "SM", TS))


def _other_costs(value: Series) -> Series:
    """The mean of the other costs at the same place minus each cost's own number."""
    place = ["dataset", "sequence", "step"]
    costs = value.groupby([*place, "cost"]).mean().dropna().groupby(place)
    total, count = costs.sum(), costs.count()
    own = value.index.droplevel(["cost", "model"])
    n = count.reindex(own).to_numpy(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (total.reindex(own).to_numpy(float) - value) / (n - 1) - value


def _by_model(value: Series) -> Series:
    """The number of the model that drops most minus that of the one that drops least; models are called dropout-RATE."""
    wide = value.unstack("model")
    rates = {name: float(str(name).rpartition("-")[2]) for name in wide.columns if str(name).startswith("dropout-")}
    if len(rates) < 2:
        return value.iloc[:0]
    most, least = max(rates, key=lambda name: rates[name]), min(rates, key=lambda name: rates[name])
    return (wide[most] - wide[least]).to_frame("").assign(model="").set_index("model", append=True)[""]


def judge(table: DataFrame) -> DataFrame:
    """Hold all claims against a table: the paper's in its own set-up where that was measured, ours in the user's."""
    import pandas as pd

    there = set(table.setup)
    rows = []
    for claims, wanted in ((CLAIMS, PAPER), (OURS, USER)):
        setup = wanted if wanted in there else next(iter(there), wanted)
        scenes = SceneMeans(table[(table.setup == setup) & table.n_links.notna()])
        rows += [{"setup": setup, **judge_one(claim, scenes)} for claim in claims]
    return pd.DataFrame(rows)


def judge_one(claim: Claim, scenes: SceneMeans) -> dict[str, Any]:
    """What the table says about a claim."""
    numbers = per_dataset(claim, scenes)
    centre, low, high = interval(numbers)
    margin = claim.margin
    agree = int((numbers > 0).sum() if margin is None else (np.abs(numbers) <= margin).sum())
    return {
        "claim": claim.words, "source": claim.source, "number": claim.quantity + (", at a step − at the first" * claim.rising),
        "verdict": verdict(low, high, len(numbers), margin), "as claimed": f"{agree} of {len(numbers)}",
        "mean": centre, "low": low, "high": high,
    }  # fmt: skip


def per_dataset(claim: Claim, scenes: SceneMeans) -> np.ndarray:
    """One number per dataset."""
    value = claim.value(scenes).replace([np.inf, -np.inf], np.nan).dropna()
    if claim.costs:
        value = value[value.index.get_level_values("cost").isin(claim.costs)]
    value = value.groupby(["dataset", "sequence", "cost", "step"]).mean()
    if claim.rising:
        first = value.groupby(["dataset", "sequence", "cost"]).transform("first")
        steps = value.index.get_level_values("step")
        value = (value - first)[steps > value.groupby("dataset").transform(_first_step)]
    return np.asarray(value.groupby(["dataset", "step"]).mean().groupby("dataset").mean(), np.float64)


def _first_step(value: Series) -> float:
    return float(value.index.get_level_values("step").min())


def interval(numbers: np.ndarray) -> tuple[float, float, float]:
    """The mean and its Student-t interval; NaN ends for fewer than two."""
    if len(numbers) < 2:
        return (float(numbers.mean()) if len(numbers) else math.nan), math.nan, math.nan
    from scipy.stats import t

    centre = float(numbers.mean())
    half = float(t.ppf((1 + CONFIDENCE) / 2, len(numbers) - 1) * numbers.std(ddof=1) / math.sqrt(len(numbers)))
    return centre, centre - half, centre + half


def verdict(low: float, high: float, count: int, margin: float | None) -> str:
    """What an interval says."""
    if count < LEAST_SCENES or math.isnan(low):
        return NOT_DECIDED
    if margin is None:
        return HOLDS if low > 0 else FAILS if high < 0 else NOT_DECIDED
    return HOLDS if -margin <= low and high <= margin else FAILS if low > margin or high < -margin else NOT_DECIDED
