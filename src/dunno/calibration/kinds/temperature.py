"""TS: one temperature for every daughter's distribution."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from dunno.assignment.distributions import log_sum, normalise
from dunno.calibration.applying import solved_again
from dunno.calibration.base import Calibration, refuse_calibrated
from dunno.calibration.comparison import Comparison
from dunno.calibration.verdict import UNTESTED, SkipTest, Verdict, fitted_with_truth
from dunno.errors import DunnoWarning, InputError
from dunno.truth import MOTHERLESS, true_mothers
from dunno.types import Block, Bools, Floats, Ints, PairPosterior, RunInfo, Truth
from dunno.types.records import MaybeKnown, to_json
from dunno.types.searching import find_lowest

if TYPE_CHECKING:
    from dunno.tracking import Tracking

TEMPERATURE_BOUNDS = (1e-3, 1e6)  # T; judged; where a temperature is looked for
FAINT_PRIOR = 3.0  # ln T; judged
"""Width of the prior on ln T around 0, for a fit without truth: next to nothing against a few links."""

SHOULD_AGREE = ("step", "interval", "cost_parameters", "method_parameters")
Losses = Callable[[float], Floats]
"""By temperature, (n,) −log P of the right mother of each daughter."""

UNKNOWN_MOTHER = -2  # index; exact: a mark
"""The mother of a daughter that is not judged."""


@dataclass(frozen=True)
class TemperatureScaling(Calibration):
    r"""Raise every daughter's distribution to the power 1/T and normalise it again.

    $$P_{i|j,T} = \frac{P_{i|j}^{1/T}}{\sum_k P_{k|j}^{1/T}}$$

    Eq. 20 of the paper, whose τ is 1/T. T > 1 makes everything less certain. For the distance cost with SM it is the
    variance of the motion along each axis, in units of 1/λ.

    Attributes:
        temperature: T.
        fitted_for: What it was fitted on: version, cost, method, parameters, step, interval and data.
        loss_before: Mean −log P(true mother) at T = 1.
        loss_after: The same at T.
        counts: How many daughters the loss is over, and how many were left out and why.
        at_bound: Whether T ran into a bound of the search.
        fitted: "truth", or "self": on the movie itself, by skipping frames.
        verdict: What may be said of the scaled probabilities.
        interval: Where T lies in 95 of 100 cases, by resampling frame pairs; `None` if that was not asked.
        skipping: What the skip test saw.

    Exact zeros, of which AS and FP+A give many, stay zero: 0 to any power is 0.
    """

    name: ClassVar[str] = "temperature scaling"
    must_agree: ClassVar[tuple[str, ...]] = ("cost", "method", "no_mother")

    temperature: float
    fitted_for: Mapping[str, Any] = field(default_factory=dict)
    loss_before: MaybeKnown = float("nan")
    loss_after: MaybeKnown = float("nan")
    counts: Mapping[str, int] = field(default_factory=dict)
    at_bound: bool = False
    fitted: Literal["self", "truth"] = "truth"
    verdict: Verdict = UNTESTED
    interval: tuple[float, float] | None = None
    skipping: tuple[SkipTest, ...] = ()

    def __post_init__(self) -> None:
        if not (np.isfinite(self.temperature) and self.temperature > 0):
            raise InputError(f"the temperature is {self.temperature}; expected a number above zero")

    @classmethod
    def fit(cls, tracking: Tracking, truth: Truth, *, include_no_mother: bool = False) -> TemperatureScaling:
        """Find the T that makes the true mothers most probable, by a bounded search over its logarithm.

        The loss is the mean −log P(true mother) over daughters that have a true mother among their candidates.

        Args:
            tracking: What was tracked; not calibrated already.
            truth: What is true, with the same frames.
            include_no_mother: Also count daughters that truly have no mother; by default they are left out, because one T cannot
                serve both motion and ⊥.
        """
        refuse_calibrated(tracking.about)
        daughters, counts = beside_truth(tracking.pairs, truth, include_no_mother)
        losses = daughters.losses()
        temperature, at_bound = best_temperature(losses)
        if at_bound:
            warnings.warn(
                f"the temperature ran into the bound {temperature:g} of its search; the fit is not to be trusted",
                DunnoWarning,
                stacklevel=2,
            )
        return cls(
            temperature=temperature,
            fitted_for=tracking.about.to_dict(),
            loss_before=float(losses(1.0).mean()),
            loss_after=float(losses(temperature).mean()),
            counts=counts,
            verdict=fitted_with_truth(tracking.about, at_bound),
            at_bound=at_bound,
        )

    def check(self, about: RunInfo) -> None:
        super().check(about)
        why = "the temperature grows with the time between frames and scales with the costs"
        self.warn_of_others(SHOULD_AGREE, about, why)

    def apply(self, block: Block) -> Block:
        """Scale a block's distributions; without truth, a joint posterior's whole problem, so that it stays of one piece."""
        if self.fitted == "self" and block.problem is not None:
            return solved_again(block, 1 / self.temperature)
        return replace(scaled(block, self.temperature), samples=block.samples[:0], problem=None)  # those of before

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.name,
            "fitted": self.fitted,
            "temperature": self.temperature,
            "interval": None if self.interval is None else list(self.interval),
            "verdict": self.verdict.word,
            "reason": self.verdict.reason,
            "skipping": to_json(self.skipping),
            "data": self.fitted_for.get("movie"),
        }

    def rows(self) -> list[tuple[str, str]]:
        bound = " (at a bound: not to be trusted)" if self.at_bound else ""
        words = {"daughters": "fitted on daughters"}
        counts = [(words.get(name, f"left out: {name}"), f"{count:,}") for name, count in self.counts.items()]
        return [("temperature", f"{self.temperature:.4g}{bound}"), *counts]

    @property
    def losses(self) -> tuple[float, float]:
        return self.loss_before, self.loss_after


def scaled(block: Block, temperature: float) -> Block:
    """A block without edges across gaps whose distributions are scaled by a temperature."""
    logs = normalise(block.log_probability / temperature, block.log_no_mother / temperature, block.daughter)
    return replace(
        block,
        log_probability=logs.log_probability,
        log_no_mother=logs.log_no_mother,
        entropy=np.where(np.isnan(block.entropy), np.nan, logs.entropy),
    )


@dataclass(frozen=True, eq=False)
class LabelledDaughters(Comparison):
    """Distributions beside one mother of each daughter, with (K,) log q of all options."""

    log_direct: Floats

    @classmethod
    def beside(cls, pairs: Sequence[PairPosterior], mothers: Sequence[Ints]) -> LabelledDaughters:
        """The daughters of frame pairs with the mother of each: -1 is none, `UNKNOWN_MOTHER` is not judged."""
        begins = np.cumsum([0, *(len(mother) for mother in mothers)])
        parts = [
            (
                begin + np.append(pair.daughter, np.arange(len(mother))),
                np.append(pair.log_probability, pair.log_no_mother),
                np.append(mother[pair.daughter] == pair.mother, mother == MOTHERLESS),
                np.repeat([False, True], [len(pair.daughter), len(mother)]),
                mother != UNKNOWN_MOTHER,
            )
            for begin, pair, mother in zip(begins, pairs, mothers, strict=False)
        ]
        daughter, log_direct, label, is_none, judged = (np.concatenate(part) for part in zip(*parts, strict=True))
        unreached = judged & (np.bincount(daughter[label], minlength=len(judged)) == 0)
        return cls(daughter, np.exp(log_direct), label * 1.0, is_none, judged, unreached * 1.0, log_direct)

    @property
    def log_label(self) -> Floats:
        """(N,) log q of each daughter's mother; NaN where it is no option."""
        found, label = np.full(len(self.judged), np.nan), self.composed > 0
        found[self.daughter[label]] = self.log_direct[label]
        return found

    @property
    def possible(self) -> Bools:
        """(N,) whether a daughter is judged and its mother not impossible."""
        return self.judged & np.isfinite(self.log_label)

    def losses(self) -> Losses:
        """By temperature, (n,) −log q of each judged daughter's mother; without meaning where that is impossible."""
        number, own = np.cumsum(self.judged) - 1, self.judged[self.daughter]
        edge, none = own & ~self.is_none, own & self.is_none
        daughter, log_edge, log_none = number[self.daughter[edge]], self.log_direct[edge], self.log_direct[none]
        log_label = np.where(self.possible, self.log_label, 0.0)[self.judged]
        return lambda t: log_sum(log_edge / t, log_none / t, daughter) - log_label / t

    def scaled(self, temperature: float) -> Comparison:
        """The same with the distributions at a temperature."""
        n, logs = len(self.judged), self.log_direct / temperature
        most = np.full(n, np.finfo(np.float64).min)
        np.maximum.at(most, self.daughter, logs)
        weight = np.exp(logs - most[self.daughter])
        total = np.bincount(self.daughter, weight, minlength=n)
        return replace(self, direct=weight / np.maximum(total, 1.0)[self.daughter])


def beside_truth(
    pairs: Sequence[PairPosterior], truth: Truth, include_no_mother: bool
) -> tuple[LabelledDaughters, dict[str, int]]:
    """The daughters of tracked pairs that a loss is over, how many they are, and how many are left out and why."""
    trues = [true_mothers(truth, pair) for pair in pairs]
    labels = [
        np.where(true.known & (include_no_mother | (true.mother >= 0)), true.mother, UNKNOWN_MOTHER) for true in trues
    ]
    daughters = LabelledDaughters.beside(pairs, labels)
    known = np.concatenate([true.known for true in trues])
    has_mother = known & (np.concatenate([true.mother for true in trues]) >= 0)
    is_lost = known & np.isnan(np.concatenate([pair.entropy for pair in pairs]))
    used, log_label = daughters.possible, daughters.log_label
    counted = {
        "daughters": used,
        "no_mother": known & ~has_mother & ~used,
        "mother_no_candidate": has_mother & np.isnan(log_label),
        "mother_impossible": np.isneginf(log_label) & ~is_lost,
        "no_distribution": is_lost,
        "false_detections": ~known,
    }
    if not used.any():
        raise InputError("there is no daughter with a true mother among its candidates; nothing to fit on")
    return daughters.among(used), {name: int(rows.sum()) for name, rows in counted.items()}


def best_temperature(losses: Losses, weight: Floats | None = None, prior: float = 0.0) -> tuple[float, bool]:
    """The temperature of least mean loss, and whether it ran into a bound.

    A daughter counts as much as its weight, or all the same; a prior of this weight on ½(ln T)² holds T where nothing else does.
    """

    def loss(log_t: float) -> float:
        return float(np.average(losses(np.exp(log_t)), weights=weight))

    low, high = np.log(TEMPERATURE_BOUNDS).tolist()
    best, least = find_lowest(lambda log_t: loss(log_t) + 0.5 * prior * log_t**2, low, high)
    if not prior:
        for bound in (low, high):  # where everything is right and sure, the loss is flat down to the bound
            if abs(best - bound) < 0.01 or loss(bound) <= least + 1e-12:
                return float(np.exp(bound)), True
    return float(np.exp(best)), False
