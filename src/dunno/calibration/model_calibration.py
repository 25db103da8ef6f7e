"""A fitted motion model, applied: pairs are solved again with its costs."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dunno import rooms
from dunno.assignment import Problem, decide
from dunno.assignment.distributions import normalise
from dunno.calibration.collective import carried
from dunno.calibration.motion_model import Field, MotionModel, MotionPair
from dunno.errors import DunnoWarning, InputError
from dunno.io.writing import whole
from dunno.types import Candidates, Floats, FramePair, PairPosterior

if TYPE_CHECKING:
    from dunno.tracking import Tracking

KIND = "motion model"
RATES = ("motion_scale", "p_lost", "p_divide", "appear_density")
"""The parameters that may vary in time."""


@dataclass(frozen=True)
class ModelCalibration:
    """A motion model fitted to a movie, with truth or without.

    Attributes:
        model: The movie's pooled parameters.
        fitted: "self" or "truth".
        frames: Original indices of the frames at which the varying parameters were fitted; empty if they do not vary.
        varying: For each parameter that varies in time, its values at `frames`.
        collective: Whether cells are predicted from their neighbours; `first` is the model that finds their displacements.
        first: The model without collective motion.
        trusted: Whether the model explains the movie well enough for its probabilities to be called calibrated.
        problems: Why it is not trusted, or what else is worth knowing.
        intervals: 95 % intervals of the pooled parameters.
        summary: What the fit saw: evidence, expected numbers, iterations.
        fitted_for: What it was fitted on.
    """

    model: MotionModel
    fitted: str
    frames: tuple[int, ...] = ()
    varying: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    collective: bool = False
    first: MotionModel | None = None
    trusted: bool = True
    problems: tuple[str, ...] = ()
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)
    fitted_for: Mapping[str, Any] = field(default_factory=dict)

    def at(self, frame: int, model: MotionModel | None = None) -> MotionModel:
        """The model for the pair whose mothers are in this frame."""
        model = model or self.model
        if not self.frames:
            return model
        return model.evolved(
            **{name: float(np.interp(frame, self.frames, values)) for name, values in self.varying.items()}
        )

    def pair(self, pair: FramePair, candidates: Candidates, cost: Any) -> MotionPair:
        """See a pair as the model does, carried along where motion is collective."""
        seen = MotionPair.of(pair, candidates, cost)
        if self.collective and self.first is not None:
            seen = carried(self.first, seen)
            seen = carried(self.at(seen.frame), seen)
        return seen

    def problem(self, pair: FramePair, candidates: Candidates, cost: Any) -> tuple[Floats, Problem]:
        """(E,) costs and the assignment problem in their place."""
        seen = self.pair(pair, candidates, cost)
        problem = self.at(seen.frame).problem(seen)
        return problem.cost, problem

    def __call__(self, tracking: Tracking) -> Tracking:
        """Solve a finished tracking's pairs again, with the same candidates."""
        self.check(tracking.about)
        cost = rooms.find("costs", str(tracking.about["cost"]))(**tracking.about["cost_parameters"])
        movie, pairs = tracking.movie, []
        same = self.fitted_for.get("movie") == tracking.about.get("movie")
        here = self if same else self.moved_to(Field.around([movie.detections(t) for t in range(len(movie))]))
        mothers = movie.detections(0)
        for t, told in enumerate(tracking.pairs, 1):
            daughters = movie.detections(t)
            pair = FramePair(mothers, daughters, np.inf, movie.scale)
            pairs.append(here._again(told, pair, cost, bool(tracking.about.get("no_mother", True))))
            mothers = daughters
        about = {**tracking.about, "calibration": self.describe(), "calibrated": self.trusted}
        return replace(tracking, pairs=tuple(pairs), about=about)

    def _again(self, told: PairPosterior, pair: FramePair, cost: Any, no_mother: bool) -> PairPosterior:
        costs, problem = self.problem(pair, Candidates(told.mother, told.daughter), cost)
        found, edge = decide(problem)
        selected = np.zeros(len(told.mother), np.bool_)
        selected[edge[edge >= 0]] = True
        with np.errstate(divide="ignore"):
            none = np.log(found.appear) if no_mother else np.full(len(found.appear), -np.inf)
            log_edge, log_none, entropy = normalise(np.log(found.edge), none, told.daughter)
            return replace(
                told,
                cost=costs,
                log_probability=log_edge,
                log_no_mother=log_none,
                entropy=entropy,
                selected=selected,
                log_disappear=np.log(found.disappear),
                log_divide=np.log(found.divide),
                problem=problem,
            )

    def check(self, about: Mapping[str, Any]) -> None:
        """Refuse another cost or a method that does not know the posterior."""
        if about.get("method") != "JP":
            raise InputError(
                f"a motion model calibrates method JP, not {about.get('method')}; use --method JP or --calibration none"
            )
        for name in ("cost", "cost_parameters", "scale"):
            if name in self.fitted_for and self.fitted_for[name] != about.get(name):
                raise InputError(
                    f"the calibration was fitted for {name} {self.fitted_for[name]!r}, not for {about.get(name)!r}; "
                    "fit one for that: dunno calibrate"
                )
        if self.fitted != "self" and self.fitted_for.get("step", about.get("step")) != about.get("step"):
            warnings.warn(
                f"the calibration was fitted at step {self.fitted_for['step']}, and is used at {about.get('step')}; "
                "cells move and divide more between frames that are farther apart",
                DunnoWarning,
                stacklevel=3,
            )

    def describe(self) -> dict[str, Any]:
        """What a result says about its calibration."""
        return {
            "kind": KIND,
            "fitted": self.fitted,
            "trusted": self.trusted,
            "problems": list(self.problems),
            "collective": self.collective,
            "varies_in_time": bool(self.frames),
            "parameters": {**asdict(self.model), "field": _box(self.model.field), "p_single": self.model.p_single},
            "intervals": {name: list(interval) for name, interval in self.intervals.items()},
            "per_hour": self._per_hour(),
            "summary": dict(self.summary),
            "data": self.fitted_for.get("movie"),
        }

    def _per_hour(self) -> dict[str, float] | None:
        """Rates in physical time, where the interval is known: diffusion in squared length, the others per cell or area."""
        minutes = self.fitted_for.get("interval")
        if not minutes:
            return None
        hours = float(minutes) / 60
        return {
            "diffusion_coefficient": self.model.motion_scale / (2 * hours),
            "divisions_per_cell": self.model.p_divide / hours,
            "losses_per_cell": self.model.p_lost / hours,
            "appearances_per_area": self.model.appear_density / hours,
        }

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write it as JSON."""
        with whole(path, overwrite) as partial:
            partial.write_text(json.dumps(self.to_dict(), indent=2) + "\n")

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"kind": KIND, **asdict(self)}

    @classmethod
    def load(cls, path: str | Path) -> ModelCalibration:
        """Read what `save` wrote."""
        try:
            return cls.from_dict(json.loads(Path(path).read_text()))
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from None
        except (ValueError, TypeError, KeyError, AttributeError):
            raise InputError(f"{path}: is no calibration that dunno wrote; make one with dunno calibrate") from None

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ModelCalibration:
        """The reverse of `to_dict`; raises ValueError, KeyError or TypeError on anything else."""
        content = {**content}
        if content.pop("kind") != KIND:
            raise ValueError(f"is no {KIND}")
        for name in ("model", "first"):
            content[name] = None if content[name] is None else _model({**content[name]})
        content["frames"] = tuple(content["frames"])
        content["problems"] = tuple(content["problems"])
        content["varying"] = {name: tuple(values) for name, values in content["varying"].items()}
        content["intervals"] = {name: tuple(values) for name, values in content["intervals"].items()}
        return cls(**content)

    def moved_to(self, field: Field) -> ModelCalibration:
        """The same for another movie: its own field, and the pooled parameters, because its clock is another."""
        first = None if self.first is None else replace(self.first, field=field)
        return replace(self, frames=(), varying={}, model=replace(self.model, field=field), first=first)


def _box(field: Field) -> dict[str, list[float]]:
    return {"low": list(field.low), "high": list(field.high)}


def _model(content: dict[str, Any]) -> MotionModel:
    box = content.pop("field")
    return MotionModel(**content, field=Field(tuple(box["low"]), tuple(box["high"])))
