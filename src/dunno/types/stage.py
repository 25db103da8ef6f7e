"""Stage jumps: all cells of a frame shifted together, told or found before anything else looks at the pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dunno.types.arrays import Floats
from dunno.types.neighbours import distance_to_nearest, nearest
from dunno.types.special import beta_below

if TYPE_CHECKING:
    from dunno.types.detections import Detections

VOTERS, NEAREST_MOTHERS = 400, 64  # cells; benchmarks.stage
"""How many daughters vote, and with how many mothers around each."""

FIRST_VOTERS = 64  # cells; speed, benchmarks.stage
"""How many are asked first whether anything has moved at all."""

LEAST_CELLS = 8  # cells; benchmarks.stage; below which no jump is looked for
STILL_WITHIN = 0.2  # distances; benchmarks.stage
"""Cells found this close to where others were, in distances between neighbours, have not jumped."""

VOTE_REACH = 0.35  # distances; benchmarks.stage
"""A mother this close to where a common displacement puts its daughter supports it, in distances between neighbours."""

LEAST_SUPPORT = 0.4  # share; benchmarks.stage
"""Share of the daughters that must support a jump."""

MOST_CHANCE = 1e-5  # probability; benchmarks.stage
"""How often chance alone may give such support."""

SURPRISE = 3.0  # standard deviations; benchmarks.stage
"""By how many standard deviations a jump must be supported better than standing still."""

TRIED = 3  # displacements; benchmarks.stage; the best supported ones
LARGEST_GRID = 96  # bins; benchmarks.stage; along an axis of the votes


def stage_between(mothers: Detections, daughters: Detections) -> Floats | None:
    """(d,) by how much the stage jumped between two frames: as somebody said, else as their cells say; `None` if it did not."""
    if mothers.stage is None or daughters.stage is None:
        return stage_jump(mothers.centroid, daughters.centroid)
    jump = daughters.stage - mothers.stage
    return jump if jump.any() else None


def stage_jump(mothers: Floats, daughters: Floats) -> Floats | None:
    """The displacement that all cells of a frame pair share, as where somebody moved the stage; `None` without one.

    Each daughter votes for the displacements from the mothers around it. A jump is believed where many daughters have a
    mother at one common displacement: more than chance would give, and clearly more than have one where they are.
    """
    if min(len(mothers), len(daughters)) < LEAST_CELLS:
        return None
    if _are_still(_spread_out(mothers, FIRST_VOTERS), _spread_out(daughters, FIRST_VOTERS), mothers):
        return None
    some = _spread_out(daughters, VOTERS)
    apart = float(np.median(nearest(mothers[:: max(len(mothers) // VOTERS, 1)], mothers, 2)[0][:, 1]))
    closest = distance_to_nearest(some, mothers)
    if apart <= 0 or float(np.median(closest)) < STILL_WITHIN * apart:
        return None
    if not _surprising(len(some), int((closest < VOTE_REACH * apart).sum())):  # no jump can have more support than all
        return None
    distance, index = nearest(some, mothers, min(NEAREST_MOTHERS, len(mothers)))
    reach = max(VOTE_REACH * apart, 2 * float(distance.max()) / LARGEST_GRID)
    votes = (some[:, None] - mothers[index]).reshape(-1, mothers.shape[1])
    chance = min(distance.shape[1] * (reach / float(np.median(distance[:, -1]))) ** mothers.shape[1], 0.5)
    found = [_refined(mothers, some, guess, reach) for guess in _peaks(votes, reach)]
    best, support = max(found, key=lambda each: each[1])
    here = int((distance[:, 0] < reach).sum())
    return best if _believed(support, here, len(some), chance) else None


def _spread_out(places: Floats, most: int) -> Floats:
    """Some of the places, from all over their list."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).astype(np.int64)]


def _are_still(mothers: Floats, daughters: Floats, others: Floats) -> bool:
    """Whether most daughters are where a mother was, as some of both tell."""
    apart = np.partition(nearest(mothers, others, 2)[0][:, 1], len(mothers) // 2)[len(mothers) // 2]
    closest = distance_to_nearest(daughters, others)
    return bool((closest < STILL_WITHIN * apart).sum() * 2 > len(closest))


def _peaks(votes: Floats, reach: float) -> list[Floats]:
    """The displacements with the most votes."""
    low = votes.min(axis=0) - reach
    place = ((votes - low) / reach).astype(np.int64)
    shape = tuple((place.max(axis=0) + 2).tolist())
    counts = np.bincount(np.ravel_multi_index(tuple(place.T), shape), minlength=int(np.prod(shape)))
    smooth = np.pad(counts.reshape(shape), [(0, 1)] * len(shape))
    for axis in range(len(shape)):  # each place together with the next one
        smooth = np.delete(smooth, -1, axis) + np.delete(smooth, 0, axis)
    best = np.argsort(-smooth.ravel(), kind="stable")[:TRIED]
    return [low + (np.array(np.unravel_index(each, shape)) + 1.0) * reach for each in best.tolist()]


def _refined(mothers: Floats, some: Floats, guess: Floats, reach: float) -> tuple[Floats, int]:
    """A displacement drawn to where its supporters say, and how many they are."""
    for _ in range(3):
        distance, index = (each[:, 0] for each in nearest(some - guess, mothers, 1))
        near = distance < reach
        if not near.any():
            return guess, 0
        guess = np.median(some[near] - mothers[index[near]], axis=0)
    return guess, int((distance_to_nearest(some - guess, mothers) < reach).sum())


def _believed(support: int, here: int, voters: int, chance: float) -> bool:
    """Whether a jump is more than chance, and than standing still."""
    if support < LEAST_SUPPORT * voters or not _surprising(support, here):
        return False
    by_chance = beta_below(support, voters - support + 1, chance)  # P(so many or more of the voters)
    return by_chance / chance * NEAREST_MOTHERS < MOST_CHANCE


def _surprising(support: int, here: int) -> bool:
    """Whether a jump is supported clearly better than standing still."""
    return bool(support - here >= SURPRISE * np.sqrt(support + here))
