"""TS: one temperature for every daughter's distribution."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dunno.assignment.distributions import log_sum, normalise
from dunno.calibration.base import Calibration, refuse_calibrated
from dunno.calibration.solving import solved_again
from dunno.calibration.verdict import UNTESTED, SkipTest, Verdict, fitted_with_truth
from dunno.errors import DunnoWarning, InputError
from dunno.truth import NO_MOTHER, true_mothers
from dunno.types import Floats, Ints, PairPosterior, RunInfo, Truth
from dunno.types.searching import find_lowest

if TYPE_CHECKING:
    from dunno.tracking import Tracking

BOUNDS = (1e-3, 1e6)
FAINT_PRIOR = 3.0
"""Width of the prior on ln T around 0, for a fit without truth: next to nothing against a few links."""

SHOULD_AGREE = ("step", "interval", "cost_parameters", "method_parameters")
KEPT = ("temperature", "fitted", "loss_before", "loss_after", "at_bound")


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
    loss_before: float = float("nan")
    loss_after: float = float("nan")
    counts: Mapping[str, int] = field(default_factory=dict)
    at_bound: bool = False
    fitted: str = "truth"
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
        sample = LabelledDaughters.of(tracking, truth, include_no_mother)
        temperature, at_bound = best_temperature(sample)
        if at_bound:
            warnings.warn(
                f"the temperature ran into the bound {temperature:g} of its search; the fit is not to be trusted",
                DunnoWarning,
                stacklevel=2,
            )
        return cls(
            temperature=temperature,
            fitted_for=tracking.about.to_dict(),
            loss_before=sample.loss(1.0),
            loss_after=sample.loss(temperature),
            counts=sample.counts,
            verdict=fitted_with_truth(tracking.about, at_bound),
            at_bound=at_bound,
        )

    def check(self, about: RunInfo) -> None:
        """Refuse a tracking of another cost or method; warn of another step or interval."""
        super().check(about)
        why = "the temperature grows with the time between frames and scales with the costs"
        self.warn_of_others(SHOULD_AGREE, about, why)

    def apply(self, pair: PairPosterior) -> PairPosterior:
        """Scale one frame pair's distributions; without truth, a joint posterior's whole problem, so that it stays of one piece."""
        if self.fitted == "self" and pair.problem is not None:
            return solved_again(pair, pair.problem.tempered(1 / self.temperature))
        scaled = normalise(
            pair.log_probability / self.temperature, pair.log_no_mother / self.temperature, pair.daughter
        )
        return replace(
            pair,
            log_probability=scaled.log_probability,
            log_no_mother=scaled.log_no_mother,
            entropy=np.where(np.isnan(pair.entropy), np.nan, scaled.entropy),
            samples=None,
            problem=None,  # they are of the distribution before
        )

    def describe(self) -> dict[str, Any]:
        """What a result says about its calibration."""
        return {
            "kind": self.name,
            "fitted": self.fitted,
            "temperature": self.temperature,
            "interval": None if self.interval is None else list(self.interval),
            "verdict": self.verdict.word,
            "reason": self.verdict.reason,
            "skipping": [test.to_dict() for test in self.skipping],
            "data": self.fitted_for.get("movie"),
        }

    def rows(self) -> list[tuple[str, str]]:
        """The temperature, and what it was fitted on."""
        bound = " (at a bound: not to be trusted)" if self.at_bound else ""
        words = {"daughters": "fitted on daughters"}
        counts = [(words.get(name, f"left out: {name}"), f"{count:,}") for name, count in self.counts.items()]
        return [("temperature", f"{self.temperature:.4g}{bound}"), *counts]

    @property
    def losses(self) -> tuple[float, float]:
        """Mean −log P(truth) before and after the fit."""
        return self.loss_before, self.loss_after

    def content(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            **{name: getattr(self, name) for name in KEPT},
            "counts": dict(self.counts),
            "verdict": asdict(self.verdict),
            "interval": None if self.interval is None else list(self.interval),
            "skipping": [test.to_dict() for test in self.skipping],
        }

    @classmethod
    def of_content(cls, content: Mapping[str, Any]) -> TemperatureScaling:
        """The reverse of `content`."""
        interval = content["interval"]
        return cls(
            **{name: content[name] for name in KEPT},
            counts=content["counts"],
            verdict=Verdict(**content["verdict"]),
            interval=None if interval is None else (interval[0], interval[1]),
            skipping=tuple(SkipTest.of_dict(test) for test in content["skipping"]),
            fitted_for=content["fitted_for"],
        )


COUNTED = (
    *("daughters", "no_mother", "mother_no_candidate", "mother_impossible"),
    *("no_distribution", "false_detections"),
)


@dataclass(frozen=True, eq=False)
class LabelledDaughters:
    """Daughters with their distributions and the truth, flat.

    Attributes:
        log_edge: (E,) log probabilities of the candidate edges.
        daughter: (E,) the daughter of each, ascending.
        log_none: (N,) log P(⊥).
        log_true: (N,) log probability of the truth.
        counts: How many take part, and how many do not and why.
        weight: (N,) how much each counts; `None`: all the same.
    """

    log_edge: Floats
    daughter: Ints
    log_none: Floats
    log_true: Floats
    counts: dict[str, int]
    weight: Floats | None = None

    @classmethod
    def of(cls, tracking: Tracking, truth: Truth, include_no_mother: bool) -> LabelledDaughters:
        """Collect the daughters of all pairs that the loss is over."""
        edges, owners, none, trues = [], [], [], []
        counts = dict.fromkeys(COUNTED, 0)
        for pair in tracking.pairs:
            true = true_mothers(truth, pair)
            log_edge, log_none = pair.log_probability, pair.log_no_mother
            hit = true.mother[pair.daughter] == pair.mother
            log_true = np.full(len(pair.daughters), np.nan)
            log_true[pair.daughter[hit]] = log_edge[hit]
            appeared = true.known & (true.mother == NO_MOTHER)
            if include_no_mother:
                log_true[appeared] = log_none[appeared]
            lost = np.isnan(pair.entropy)
            used = true.known & ~np.isnan(log_true) & np.isfinite(log_true) & ~lost
            number = np.cumsum(used) - 1 + counts["daughters"]
            kept = used[pair.daughter]
            edges.append(log_edge[kept])
            owners.append(number[pair.daughter[kept]])
            none.append(log_none[used])
            trues.append(log_true[used])
            counts["daughters"] += int(used.sum())
            counts["no_mother"] += int((appeared & ~used).sum())
            counts["mother_no_candidate"] += int((true.known & (true.mother >= 0) & np.isnan(log_true)).sum())
            counts["mother_impossible"] += int((true.known & np.isneginf(log_true) & ~lost).sum())
            counts["no_distribution"] += int((true.known & lost).sum())
            counts["false_detections"] += int((~true.known).sum())
        if counts["daughters"] == 0:
            raise InputError("there is no daughter with a true mother among her candidates; nothing to fit on")
        log_edge, daughter, log_none, log_true = (np.concatenate(part) for part in (edges, owners, none, trues))
        return cls(log_edge, daughter, log_none, log_true, counts)

    def loss(self, temperature: float) -> float:
        """Mean −log P(truth) at a temperature."""
        return float(np.average(self.losses(temperature), weights=self.weight))

    def losses(self, temperature: float) -> Floats:
        """(N,) −log P(truth) of each daughter at a temperature."""
        total = log_sum(self.log_edge / temperature, self.log_none / temperature, self.daughter)
        return total - self.log_true / temperature


def best_temperature(sample: LabelledDaughters, prior: float = 0.0) -> tuple[float, bool]:
    """The temperature of least loss, and whether it ran into a bound.

    Args:
        sample: What the loss is over.
        prior: Weight of ½(ln T)², to hold T where nothing else does.
    """
    low, high = np.log(BOUNDS).tolist()
    best, loss = find_lowest(lambda log_t: sample.loss(np.exp(log_t)) + 0.5 * prior * log_t**2, low, high)
    if prior:
        return float(np.exp(best)), False
    for bound in (low, high):  # where everything is right and sure, the loss is flat down to the bound
        if abs(best - bound) < 0.01 or sample.loss(np.exp(bound)) <= loss + 1e-12:
            return float(np.exp(bound)), True
    return float(np.exp(best)), False
