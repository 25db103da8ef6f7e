"""The tracker: the one place that puts candidates, costs, assignment and methods together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import numpy as np

from dunno import rooms
from dunno.assignment import NEVER, Problem
from dunno.calibration import Calibration
from dunno.calibration.verdict import UNTESTED
from dunno.costs import Cost, EdgeCost, cost_of, evaluate
from dunno.errors import InputError, MovieError
from dunno.io import read
from dunno.io.links import Links
from dunno.lineage.gap_links import one_link_each
from dunno.methods import Method, PairMethod, ScoredPair, method_of
from dunno.models.evidence import chosen
from dunno.perturbations import Perturbation
from dunno.segments.structure import MOST_GAP
from dunno.tracking import Tracking
from dunno.tracking.gate import check_gate, estimate_gate
from dunno.tracking.measured_blocks import with_measured_cells
from dunno.tracking.plan import Plan, Span, candidates_of, spans_of
from dunno.tracking.sampling import take_sample
from dunno.tracking.self_calibration import fit_plan
from dunno.tracking.skipped_temperature import fit_temperature
from dunno.tracking.solver import track_span, with_border_shares
from dunno.types import Block, EventCosts, FramePair, Movie, RunInfo
from dunno.work.progress import Tell, ignore_progress
from dunno.work.schedule import Pool, count_workers, in_order, open_pool


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
        calibration: A fitted calibration (see `dunno.calibration`), refused if it is one for another cost or method; "self" fits
            one to the movie itself, without truth, by skipping frames (the default): a model for method JP with a motion cost and
            no event cost given, else a temperature. `None` for none.
        divisions: Whether cells may divide; `False` for those that are known not to.
        repair: Whether masks may be cut, joined and left out, with a probability for each; `None` does so where a glance at them
            says that they may be wrong.
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
        cost: str | EdgeCost = "distance",
        method: str | PairMethod = "JP",
        *,
        samples: int | None = None,
        perturbation: str | Perturbation | None = None,
        max_distance: float | None = None,
        appear_cost: float | None = None,
        disappear_cost: float | None = None,
        divide_cost: float | None = None,
        no_mother: bool = True,
        links: Links | None = None,
        calibration: Calibration | Literal["self", "default"] | None = "default",
        evidence: str | Sequence[str] = "auto",
        max_gap: int | None = None,
        divisions: bool = True,
        repair: bool | None = None,
        seed: int = 0,
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> None:
        self.cost: Cost = cost_of(cost)
        self.method: Method = method_of(method, samples)
        self.perturbation: Perturbation | None = rooms.made("perturbations", perturbation or self.cost.perturbation)
        self.max_distance = None if max_distance is None else check_gate(max_distance)
        self.appear_cost = _check_event(appear_cost, "appear_cost")
        self.disappear_cost = _check_event(disappear_cost, "disappear_cost")
        self.divide_cost = _check_event(divide_cost, "divide_cost")
        self.divisions = divisions
        self.repair = repair
        self.no_mother = no_mother
        self.links = links
        self.evidence = chosen(evidence)
        self.calibration = self._chosen(calibration)
        self._check_evidence()
        self.max_gap = self._checked_gap(max_gap)
        if self.links is not None and (self.max_gap is not None and self.links.longest_gap > self.max_gap):
            self.links = self.links.without_gaps(
                f"skips frames; with method {self.method.name}, gaps up to {self.max_gap}"
            )
        self.seed = check_seed(seed)
        self.workers = count_workers(workers)
        self.executor = executor

    def _chosen(self, calibration: Calibration | str | None) -> Calibration | Literal["self"] | None:
        """Resolve the default, and refuse what contradicts itself."""
        given = self._given_events
        if not self.divisions and self.divide_cost is not None:
            raise InputError(
                f"divide_cost {self.divide_cost:g} is what a division costs, and there are none; leave it out"
            )
        fitted = None if isinstance(calibration, str) else calibration
        if not self.divisions and fitted is not None and fitted.makes_costs and not fitted.never_divides:
            raise InputError(
                "the calibration was fitted to cells that divide; fit one without divisions, or leave it out"
            )
        if calibration in ("default", "self"):
            for name, value in self.cost.changed().items() if self.fits_model else ():
                raise InputError(
                    f"{name} {value:g} of cost {self.cost.name!r} would have no effect: self-calibration fits it to the "
                    "movie; leave it out, or track with --calibration none"
                )
            return "self"
        if isinstance(calibration, str):
            raise InputError(f"calibration is {calibration!r}; expected a fitted calibration, 'self' or None")
        if given and calibration is not None and calibration.makes_costs:
            raise InputError(f"the calibration brings its own event costs; leave out {', '.join(given)}")
        return calibration

    def _check_evidence(self) -> None:
        """Refuse evidence that nobody would look at."""
        if self.evidence is None or (self.fits_model and self.calibration == "self"):
            return
        raise InputError(
            f"evidence is for the model that method JP fits to the movie; with method {self.method.name}, cost "
            f"{self.cost.name!r} and these choices nothing looks at it; leave it out"
        )

    def _checked_gap(self, max_gap: int | None) -> int | None:
        """Refuse gaps where no model tells what a missing mask costs."""
        if max_gap is None:
            asked = None if self.links is None else self.links.longest_gap
            return asked if self.fits_model and self.calibration == "self" else 0
        if isinstance(max_gap, bool) or not isinstance(max_gap, int) or not 0 <= max_gap <= MOST_GAP:
            raise InputError(f"max_gap is {max_gap!r}; expected a whole number of frames, 0 to {MOST_GAP}")
        if max_gap and not (self.fits_model and self.calibration == "self"):
            raise InputError(
                f"max_gap {max_gap} is for the model that method JP fits to the movie; method {self.method.name} with cost "
                f"{self.cost.name!r} and these choices links neighbouring frames only; leave it out"
            )
        return max_gap

    @property
    def _given_events(self) -> list[str]:
        return [name for name in ("appear_cost", "disappear_cost", "divide_cost") if getattr(self, name) is not None]

    @property
    def fits_model(self) -> bool:
        """Whether a self-calibration fits a model, which makes costs of its own, and not a temperature."""
        speaks = self.cost.is_motion or self.evidence is not None
        return self.method.joint and speaks and not self._given_events

    def plan(self, movie: Movie, tell: Tell = ignore_progress) -> Plan:
        """Decide everything that depends on the whole movie; fits the calibration, where it is "self"."""
        if len(movie) < 2:
            raise MovieError(f"{movie.name}: the movie has one frame; tracking needs at least two")
        given = self.max_distance
        estimated = self._estimated_gate(movie) if given is None or np.isinf(given) else given
        plan = self.draft(estimated, estimated if given is None else given)
        if self.calibration == "self":
            about = self.about(movie, plan)
            with self.working() as pool:
                sample = take_sample(plan.cost, movie, pool, tell)
                if self.fits_model:
                    return fit_plan(plan, sample, about, may_widen=given is None, tell=tell)
                fitted = fit_temperature(plan, sample, track_block, about, pool, tell)
                return replace(plan, calibration=fitted)
        if plan.calibration is not None and plan.calibration.needs_field and not _is_of(plan.calibration, movie):
            with self.working() as pool:
                field = take_sample(None, movie, pool, tell).field
            return replace(plan, calibration=plan.calibration.moved_to(field))
        return plan

    def _estimated_gate(self, movie: Movie) -> float:
        given = self.calibration
        own = self.fits_model if given == "self" else given is not None and given.makes_costs
        return estimate_gate(movie, follows_stage=own)

    def working(self) -> AbstractContextManager[Pool]:
        """The workers to use."""
        given = self.executor
        return open_pool(self.workers) if given is None else nullcontext(Pool.of(given, self.workers))

    def draft(self, estimated: float, gate: float) -> Plan:
        """The plan with a gate, before a calibration is fitted."""
        return Plan(
            cost=self.cost,
            method=self.method,
            perturbation=self.perturbation,
            gate=gate,
            max_distance=estimated,
            appear_cost=self.appear_cost,
            disappear_cost=self.disappear_cost,
            divide_cost=self.divide_cost,
            no_mother=self.no_mother,
            seed=self.seed,
            links=self.links,
            calibration=None if isinstance(self.calibration, str) else self.calibration,
            evidence=self.evidence,
            max_gap=self.max_gap,
            divisions=self.divisions,
            repair=self.repair,
        )

    def stream(self, movie: Movie, plan: Plan | None = None) -> Iterator[Block]:
        """Yield the movie's blocks, in order, keeping a few in memory."""
        plan = plan or self.plan(movie)
        if plan.segments is not None:
            from dunno.tracking.repairing import repaired_spans

            yield from (span.block for span in repaired_spans(movie, plan.segments))
            return
        spans = spans_of(movie, plan.window, plan.block, plan.halo)
        yield from one_link_each(self._solved(partial(track_block, plan), spans))

    def _solved(self, work: Callable[[Span], Block], spans: Iterator[Span]) -> Iterator[Block]:
        if self.executor is None and self.workers == 1:
            yield from map(work, spans)
            return
        with self.working() as pool:
            yield from in_order(work, spans, pool)

    def track(self, movie: Movie | np.ndarray | str | Path, progress: bool = False) -> Tracking:
        """Track the whole movie.

        Args:
            movie: The movie, an array (T, [Z,] Y, X) of labels, or the path of what `dunno.read` reads.
            progress: Show a bar.
        """
        movie = _as_movie(movie)
        with self.working() as pool:
            movie = with_measured_cells(movie, pool)
        plan = self.plan(movie)
        about = self.about(movie, plan)
        if plan.segments is not None:
            from dunno.tracking.repairing import repaired_movie, repaired_spans

            repaired = list(repaired_spans(movie, plan.segments))
            drawn = {t: each for span in repaired for t, each in span.drawn.items()}
            return Tracking(repaired_movie(movie, drawn), (Block.joined([span.block for span in repaired]),), about)
        blocks = self.stream(movie, plan)
        if progress:
            from rich.progress import track as show

            total = -(-(len(movie) - 1) // plan.block)
            blocks = iter(show(blocks, description=f"tracking {movie.name}", total=total))
        return Tracking(movie, (Block.joined(list(blocks)),), about)

    def asked(self, movie: Movie) -> RunInfo:
        """Say what was asked for: all that is known about a result before anything is read or fitted."""
        step = int(np.gcd.reduce(np.diff(movie.frames))) if len(movie) > 1 else 1
        perturbed = self.perturbation if self.method.perturbs else None
        return RunInfo(
            version=version("dunno"),
            movie=movie.name,
            movie_path=movie.path,
            masks_path=movie.masks_path,
            mask_source=movie.mask_source,
            opened_with=movie.opened_with,
            frames=movie.frames.tolist(),
            step=step,
            scale=list(movie.scale) if movie.has_scale else None,
            interval=movie.interval,
            times=None if movie.times is None else movie.times.tolist(),
            shifts=None if movie.shifts is None else movie.shifts.tolist(),
            cost=self.cost.name,
            cost_parameters=rooms.parameters_of(self.cost.given),
            method=self.method.name,
            joint=self.method.joint,
            method_parameters=rooms.parameters_of(self.method.given),
            perturbation=None if perturbed is None else rooms.name_of(perturbed),
            perturbation_parameters=rooms.parameters_of(perturbed),
            max_distance=self.max_distance if np.isfinite(self.max_distance or 0.0) else None,
            max_distance_estimated=self.max_distance is None,
            appear_cost=self.appear_cost,
            disappear_cost=self.disappear_cost,
            divide_cost=self.divide_cost,
            divisions=self.divisions,
            repair=self.repair,
            no_mother=self.no_mother,
            links=None if self.links is None else self.links.source,
            links_unmatched=0 if self.links is None else len(self.links.unmatched),
            evidence="auto" if self.evidence is None else ["places", *self.evidence],
            max_gap=self.max_gap,
            seed=self.seed,
            calibration=None,
            calibrated=False,
            verdict=UNTESTED.word,
            reason=UNTESTED.reason,
        )

    def about(self, movie: Movie, plan: Plan) -> RunInfo:
        """Say who made a result: what every output carries."""
        about = replace(self.asked(movie), max_distance=plan.gate if np.isfinite(plan.gate) else None)
        if plan.calibration is None:
            return about
        plan.calibration.check(about)
        return plan.calibration.noted_in(about)


def track_block(plan: Plan, span: Span) -> Block:
    """Track a few consecutive frames, each read once: with a fitted model, or by a method of the paper."""
    block = track_span(plan, span) if plan.solves_blocks else _by_method(plan, span)
    if plan.links is not None:
        block = with_links(block, plan.links)
    return with_border_shares(plan.calibration, block)


def _by_method(plan: Plan, span: Span) -> Block:
    """Every pair by itself."""
    found = []
    for pair in span.pairs(plan.window, plan.max_distance):
        rng = np.random.default_rng([plan.seed, pair.mothers.frame, pair.daughters.frame])
        found.append(plan.method(score_pair(plan, pair), rng))
    block = Block.joined(found)
    return block if plan.calibration is None else plan.calibration.apply(block)


def with_links(block: Block, links: Links) -> Block:
    """Report somebody else's links instead of the method's."""
    mother, daughter, _ = links.rows(block.frames, block.frame_of, block.cells.label)
    n = len(block.cells)
    return replace(block, selected=np.isin(block.mother * n + block.daughter, mother * n + daughter))


def score_pair(plan: Plan, pair: FramePair) -> ScoredPair:
    """Find a pair's candidates and what they and its events cost."""
    candidates = candidates_of(plan, pair)
    if plan.calibration is not None and plan.calibration.makes_costs:
        costs, problem = plan.calibration.problem(pair, candidates, plan.cost)
        return ScoredPair(pair, candidates, costs, problem, plan.cost, plan.perturbation, plan.no_mother)
    events = _event_costs(plan, pair)
    costs = evaluate(plan.cost, pair, candidates)
    problem = Problem(
        candidates.mother,
        candidates.daughter,
        plan.cost.linkable(costs),
        len(pair.mothers),
        len(pair.daughters),
        events.appear,
        events.disappear,
        events.divide,
    )
    return ScoredPair(pair, candidates, costs, problem, plan.cost, plan.perturbation, plan.no_mother)


def _event_costs(plan: Plan, pair: FramePair) -> EventCosts:
    given = {"appear": plan.appear_cost, "disappear": plan.disappear_cost, "divide": plan.divide_cost}
    own = plan.cost.event_costs(pair)
    if own is None and (missing := [f"{event}_cost" for event, value in given.items() if value is None]):
        raise InputError(
            f"cost {plan.cost.name!r} does not say what events cost; give {', '.join(missing)}, "
            "or add event_costs(pair) to it"
        )
    if not plan.divisions:
        given["divide"] = NEVER
    return replace(
        own or EventCosts(0.0, 0.0, 0.0), **{name: value for name, value in given.items() if value is not None}
    )


def check_seed(seed: int) -> int:
    """Refuse what is no seed."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed is {seed!r}; expected a whole number, zero or more")
    return int(seed)


def _is_of(calibration: Calibration, movie: Movie) -> bool:
    """Whether a calibration was fitted to these very frames, so that its field and its course in time are theirs."""
    about = calibration.fitted_for
    here = (movie.path, movie.masks_path, movie.frames.tolist())
    return movie.path is not None and here == tuple(about.get(name) for name in ("movie_path", "masks_path", "frames"))


def _as_movie(given: Movie | np.ndarray | str | Path) -> Movie:
    if isinstance(given, Movie):
        return given
    if isinstance(given, str | Path):
        return read(given)
    if isinstance(given, np.ndarray):
        return Movie(given)
    raise InputError(f"a movie of type {type(given).__name__}; expected a Movie, an array of labels, or a path")


def _check_event(cost: float | None, name: str) -> float | None:
    if cost is not None and not np.isfinite(cost):
        raise InputError(f"{name} is {cost}; expected a finite number")
    return cost
