"""A fitted model: pairs are solved with its costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from dunno.assignment import Problem, Rounds
from dunno.calibration.base import Calibration, MaybeSegments
from dunno.calibration.evidence_trials import Trial, in_words
from dunno.calibration.softening import Softening, with_unknown
from dunno.calibration.verdict import (
    LEAST_SEEN_DIVISIONS,
    LEAST_SETS,
    UNTESTED,
    SkipTest,
    Verdict,
    judge_divisions,
    judge_segments,
    worst,
)
from dunno.costs import Cost, evaluate
from dunno.errors import InputError
from dunno.models.expectation import with_drift
from dunno.models.intervals import Intervals
from dunno.models.model import Model
from dunno.types import Block, Candidates, Floats, FramePair, RunInfo
from dunno.types.arrow_counts import ArrowCounts
from dunno.types.field import Field
from dunno.types.records import Count, NonNegative, to_json
from dunno.types.stretch import Stretch, Transition

if TYPE_CHECKING:
    from dunno.segments.skipped_segments import SkippedSegments


@dataclass(frozen=True)
class ModelCalibration(Calibration):
    """A model fitted to a movie, with truth or without."""

    name: ClassVar[str] = "motion model"
    makes_costs: ClassVar[bool] = True
    solves_blocks: ClassVar[bool] = True
    needs_field: ClassVar[bool] = True
    must_agree: ClassVar[tuple[str, ...]] = ("cost", "cost_parameters", "scale")

    model: Model  # The movie's pooled parameters
    fitted: Literal["self", "truth"]
    # Original indices of the frames at which the varying parameters were fitted; empty if they do not vary
    frames: tuple[int, ...] = ()
    # For each parameter that varies in time, its values at `frames`
    courses: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    # By how much its probabilities are less sure than the model, as skipping frames says
    softening: Softening = field(default_factory=Softening)
    verdict: Verdict = UNTESTED  # What may be said of its probabilities
    skipping: tuple[SkipTest, ...] = ()  # What the skip tests saw, one for each step
    trials: tuple[Trial, ...] = ()  # Which evidence beyond places was tried, and whether it joined
    problems: tuple[str, ...] = ()  # What the model cannot explain
    intervals: Intervals = field(default_factory=dict)  # 95 % intervals of the pooled parameters
    summary: Mapping[str, Any] = field(default_factory=dict)  # What the fit saw: evidence, expected numbers, iterations
    fitted_for: Mapping[str, Any] = field(default_factory=dict)  # What it was fitted on
    # How well the odds of divisions are known where masks are judged: the standard deviation of their common
    # logarithm
    division_doubt: NonNegative = 0.0
    frames_per_block: Count = 0
    segments: MaybeSegments = None
    arrow: ArrowCounts | None = None  # Divisions that the movie shows, and those that it shows backwards

    @property
    def collective(self) -> bool:
        """Whether cells are predicted from their neighbours."""
        return self.model.drift is not None

    @property
    def max_gap(self) -> int:
        return self.model.max_gap

    @property
    def never_divides(self) -> bool:
        return self.model.never_divides

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        found = {"links": self.verdict}
        if self.arrow is not None:
            found["divisions"] = judge_divisions(self.arrow, None if self._skipped is None else self._skipped.unknown)
        if self._skipped is not None:
            found["segments"] = judge_segments(self._skipped.sets, self._skipped.unknown)
        return found

    @property
    def overall(self) -> Verdict:
        few = self.arrow is None or self.arrow.seen < LEAST_SEEN_DIVISIONS
        verdicts = {name: each for name, each in self.verdicts.items() if name != "segments" or self._has_sets}
        return worst(verdicts, few)

    @property
    def _skipped(self) -> SkippedSegments | None:
        return None if self.segments is None else self.segments.skipped

    @property
    def _has_sets(self) -> bool:
        """Whether there are parts and unions enough to be judged."""
        return self._skipped is not None and self._skipped.sets >= LEAST_SETS

    @property
    def judges_masks(self) -> bool:
        """Whether masks may be cut, joined or left out."""
        return self.segments is not None

    def at(self, stretch: Stretch) -> Model:
        """The model for a stretch: varying parameters are interpolated between the frames at which they were fitted.

        Steps that take longer than usual, or shorter, have their own motion and rates.
        """
        model = self.model
        if self.frames:
            when = stretch.transition_frame
            model = model.with_values(
                {name: np.interp(when, self.frames, values) for name, values in self.courses.items()}
            )
        return model if stretch.clock is None else model.over_time(stretch.duration)

    def reach(self, pair: FramePair) -> float:
        if pair.mothers.time is None or pair.daughters.time is None:
            return 1.0
        duration = max(pair.daughters.time - pair.mothers.time, 1.0)
        return float(duration ** (0.5 * self.model.value("lag_power")))

    def posed(self, stretch: Stretch, rounds: Rounds | None = None) -> tuple[Model, Stretch]:
        """The model for a stretch, and the stretch as it sees it: carried along where motion is collective.

        What is found out about the stretch's edges is kept by `rounds`.
        """
        model = self.at(stretch)
        return model, with_drift(model, stretch, rounds)

    def problem(self, pair: FramePair, candidates: Candidates, cost: Cost) -> tuple[Floats, Problem]:
        model, stretch = self.posed(stretch_of(pair, candidates, cost))
        problem = model.pair_problem(stretch)
        if self.softening.tempering != 1.0:
            problem = problem.tempered(self.softening.tempering)
        return problem.cost, problem

    def apply(self, block: Block) -> Block:
        """A block's probabilities with the share of what the model does not know."""
        return block if self.softening.unknown == 0.0 else with_unknown(block, self.softening.unknown)

    def check(self, about: RunInfo) -> None:
        super().check(about)
        why = "cells move and divide more between frames that are farther apart"
        self.warn_of_others(() if self.fitted == "self" else ("step",), about, why)

    def describe(self) -> dict[str, Any]:
        parameters = {name: each.value for name, each in self.model.parameters.items()}
        return {
            "kind": self.name,
            "fitted": self.fitted,
            "verdict": self.verdict.word,
            "reason": self.verdict.reason,
            "problems": list(self.problems),
            "tempering": self.softening.tempering,
            "unknown": self.softening.unknown,
            "skipping": to_json(self.skipping),
            "terms": [term.name for term in self.model.terms],
            "evidence": {"told": in_words(self.trials), "trials": to_json(self.trials)},
            "collective": self.collective,
            "max_gap": self.max_gap,
            "judges_masks": self.judges_masks,
            "division_doubt": self.division_doubt,
            "varies_in_time": bool(self.frames),
            "parameters": {
                **parameters,
                "field": to_json(self.model.field),
                "p_single": (1 - parameters["p_lost"]) * (1 - parameters["p_divide"]),
            },
            "units": {name: each.unit for name, each in self.model.parameters.items()},
            "intervals": {name: list(interval) for name, interval in self.intervals.items()},
            "findings": self.findings(),
            "per_hour": self._per_hour(),
            "summary": dict(self.summary),
            "data": self.fitted_for.get("movie"),
        }

    def findings(self) -> list[dict[str, Any]]:
        """What the parameters say, as a person is told: a name, a number with its interval, a unit.

        Nothing where masks are judged: this model was fitted to the masks as they were given, faults and all.
        """
        found = list[dict[str, Any]]()
        if self.segments is not None:
            return found
        for each in self.model.parameters.values():
            if each.words is None:
                continue
            ends = self.intervals.get(each.name)
            between = None if ends is None else [each.words.number(end) for end in ends]
            value = each.words.number(each.value)
            found.append({"name": each.words.name, "value": value, "interval": between, "unit": each.words.unit})
        return found

    def _per_hour(self) -> dict[str, float] | None:
        """Rates in physical time, where the interval is known: diffusion in squared length, the others per cell or area."""
        minutes = self.fitted_for.get("interval")
        if not minutes or self.segments is not None:
            return None
        hours, value = float(minutes) / 60, {name: each.value for name, each in self.model.parameters.items()}
        return {
            "diffusion_coefficient": value["motion_scale"] / (2 * hours),
            "divisions_per_cell": (1 - value["p_lost"]) * value["p_divide"] / hours,
            "losses_per_cell": value["p_lost"] / hours,
            "appearances_per_area": value["appear_density"] / hours,
        }

    def rows(self) -> list[tuple[str, str]]:
        return [(name, f"{each.value:.4g} {each.unit}") for name, each in self.model.parameters.items()]

    @property
    def losses(self) -> tuple[float, float]:
        return self.summary["loss_before"], self.summary["loss_after"]

    def __post_init__(self) -> None:
        varying = [each.name for each in self.model.parameters.values() if each.varies]
        for name, values in self.courses.items():
            if name not in varying or len(values) != len(self.frames):
                raise InputError(
                    f"courses.{name:.40} has {len(values)} values; expected {len(self.frames)}, of {', '.join(varying)}"
                )

    @classmethod
    def today(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Schema 2 called `frames_per_block` together, and its first files did not know of trials, doubt and segments."""
        if content.get("schema") != 2:
            return content
        late = {"trials": [], "division_doubt": 0.0, "frames_per_block": content.get("together", 0), "segments": None}
        return {**late, **{name: value for name, value in content.items() if name != "together"}}

    def moved_to(self, field: Field) -> ModelCalibration:
        """The same for another movie: its own field, and the pooled parameters, because its clock is another."""
        return replace(self, frames=(), courses={}, frames_per_block=0, model=replace(self.model, field=field))


def stretch_of(pair: FramePair, candidates: Candidates, cost: Cost) -> Stretch:
    """A pair with a cost's eyes: a motion's spread, or any other's score."""
    return Stretch.of([transition_of(pair, candidates, cost)])


def transition_of(pair: FramePair, candidates: Candidates, cost: Cost) -> Transition:
    """Two frames with what a cost says: how much mothers' squared steps vary, or what each edge costs."""
    score = None if cost.is_motion else evaluate(cost, pair, candidates)
    return Transition(pair.mothers, pair.daughters, candidates, cost.spread(pair), score, pair.stage)
