"""TS: one temperature for every daughter's distribution."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dunno.assignment.distributions import log_sum, normalise
from dunno.calibration.base import Calibration, refuse_calibrated
from dunno.errors import DunnoWarning, InputError
from dunno.truth import NO_MOTHER, true_mothers
from dunno.types import Floats, Ints, PairPosterior, Truth

if TYPE_CHECKING:
    from dunno.tracking import Tracking

BOUNDS = (1e-3, 1e6)
ZERO_FLOOR = 1e-6
MUST_AGREE = ("cost", "method", "no_mother")
SHOULD_AGREE = ("step", "interval", "cost_parameters", "method_parameters")
KEPT = ("temperature", "loss_before", "loss_after", "zero_floor", "at_bound")


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
        zero_floor: Probability that takes the place of an exact 0 (AS and FP+A give many), in the fit and in use. It is
            itself raised to 1/T, so T depends on it: `docs/calibration.md` shows how much.
        at_bound: Whether T ran into a bound of the search.
    """

    name: ClassVar[str] = "temperature scaling"

    temperature: float
    fitted_for: Mapping[str, Any] = field(default_factory=dict)
    loss_before: float = float("nan")
    loss_after: float = float("nan")
    counts: Mapping[str, int] = field(default_factory=dict)
    zero_floor: float = ZERO_FLOOR
    at_bound: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.temperature) and self.temperature > 0):
            raise InputError(f"the temperature is {self.temperature}; expected a number above zero")
        if not 0 < self.zero_floor < 1:
            raise InputError(f"zero_floor is {self.zero_floor}; expected a probability between 0 and 1")

    @classmethod
    def fit(
        cls, tracking: Tracking, truth: Truth, *, include_no_mother: bool = False, zero_floor: float = ZERO_FLOOR
    ) -> TemperatureScaling:
        """Find the T that makes the true mothers most probable, by a bounded search over its logarithm.

        The loss is the mean −log P(true mother) over daughters that have a true mother among their candidates.

        Args:
            tracking: What was tracked; not calibrated already.
            truth: What is true, with the same frames.
            include_no_mother: Also count daughters that truly have no mother; by default they are left out, because one T cannot
                serve both motion and ⊥.
            zero_floor: Takes the place of exact zeros.
        """
        refuse_calibrated(tracking.about)
        sample = LabelledDaughters.of(tracking, truth, include_no_mother, zero_floor)
        temperature, at_bound = best_temperature(sample)
        if at_bound:
            warnings.warn(
                f"the temperature ran into the bound {temperature:g} of its search; the fit is not to be trusted",
                DunnoWarning,
                stacklevel=2,
            )
        return cls(
            temperature=temperature,
            fitted_for=dict(tracking.about),
            loss_before=sample.loss(1.0),
            loss_after=sample.loss(temperature),
            counts=sample.counts,
            zero_floor=zero_floor,
            at_bound=at_bound,
        )

    @property
    def trusted(self) -> bool:
        """Whether the fit found its temperature within the bounds of its search."""
        return not self.at_bound

    def check(self, about: Mapping[str, Any]) -> None:
        """Refuse a tracking of another cost or method; warn of another step or interval."""
        for name in MUST_AGREE:
            if name in self.fitted_for and self.fitted_for[name] != about.get(name):
                raise InputError(
                    f"the calibration was fitted for {name} {self.fitted_for[name]!r}, not for {about.get(name)!r}; "
                    "fit one for that: dunno calibrate"
                )
        for name in SHOULD_AGREE:
            if name in self.fitted_for and self.fitted_for[name] != about.get(name):
                warnings.warn(
                    f"the calibration was fitted at {name} {self.fitted_for[name]}, and is used at {about.get(name)}; "
                    "the temperature grows with the time between frames and scales with the costs",
                    DunnoWarning,
                    stacklevel=3,
                )

    def apply(self, pair: PairPosterior) -> PairPosterior:
        """Scale one frame pair's distributions."""
        log_edge, log_none = floored(pair, self.zero_floor, bool(self.fitted_for.get("no_mother", True)))
        scaled = normalise(log_edge / self.temperature, log_none / self.temperature, pair.daughter)
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
        return {"kind": self.name, "temperature": self.temperature, "data": self.fitted_for.get("movie")}

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
        return {name: getattr(self, name) for name in KEPT} | {"counts": dict(self.counts)}

    @classmethod
    def of_content(cls, content: Mapping[str, Any]) -> TemperatureScaling:
        """The reverse of `content`."""
        own = {name: content[name] for name in KEPT}
        return cls(**own, counts=content["counts"], fitted_for=content["fitted_for"])


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
    def of(cls, tracking: Tracking, truth: Truth, include_no_mother: bool, zero_floor: float) -> LabelledDaughters:
        """Collect the daughters of all pairs that the loss is over."""
        edges, owners, none, trues = [], [], [], []
        counts = {"daughters": 0, "no_mother": 0, "mother_no_candidate": 0, "no_distribution": 0, "false_detections": 0}
        for pair in tracking.pairs:
            true = true_mothers(truth, pair)
            log_edge, log_none = floored(pair, zero_floor, bool(tracking.about.get("no_mother", True)))
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
            counts["no_distribution"] += int((true.known & lost).sum())
            counts["false_detections"] += int((~true.known).sum())
        if counts["daughters"] == 0:
            raise InputError("there is no daughter with a true mother among her candidates; nothing to fit on")
        log_edge, daughter, log_none, log_true = (np.concatenate(part) for part in (edges, owners, none, trues))
        return cls(log_edge, daughter, log_none, log_true, counts)

    def loss(self, temperature: float) -> float:
        """Mean −log P(truth) at a temperature."""
        total = log_sum(self.log_edge / temperature, self.log_none / temperature, self.daughter)
        return float(np.average(total - self.log_true / temperature, weights=self.weight))


def best_temperature(sample: LabelledDaughters) -> tuple[float, bool]:
    """The temperature of least loss, and whether it ran into a bound."""
    from scipy.optimize import minimize_scalar

    low, high = np.log(BOUNDS)
    found = minimize_scalar(lambda log_t: sample.loss(np.exp(log_t)), bounds=(low, high), method="bounded")
    for bound in (low, high):  # where everything is right and sure, the loss is flat down to the bound
        if abs(found.x - bound) < 0.01 or sample.loss(np.exp(bound)) <= found.fun + 1e-12:
            return float(np.exp(bound)), True
    return float(np.exp(found.x)), False


def floored(pair: PairPosterior, zero_floor: float, no_mother: bool) -> tuple[Floats, Floats]:
    """A pair's log probabilities with exact zeros replaced.

    ⊥ stays out where it was left out, and a daughter without a distribution does not get a uniform one.
    """
    floor = np.log(zero_floor)
    nothing = np.isnan(pair.entropy)[pair.daughter]
    log_edge = np.where(np.isfinite(pair.log_probability) | nothing, pair.log_probability, floor)
    if not no_mother:
        return log_edge, pair.log_no_mother
    return log_edge, np.where(np.isfinite(pair.log_no_mother), pair.log_no_mother, floor)
