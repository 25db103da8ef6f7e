"""A calibration applied to a finished tracking."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dunno.assignment import Problem, decide
from dunno.assignment.distributions import normalise
from dunno.calibration.base import Calibration, refuse_calibrated
from dunno.costs import cost_that_made
from dunno.methods import ScoredPair
from dunno.methods.joint_posterior import JointPosterior
from dunno.types import Block, Candidates, FramePair, Movie, PairPosterior
from dunno.types.field import Field

if TYPE_CHECKING:
    from dunno.tracking import Tracking


def solved_again(block: Block, tempering: float) -> Block:
    """A block whose pairs' problems are tempered, and solved one by one."""
    columns = {
        name: getattr(block, name).copy()
        for name in ("log_probability", "log_no_mother", "entropy", "selected", "log_disappear", "log_divide")
    }
    problem = None if block.problem is None else block.problem.tempered(tempering)
    for pair in block.pairs():
        if pair.problem is not None:
            found = _posterior(pair, pair.problem.tempered(tempering))
            for name, values in found.items():
                rows = {"log_probability": pair.near, "selected": pair.near, "log_disappear": pair.mother_rows}
                columns[name][rows.get(name, pair.mother_rows if name == "log_divide" else pair.daughter_rows)] = values
    return replace(block, **columns, samples=block.samples[:0], problem=problem, has_events=True)


def _posterior(pair: PairPosterior, problem: Problem) -> dict[str, np.ndarray]:
    """The joint posterior of another problem on a pair's edges; ⊥ stays out where it was left out."""
    found, edge = decide(problem)
    selected = np.zeros(len(pair.mother), np.bool_)
    selected[edge[edge >= 0]] = True
    with np.errstate(divide="ignore"):
        none = np.where(np.isneginf(pair.log_no_mother).all(), -np.inf, np.log(found.appear))
        spread = normalise(np.log(found.edge), none, pair.daughter)
        return {
            **spread._asdict(),
            "selected": selected,
            "log_disappear": np.log(found.disappear),
            "log_divide": np.log(found.divide),
        }


def applied(calibration: Calibration, tracking: Tracking) -> Tracking:
    """The tracking with a calibration's probabilities; one that makes costs solves every pair again, with the same candidates."""
    if not calibration.makes_costs:
        refuse_calibrated(tracking.about)
    calibration.check(tracking.about)
    blocks = (_solved_again(calibration, tracking),) if calibration.makes_costs else tracking.blocks
    about = calibration.noted_in(tracking.about)
    if calibration.makes_costs:  # pair by pair, without links across gaps
        about = about.with_longest_gap(0)
    return replace(tracking, blocks=tuple(map(calibration.apply, blocks)), about=about)


def _solved_again(calibration: Calibration, tracking: Tracking) -> Block:
    movie, about = tracking.movie, tracking.about
    cost = cost_that_made(about)
    if calibration.needs_field and calibration.fitted_for.get("movie") != about.movie:
        calibration = calibration.moved_to(Field.around([movie.detections(t) for t in range(len(movie))]))
    frames = frame_pairs(movie, len(tracking.pairs))
    again = []
    for pair, before in zip(frames, tracking.pairs, strict=True):
        candidates = Candidates(before.mother, before.daughter)
        costs, problem = calibration.problem(pair, candidates, cost)
        scored = ScoredPair(pair, candidates, costs, problem, cost, None, about.no_mother)
        again.append(JointPosterior()(scored, np.random.default_rng(0)))
    return Block.joined(again)


def frame_pairs(movie: Movie, n: int) -> list[FramePair]:
    """The movie's pairs with their pixels on demand."""
    cells = [movie.detections(t) for t in range(n + 1)]
    return [FramePair(cells[t], cells[t + 1], np.inf, movie.scale) for t in range(n)]
