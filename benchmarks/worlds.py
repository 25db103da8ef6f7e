"""How far belief propagation over masks is off: tiny random worlds and small scenes of simulated colonies, beside exact sums.

    python -m benchmarks.worlds [--worlds 1000] [--scenes 120] [--motions 0.12,0.25,0.4]

`--worlds` random worlds of each sort (`benchmarks/small_worlds.py`), and so many `--scenes` of each of the spoiled colonies: up to
three masks around a place in each of four frames, with the ways and weights that the fitted model has. A Markdown row per sort.
In each world the largest error of any mask's state, of any edge's kind, and of any P(divide) is taken; the mean over worlds, and
the largest. P(link) is likewise, as it is reported, after the core has summed who is who (scenes only). A scene may be in several
rows; "gaps" and so on have an edge, or masks, with at least 5 % for it.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from benchmarks.small_worlds import SORTS, Sums, TooLargeError, World, exact, random_worlds
from dunno import Movie, Tracker
from dunno.assignment.choices import Beliefs, Choices, propagate
from dunno.calibration import ModelCalibration
from dunno.errors import DunnoWarning
from dunno.models.masks import Solution, solve_masks
from dunno.simulate import FaultShares, colony, spoil
from dunno.tracking.masks import problem_of_masks, with_gap_edges
from dunno.tracking.plan import Plan
from dunno.tracking.sampling import Sample
from dunno.types import Detections, Floats

FAULTS = FaultShares(missed=0.02, false=0.02, merged=0.02, split=0.02)
COLONY = {"cells": 60, "frames": 40, "cycle": 25.0}
FRAMES, SIZES, RADIUS = 4, (3, 2), 24.0
"""How many frames a scene has, how many masks each of them has at the most (fewer where more are too many to sum over), and how
far these are from its middle, in pixels; cells are about 17 wide."""

NEGLIGIBLE = 1e-7
"""Ways that propagation gives less are left out of a scene, for the exact sum and for propagation alike."""

MOST_GROUPS = 30_000
HEADER = "| worlds | kind | number | states: mean, largest | kinds of edges | P(divide) | P(link) |"


@dataclass(frozen=True)
class Errors:
    """The largest errors in a world; `link` is NaN where no link is reported."""

    state: float
    edge: float
    divide: float
    link: float = float("nan")


def errors_of(world: World, sums: Sums, found: Beliefs) -> Errors:
    """Of propagation."""
    divide = world.divide(found.ways_out) - world.divide(sums.ways_out)
    off = found.state - sums.state, found.edge - sums.edge, divide
    return Errors(*(float(np.abs(each).max(initial=0.0)) for each in off))


def beliefs(world: World) -> Beliefs:
    """As tracking asks for them."""
    return propagate(world.out, world.into, world.n_masks, world.n_edges)


def random_rows(n: int) -> dict[str, list[Errors]]:
    """Random weights, by kind."""
    rows: dict[str, list[Errors]] = {"trees": [], **{name: [] for name in SORTS}}
    for k, (name, sort) in enumerate(SORTS.items()):
        for world in islice(random_worlds(sort, np.random.default_rng([18, k])), n):
            rows["trees" if world.is_tree else name].append(errors_of(world, exact(world), beliefs(world)))
    return rows


def scene_rows(n: int, motions: list[float]) -> tuple[dict[str, list[Errors]], int]:
    """Scenes of spoiled colonies, by what they have; and how many were too large to sum over."""
    names = ("trees", "loops", "gaps", "false", "merging", "dividing together")
    rows: dict[str, list[Errors]] = {name: [] for name in names}
    large = 0
    for seed, motion in enumerate(motions):
        made = colony(**COLONY, motion=motion, seed=seed)
        movie = spoil(made.movie, made.truth, FAULTS, seed).movie
        plan = Tracker(evidence="places,masks", workers=1).plan(movie)
        for scene in islice(scenes(movie, np.random.default_rng([18, seed])), n):
            found = next((each for size in SIZES if (each := judged(scene, size, plan)) is not None), None)
            large += found is None
            for kind in () if found is None else found[0]:
                rows[kind].append(found[1])
    return rows, large


@dataclass(frozen=True, eq=False)
class Scene:
    """Some frames of a movie, and a place in them."""

    cells: tuple[Detections, ...]
    middle: Floats

    def masks(self, size: int) -> list[np.ndarray]:
        """The frames with a few masks each, those that are nearest to the place."""
        return [self._near(each, size) for each in self.cells]

    def _near(self, cells: Detections, size: int) -> np.ndarray:
        away = np.linalg.norm(cells.centroid - self.middle, axis=1)
        near = np.argsort(away)[:size]
        return np.where(np.isin(cells.masks, cells.label[near[away[near] < RADIUS]]), cells.masks, 0)


def scenes(movie: Movie, rng: np.random.Generator) -> Iterator[Scene]:
    """Endless places that have a mask in every frame."""
    cells = [movie.detections(t) for t in range(len(movie))]
    while True:
        first = int(rng.integers(len(movie) - FRAMES))
        middle = cells[first].centroid[rng.integers(len(cells[first]))]
        scene = Scene(tuple(cells[first : first + FRAMES]), middle)
        if all(each.any() for each in scene.masks(1)):
            yield scene


def judged(scene: Scene, size: int, plan: Plan) -> tuple[list[str], Errors] | None:
    """What a scene has, and the errors in it; `None` where it is too large."""
    part = Movie(scene.masks(size))
    seen = {t: part.detections(t).without_pixels() for t in range(FRAMES)}
    stretch = Sample(seen, None, part).stretch([(t, t + 1) for t in range(FRAMES - 1)], plan.gate)
    calibration = plan.calibration
    assert isinstance(calibration, ModelCalibration)
    try:
        model, stretch = calibration.posed(stretch)
        tempering = calibration.softening.tempering
        return compared(solve_masks(model, *with_gap_edges(model, stretch, plan.gate), tempering))
    except TooLargeError:
        return None


def compared(solution: Solution) -> tuple[list[str], Errors]:
    """What a scene has, and the errors in it."""
    graph, stretch = solution.graph, solution.graph.stretch
    world = World(
        _likely(graph.out, solution.beliefs.ways_out),
        _likely(graph.into, solution.beliefs.ways_in),
        stretch.row_frame,
        len(stretch.mother),
    )
    sums = exact(world, MOST_GROUPS)
    link = replace(solution, beliefs=replace(solution.beliefs, edge=sums.edge)).edge
    off = float(np.abs(problem_of_masks(solution)[1].edge - link).max(initial=0.0))
    kinds = {
        "trees": world.is_tree,
        "loops": not world.is_tree,
        "gaps": bool((sums.edge[stretch.lags > 1].sum(axis=1) > 0.05).any()),
        "false": bool((sums.state[:, 0] > 0.05).any()),
        "merging": bool((sums.state[:, 2] > 0.05).any()),
        "dividing together": int((world.divide(sums.ways_out) > 0.05).sum()) > 1,
    }
    return [name for name, has in kinds.items() if has], replace(errors_of(world, sums, beliefs(world)), link=off)


def _likely(choices: Choices, belief: Floats) -> Choices:
    kept = belief > NEGLIGIBLE
    return Choices(**{name: getattr(choices, name)[kept] for name in Choices.__dataclass_fields__})


def shown(worlds: str, kind: str, errors: list[Errors]) -> str:
    """A row of the table."""
    columns = []
    for name in Errors.__dataclass_fields__:
        values = [getattr(each, name) for each in errors]
        columns.append("" if not values or np.isnan(values).any() else f"{np.mean(values):.4f}, {max(values):.3f}")
    return f"| {worlds} | {kind} | {len(errors)} | {' | '.join(columns)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--scenes", type=int, default=120)
    parser.add_argument("--motions", default="0.12,0.25,0.4")
    given = parser.parse_args()
    warnings.simplefilter("ignore", DunnoWarning)
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    for kind, errors in random_rows(given.worlds).items():
        print(shown("random", kind if kind == "trees" else f"loops, {kind}", errors), flush=True)
    rows, large = scene_rows(given.scenes, [float(each) for each in given.motions.split(",")])
    for kind, errors in rows.items():
        print(shown("simulated", kind, errors))
    print(f"\n{large} scenes were too large to sum over.")


if __name__ == "__main__":
    main()
