"""One unit's work: track, calibrate, score."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dunno import evaluation
from dunno.benchmark.folds import Fold, Part, open_folds
from dunno.benchmark.rows import Row
from dunno.benchmark.units import Unit
from dunno.calibration import ModelCalibration, TemperatureScaling, TemperedCosts, fit_event_costs
from dunno.costs import Cost, cost_of
from dunno.errors import DunnoWarning
from dunno.evaluation.decisions import decide
from dunno.tracking import Tracking
from dunno.tracking.tracker import Tracker
from dunno.truth import true_mothers
from dunno.types import Block

LEAST_LINKS = 20
"""Fewer than this say nothing about a calibration error, nor about a temperature."""

SCORES = (
    *("n_links", "accuracy", "recall", "daughter_accuracy", "ece", "ece_floor", "ece_daughters", "ece_daughters_floor"),
    *("nll", "brier", "auroc", "aurc", "promised_swaps", "swaps"),
)
CURVE_POINTS = 20
ROUNDS, ENOUGH_SECONDS = 3, 0.5
SOFTMAX, JOINT = "SM", "JP"
NEED_TRUTH = ("temperature", "events")

Result = TypeVar("Result")


class NoNumbersError(Exception):
    """There is too little to calibrate on or to evaluate, or no such calibration; the message becomes the row's reason."""


class Here(Executor):
    """Runs everything at once in this thread, so that its CPU time is counted."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Run a call."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


@dataclass(frozen=True, eq=False)
class Tracked:
    """A tracking of the parts of a fold, joined, and what it took."""

    tracking: Tracking
    seconds: float
    temperature: float | None = None
    trusted: bool | None = None
    reason: str | None = None


def measure(unit: Unit) -> list[Row]:
    """Do one unit: a row per evaluated sequence and scaling. Runs in any process that finds the movies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DunnoWarning)  # what they say is in the rows
        bench = Bench(unit)
        return [bench.row(fold, scaling) for fold in open_folds(unit) for scaling in bench.scalings]


class Bench:
    """A unit's tracker, and what it has tracked and fitted so far: folds share the sequence that is calibrated on."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.cost = make_cost(unit)
        self._done: dict[tuple[str, Part], Any] = {}
        self._ways: dict[str, Callable[[Fold], Tracked]] = {
            "none": self._plain,
            "temperature": self._scaled,
            "self": self._self_calibrated,
        }
        if unit.method == JOINT:
            self._ways["events"] = self._with_events

    @property
    def scalings(self) -> tuple[str, ...]:
        """The scalings that the method is tried with."""
        return tuple(self._ways)

    def row(self, fold: Fold, scaling: str) -> Row:
        """Track, scale and score a fold; without numbers, and with the reason, where there is too little."""
        unit = self.unit
        row = Row(
            unit.dataset, fold.sequence, unit.step, unit.cost, unit.method, scaling,
            model=None if unit.model is None else Path(unit.model).name, dropout=getattr(self.cost.given, "dropout", unit.dropout),
            dimensions=fold.whole.movie.n_dimensions, dunno=unit.version, seed=unit.seed,
            masks="/".join(fold.whole.movie.mask_source.split("/")[-2:]),
        )  # fmt: skip
        try:
            check_frames(fold.evaluate, "evaluate")
            if scaling in NEED_TRUTH:
                check_frames(fold.calibrate, "calibrate on")
            return self._scored(row, fold, self._ways[scaling](fold))
        except NoNumbersError as error:
            return replace(row, reason=str(error))

    def _scored(self, row: Row, fold: Fold, tracked: Tracked) -> Row:
        tracking, truth = tracked.tracking, fold.whole.truth
        found = evaluation.score(tracking, truth, seed=self.unit.seed, n_bins=self.unit.n_bins)
        if found.n_links < LEAST_LINKS:
            raise NoNumbersError(f"{found.n_links} links to evaluate; at least {LEAST_LINKS} are needed")
        edge, entropy = (evaluation.sparsification(tracking, truth, by=by) for by in ("edge", "entropy"))
        told = found.to_dict()
        return replace(
            row,
            **{name: told[name] for name in SCORES},
            n_pairs=len(tracking.pairs),
            confidence=float(decide(tracking, truth).link_confidence.mean()),
            gain_edge=edge.gain,
            gain_entropy=entropy.gain,
            oracle_gain=edge.oracle_gain,
            temperature=tracked.temperature,
            mean_squared_displacement=self._motion(fold),
            seconds=tracked.seconds,
            overhead=tracked.seconds / self._softmax_seconds(fold),
            trusted=tracked.trusted,
            reason=tracked.reason,
            curves=_curves(evaluation.calibration_curve(tracking, truth, self.unit.n_bins), edge, entropy),
        )

    def _tracker(self, method: str | None = None, calibration: Any = None) -> Tracker:
        unit = self.unit
        return Tracker(
            self.cost,
            method or unit.method,
            samples=unit.samples,
            max_distance=unit.max_distance,
            no_mother=not unit.mothers_only,
            calibration=calibration,
            seed=unit.seed,
            workers=1,
            executor=Here(),
        )

    def _once(self, make: Callable[[Part], Result], part: Part) -> Result:
        """Make something of a part, or take what was made before."""
        key = (make.__name__, part)
        if key not in self._done:
            self._done[key] = make(part)
        found: Result = self._done[key]
        return found

    def _track(self, part: Part) -> tuple[Tracking, float]:
        return timed(self._tracker().track, part.movie)

    def _track_softmax(self, part: Part) -> float:
        return timed(self._tracker(SOFTMAX).track, part.movie)[1]

    def _tracked(self, part: Part) -> tuple[Tracking, float]:
        return self._once(self._track, part)

    def _softmax_seconds(self, fold: Fold) -> float:
        if self.unit.method == SOFTMAX:
            return sum(self._tracked(part)[1] for part in fold.evaluate)
        return sum(self._once(self._track_softmax, part) for part in fold.evaluate)

    def _plain(self, fold: Fold) -> Tracked:
        return joined(fold, [self._tracked(part) for part in fold.evaluate])

    def _scaled(self, fold: Fold) -> Tracked:
        parts, fits = [], [self._once(self._fit_temperature, part) for part in fold.calibrate]
        for part, fit in zip(fold.evaluate, fits, strict=True):
            tracking, spent = self._tracked(part)
            scaled, more = timed(fit, tracking)
            parts.append((scaled, spent + more))
        bound = any(fit.at_bound for fit in fits)
        temperature = float(np.exp(np.mean([np.log(fit.temperature) for fit in fits])))
        reason = "the temperature ran into a bound of its search" if bound else None
        return replace(joined(fold, parts), temperature=temperature, trusted=not bound, reason=reason)

    def _fit_temperature(self, part: Part) -> TemperatureScaling:
        return TemperatureScaling.fit(self._enough(part), part.truth)

    def _enough(self, part: Part) -> Tracking:
        """A part's tracking, if there is enough truth to fit on."""
        tracking = self._tracked(part)[0]
        known = sum(int((true_mothers(part.truth, pair).mother >= 0).sum()) for pair in tracking.pairs)
        if known < LEAST_LINKS:
            raise NoNumbersError(f"{known} true links to calibrate on; at least {LEAST_LINKS} are needed")
        return tracking

    def _self_calibrated(self, fold: Fold) -> Tracked:
        """Needs no truth, so it sees the whole movie; what it says of the pair across a cut is not scored."""
        tracking, spent = timed(self._tracker(calibration="self").track, fold.whole.movie)
        blocks = tuple(
            block for part in fold.evaluate if len(part.movie) > 1 for block in [_within(tracking.block, part)]
        )
        trusted = tracking.about.calibrated
        reason = None if trusted else f"{tracking.about.verdict}: {tracking.about.reason}"
        temperature = tracking.about.temperature  # of a model there is none
        return Tracked(replace(tracking, blocks=blocks), spent, temperature, trusted, reason)

    def _with_events(self, fold: Fold) -> Tracked:
        if ":" in self.unit.cost:
            raise NoNumbersError("event costs are fitted for dunno's own costs only")
        parts = []
        for part, other in zip(fold.evaluate, fold.calibrate, strict=True):
            fitted = self._once(self._fit_events, other)
            parts.append(timed(self._tracker(calibration=fitted).track, part.movie))
        return replace(joined(fold, parts), trusted=True)

    def _fit_events(self, part: Part) -> ModelCalibration | TemperedCosts:
        return fit_event_costs(self._enough(part), part.truth)

    def _motion(self, fold: Fold) -> float | None:
        """Mean squared displacement of true links in what is calibrated on."""
        if any(len(part) < 2 for part in fold.calibrate):
            return None
        squares = np.concatenate([squared_displacements(self._tracked(part)[0], part) for part in fold.calibrate])
        return float(squares.mean()) if len(squares) else None


def _within(block: Block, part: Part) -> Block:
    """The pairs of a part's frames."""
    first, last = np.searchsorted(block.frames, part.movie.frames[[0, -1]]).tolist()
    return block.part(first, last)


def make_cost(unit: Unit) -> Cost:
    """The unit's cost; a learnt one with its model and dropout rate."""
    return cost_of(unit.cost, **({} if unit.model is None else {"model": unit.model, "dropout": unit.dropout}))


def check_frames(parts: Sequence[Part], purpose: str) -> None:
    """Refuse a part without any frame pair."""
    shortest = min(len(part) for part in parts)
    if shortest < 2:
        which = "a half of the movie" if len(parts) > 1 else "the movie"
        raise NoNumbersError(f"too few frames to {purpose}: {which} has {shortest} at this step, and a pair takes two")


def joined(fold: Fold, parts: Sequence[tuple[Tracking, float]]) -> Tracked:
    """The parts' trackings as one of the whole sequence, for scoring."""
    blocks = tuple(block for tracking, _ in parts for block in tracking.blocks)
    tracking = replace(parts[0][0], movie=fold.whole.movie, blocks=blocks)
    return Tracked(tracking, sum(seconds for _, seconds in parts))


def timed(work: Callable[..., Result], *arguments: object) -> tuple[Result, float]:
    """What the work gives, and the CPU seconds of this thread; the fastest of a few rounds where it is quick."""
    times: list[float] = []
    while len(times) < ROUNDS and sum(times) < ENOUGH_SECONDS:
        started = time.thread_time()
        result = work(*arguments)
        times.append(time.thread_time() - started)
    return result, min(times)


def squared_displacements(tracking: Tracking, part: Part) -> np.ndarray:
    """(L,) how far each true link's daughter is from her mother, squared."""
    squares = []
    for pair in tracking.pairs:
        mother = true_mothers(part.truth, pair).mother
        linked = np.flatnonzero(mother >= 0)
        moved = pair.daughters.centroid[linked] - pair.mothers.centroid[mother[linked]]
        squares.append((moved**2).sum(axis=1))
    return np.concatenate(squares)


def _curves(curve: evaluation.CalibrationCurve, *rests: evaluation.Sparsification) -> dict[str, Any]:
    """What figures draw, rounded and thinned."""
    every = len(rests[0].removed) // CURVE_POINTS
    bins = {name: _rounded(getattr(curve, name)) for name in ("confidence", "accuracy")}
    left = {rest.by: _rounded(rest.accuracy[::every]) for rest in rests}
    removed = _rounded(rests[0].removed[::every])
    return {"calibration": {"count": curve.count.tolist(), **bins}, "sparsification": {"removed": removed, **left}}


def _rounded(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 6) for value in values]
