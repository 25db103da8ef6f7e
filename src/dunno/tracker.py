"""The tracker: the one place that puts candidates, costs, assignment and methods together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from inspect import signature
from typing import Any, Protocol, cast

import numpy as np

from dunno import rooms
from dunno.assignment import Problem
from dunno.candidates import check_gate, estimate_gate, find_candidates, merge
from dunno.costs import Cost, HasEventCosts, evaluate, linkable, name_of
from dunno.errors import InputError, MovieError
from dunno.io.links import Links
from dunno.methods import Method, ScoredPair
from dunno.perturbations import Perturbation
from dunno.schedule import in_order
from dunno.tracking import Tracking
from dunno.types import Candidates, EventCosts, FramePair, Movie, PairPosterior


class Calibration(Protocol):
    """What a tracker needs of a calibration (see `dunno.calibration`)."""

    def check(self, about: Mapping[str, Any]) -> None:
        """Refuse results of another cost or method."""
        ...

    def apply(self, pair: PairPosterior) -> PairPosterior:
        """Calibrate one pair."""
        ...

    def describe(self) -> dict[str, Any]:
        """What a result says about its calibration."""
        ...


BLOCK = 16
"""Frame pairs per block: a block reads its frames once, plus the one it shares with the next block."""


@dataclass(frozen=True)
class Plan:
    """Everything that is decided before the first pair is tracked."""

    cost: Cost
    method: Method
    perturbation: Perturbation | None
    gate: float
    max_distance: float
    appear_cost: float | None
    disappear_cost: float | None
    divide_cost: float | None
    no_mother: bool
    seed: int
    links: Links | None
    calibration: Calibration | None


class Tracker:
    """Links cells between frames and says how sure it is of each link.

    Args:
        cost: The name of a cost, or any callable (see `dunno.costs`).
        method: The name of a method, or any callable (see `dunno.methods`).
        samples: K, how many assignments or perturbations a method looks at; `None` is its own default (10).
        perturbation: The name of a perturbation, or an object (see `dunno.perturbations`); `None` is the cost's own.
        max_distance: The gate, in the movie's units; `None` estimates it, `inf` makes every mother a candidate (events
            then cost what they would within the estimated gate).
        appear_cost: Of a daughter without mother; `None` takes the cost's own default. Likewise `disappear_cost` (a
            mother without daughter) and `divide_cost` (a mother with two).
        no_mother: Whether ⊥, having no mother, takes part in each daughter's distribution. `False` is the paper's plain
            normalisation over mothers.
        links: Somebody else's links (`dunno.io.read_links`), to be given probabilities: they become candidates if they
            are not, and are reported instead of the method's own.
        calibration: A fitted calibration (see `dunno.calibration`), refused if it is one for another cost or method.
        seed: Makes everything random repeatable.
        workers: Threads to use; `None` takes all cores.
        executor: Any `concurrent.futures.Executor` to use instead.

    Example:
        >>> from dunno.simulate import colony
        >>> tracking = Tracker().track(colony(cells=10, frames=5).movie)
        >>> len(tracking.pairs)
        4
    """

    def __init__(
        self,
        cost: str | Cost = "distance",
        method: str | Method = "SM",
        *,
        samples: int | None = None,
        perturbation: str | Perturbation | None = None,
        max_distance: float | None = None,
        appear_cost: float | None = None,
        disappear_cost: float | None = None,
        divide_cost: float | None = None,
        no_mother: bool = True,
        links: Links | None = None,
        calibration: Calibration | None = None,
        seed: int = 0,
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> None:
        self.cost: Cost = _made(rooms.find("costs", cost)) if isinstance(cost, str) else cost
        self.method: Method = _method(method, samples)
        self.perturbation: Perturbation | None = (
            _made(rooms.find("perturbations", perturbation))
            if isinstance(perturbation, str)
            else perturbation or getattr(self.cost, "perturbation", None)
        )
        self.max_distance = None if max_distance is None else check_gate(max_distance)
        self.appear_cost = _check_event(appear_cost, "appear_cost")
        self.disappear_cost = _check_event(disappear_cost, "disappear_cost")
        self.divide_cost = _check_event(divide_cost, "divide_cost")
        self.no_mother = no_mother
        self.links = links
        self.calibration = calibration
        self.seed = seed
        if workers is not None and workers < 1:
            raise InputError(f"workers is {workers}; expected at least 1")
        self.workers = workers or available_cores()
        self.executor = executor

    def plan(self, movie: Movie) -> Plan:
        """Decide everything that depends on the whole movie."""
        if len(movie) < 2:
            raise MovieError(f"{movie.name}: the movie has one frame; tracking needs at least two")
        given = self.max_distance
        estimated = estimate_gate(movie) if given is None or np.isinf(given) else given
        return Plan(
            cost=self.cost,
            method=self.method,
            perturbation=self.perturbation,
            gate=estimated if given is None else given,
            max_distance=estimated,
            appear_cost=self.appear_cost,
            disappear_cost=self.disappear_cost,
            divide_cost=self.divide_cost,
            no_mother=self.no_mother,
            seed=self.seed,
            links=self.links,
            calibration=self.calibration,
        )

    def stream(self, movie: Movie, plan: Plan | None = None) -> Iterator[PairPosterior]:
        """Yield each frame pair's posterior, in order, keeping a few blocks in memory."""
        plan = plan or self.plan(movie)
        starts = range(0, len(movie) - 1, BLOCK)
        blocks = (movie.part(slice(start, start + BLOCK + 1)) for start in starts)
        work = partial(track_block, plan)
        if self.executor is None and self.workers == 1:
            for block in blocks:
                yield from work(block)
            return
        with _executor(self.executor, self.workers) as executor:
            for posteriors in in_order(work, blocks, executor, 2 * self.workers):
                yield from posteriors

    def track(self, movie: Movie, progress: bool = False) -> Tracking:
        """Track the whole movie.

        Args:
            movie: The movie.
            progress: Show a bar.
        """
        plan = self.plan(movie)
        about = self.about(movie, plan)
        pairs = self.stream(movie, plan)
        if progress:
            from rich.progress import track as show

            pairs = iter(show(pairs, description=f"tracking {movie.name}", total=len(movie) - 1))
        return Tracking(movie, tuple(pairs), about)

    def about(self, movie: Movie, plan: Plan) -> dict[str, Any]:
        """Say who made a result: what every output carries."""
        step = int(np.diff(movie.frames[:2])[0]) if len(movie) > 1 else 1
        about = {
            "version": version("dunno"),
            "movie": movie.name,
            "movie_path": movie.path,
            "masks_path": movie.masks_path,
            "mask_source": movie.mask_source,
            "frames": movie.frames.tolist(),
            "step": step,
            "scale": list(movie.scale) if movie.has_scale else None,
            "interval": movie.interval,
            "cost": name_of(self.cost),
            "cost_parameters": _parameters(self.cost),
            "method": self.method.name,
            "method_parameters": _parameters(self.method),
            "perturbation": getattr(self.perturbation, "name", None) if _is_perturbing(self.method) else None,
            "perturbation_parameters": _parameters(self.perturbation) if _is_perturbing(self.method) else {},
            "max_distance": plan.gate,
            "max_distance_estimated": self.max_distance is None,
            "appear_cost": self.appear_cost,
            "disappear_cost": self.disappear_cost,
            "divide_cost": self.divide_cost,
            "no_mother": self.no_mother,
            "links": None if self.links is None else self.links.source,
            "links_unmatched": 0 if self.links is None else len(self.links.unmatched),
            "seed": self.seed,
            "calibration": None,
            "calibrated": False,
        }
        if self.calibration is not None:
            self.calibration.check(about)
            about |= {"calibration": self.calibration.describe(), "calibrated": True}
        return about


def track_block(plan: Plan, block: Movie) -> list[PairPosterior]:
    """Track a few consecutive frames, each read once."""
    posteriors = []
    mothers = block.detections(0)
    for t in range(1, len(block)):
        daughters = block.detections(t)
        pair = FramePair(mothers, daughters, plan.max_distance, block.scale)
        rng = np.random.default_rng([plan.seed, mothers.frame, daughters.frame])
        posterior = plan.method(score_pair(plan, pair), rng)
        posterior = posterior if plan.calibration is None else plan.calibration.apply(posterior)
        posteriors.append(posterior if plan.links is None else with_links(posterior, plan.links))
        mothers = daughters
    return posteriors


def with_links(posterior: PairPosterior, links: Links) -> PairPosterior:
    """Report somebody else's links instead of the method's."""
    mother, daughter = links.between(posterior.mothers, posterior.daughters)
    width = max(len(posterior.daughters), 1)
    edge = posterior.mother * width + posterior.daughter
    return replace(posterior, selected=np.isin(edge, mother * width + daughter))


def score_pair(plan: Plan, pair: FramePair) -> ScoredPair:
    """Find a pair's candidates and what they and its events cost."""
    candidates = find_candidates(pair.mothers, pair.daughters, plan.gate)
    if hasattr(plan.cost, "candidates"):
        candidates = merge(candidates, plan.cost.candidates(pair), len(pair.mothers))
    if plan.links is not None:
        given = Candidates(*plan.links.between(pair.mothers, pair.daughters))
        candidates = merge(candidates, given, len(pair.mothers))
    events = _event_costs(plan, pair)
    costs = evaluate(plan.cost, pair, candidates)
    problem = Problem(
        candidates.mother,
        candidates.daughter,
        linkable(plan.cost, costs),
        len(pair.mothers),
        len(pair.daughters),
        events.appear,
        events.disappear,
        events.divide,
    )
    return ScoredPair(pair, candidates, costs, problem, plan.cost, plan.perturbation, plan.no_mother)


def _event_costs(plan: Plan, pair: FramePair) -> EventCosts:
    given = {"appear": plan.appear_cost, "disappear": plan.disappear_cost, "divide": plan.divide_cost}
    missing = [f"{event}_cost" for event, value in given.items() if value is None]
    if missing and not isinstance(plan.cost, HasEventCosts):
        raise InputError(
            f"cost {name_of(plan.cost)!r} does not say what events cost; give {', '.join(missing)}, "
            "or add event_costs(pair) to it"
        )
    own = plan.cost.event_costs(pair) if isinstance(plan.cost, HasEventCosts) else EventCosts(0.0, 0.0, 0.0)
    return EventCosts(
        appear=own.appear if plan.appear_cost is None else plan.appear_cost,
        disappear=own.disappear if plan.disappear_cost is None else plan.disappear_cost,
        divide=own.divide if plan.divide_cost is None else plan.divide_cost,
    )


@contextmanager
def _executor(given: Executor | None, workers: int) -> Iterator[Executor]:
    if given is not None:
        yield given
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="dunno") as executor:
        yield executor


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _made(offered: Any) -> Any:
    """A room offers classes; a user's `package.module:name` may also be a function or an object."""
    return offered() if isinstance(offered, type) else offered


def _method(method: str | Method, samples: int | None) -> Method:
    if samples is not None and (isinstance(samples, bool) or int(samples) != samples or samples < 1):
        raise InputError(f"samples is {samples}; expected a whole number, at least 1")
    offered = rooms.find("methods", method) if isinstance(method, str) else method
    if not isinstance(offered, type):
        return cast(Method, offered)
    takes_samples = samples is not None and "samples" in signature(offered).parameters
    return cast(Method, offered(samples=samples) if takes_samples else offered())


def _is_perturbing(method: Method) -> bool:
    return bool(getattr(method, "perturbs", False))


def _parameters(thing: Any) -> dict[str, Any]:
    values = {**getattr(thing, "__dict__", {})}
    return {key: value for key, value in values.items() if isinstance(value, str | int | float | bool | type(None))}


def _check_event(cost: float | None, name: str) -> float | None:
    if cost is not None and not np.isfinite(cost):
        raise InputError(f"{name} is {cost}; expected a finite number")
    return cost
