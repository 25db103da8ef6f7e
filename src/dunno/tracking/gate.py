"""The gate: which edges are worth a cost."""

from collections.abc import Iterator, Sequence

import numpy as np

from dunno.errors import InputError, MovieError
from dunno.types import Candidates, Detections, Floats, Movie
from dunno.types.neighbours import distance_to_nearest, within
from dunno.types.stage import stage_between

GATE_PAIRS = 8  # frame pairs; judged
"""How many frame pairs are looked at to estimate the gate."""

MOST_MOTHERS = 32  # mothers; benchmarks.bounds
"""Candidates of a daughter: the nearest so many within the gate, which is thereby a gate of its own for every cell and frame."""

MOST_EDGES = 20_000_000  # edges; judged; of a frame pair without a gate: some 5 GB
GATE_QUANTILE = 0.95  # probability; docs/decisions.md; of the nearest neighbours' displacements
GATE_FACTOR = 4.0  # times; docs/decisions.md; the gate in such quantiles
GATE_DIAMETERS = 1.5  # diameters; docs/decisions.md; the least gate


def check_gate(max_distance: float) -> float:
    """Refuse a gate that is no distance."""
    if not isinstance(max_distance, int | float | np.number) or np.isnan(max_distance) or max_distance <= 0:
        raise InputError(f"max_distance is {max_distance}; expected a distance above zero, or inf for no gate")
    return float(max_distance)


def find_candidates(
    mothers: Detections,
    daughters: Detections,
    max_distance: float,
    stage: Floats | None = None,
    most: int = MOST_MOTHERS,
) -> Candidates:
    """List the edges no longer than `max_distance`, of each daughter the `most` shortest; `inf` lists them all.

    Sorted by daughter, then by mother. Where the stage jumped, lengths count from where the jump puts the mothers.
    """
    m, n = len(mothers), len(daughters)
    if m == 0 or n == 0:
        return Candidates(np.empty(0, np.int64), np.empty(0, np.int64))
    if np.isinf(max_distance):
        if m * n > MOST_EDGES:
            raise InputError(
                f"every mother as a candidate of every daughter makes {m * n:,} candidates; at most {MOST_EDGES:,} fit: "
                "give a gate (--max-distance), or look at a part (--region)"
            )
        return Candidates(np.tile(np.arange(m), n), np.repeat(np.arange(n), m))
    places = mothers.centroid if stage is None else mothers.centroid + stage
    daughter, mother = within(daughters.centroid, places, max_distance, most)
    return Candidates(mother, daughter)


def merge(first: Candidates, second: Candidates, n_mothers: int) -> Candidates:
    """All edges of both, each once; sorted by daughter, then by mother."""
    edges = [each.daughter * n_mothers + each.mother for each in (first, second)]
    daughter, mother = np.divmod(np.union1d(*edges), max(n_mothers, 1))
    return Candidates(mother, daughter)


def estimate_gate(movie: Movie, *, follows_stage: bool = False) -> float:
    """Guess generously how far a cell may move between two frames, from a few frame pairs spread over the movie.

    A movie in which no frame pair has cells on both sides gets its own diagonal. With `follows_stage`, motion counts from
    where jumps of the stage put the cells.
    """
    pairs = list(_some_pairs(movie))
    gate = gate_between(pairs, [stage_between(*pair) for pair in pairs] if follows_stage else None)
    return gate if np.isfinite(gate) else float(np.linalg.norm(np.multiply(movie.shape, movie.scale)))


def gate_between(
    pairs: Sequence[tuple[Detections, Detections]], stages: Sequence[Floats | None] | None = None
) -> float:
    """Guess generously how far a cell may move between two frames; infinite where none has cells on both sides.

    The larger of four times the 95 % quantile of the distances from each cell to the nearest one a frame earlier (an
    underestimate of displacements where cells are dense, hence the factor), and one and a half median cell diameters
    (daughters of a division land about a cell apart, however slow the rest is).
    """
    some = np.unique(np.linspace(0, len(pairs) - 1, min(GATE_PAIRS, len(pairs))).astype(int)).tolist()
    displacements = np.concatenate([_nearest(pairs[t], None if stages is None else stages[t]) for t in some])
    sizes = np.concatenate([pairs[t][1].diameter for t in some])
    if len(displacements) == 0:
        return float("inf")
    return float(max(GATE_FACTOR * np.quantile(displacements, GATE_QUANTILE), GATE_DIAMETERS * np.median(sizes)))


def _some_pairs(movie: Movie) -> Iterator[tuple[Detections, Detections]]:
    """A few pairs spread over the movie; those with a frame that cannot be read are passed over, unless there are no others."""
    found, problem = 0, None
    for t in np.unique(np.linspace(0, len(movie) - 2, min(GATE_PAIRS, len(movie) - 1)).astype(int)):
        try:
            pair = movie.detections(t), movie.detections(t + 1)
        except MovieError as error:
            problem = problem or error
            continue
        found += 1
        yield pair
    if problem is not None and not found:
        raise problem


def _nearest(pair: tuple[Detections, Detections], stage: Floats | None) -> np.ndarray:
    """(n,) distance from each daughter to the nearest mother."""
    mothers, daughters = pair
    if len(mothers) == 0 or len(daughters) == 0:
        return np.empty(0)
    places = daughters.centroid if stage is None else daughters.centroid - stage
    return distance_to_nearest(places, mothers.centroid)
