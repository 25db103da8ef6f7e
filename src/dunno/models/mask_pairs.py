"""Edges that go together: of two daughters that may be born, part or merge, and of three where one of two cells divides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.assignment import every_pair
from dunno.models.model import SISTER_REACH, Model
from dunno.terms.masks import TOUCH, Masks, Together, three_together, together
from dunno.types import Ints
from dunno.types.stretch import Stretch

FAR_SISTERS = 2.5
"""Sisters that part from a third cell are no farther from each other than so many times the sum of their radii."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of edges that leave one mask or lead to one, with what they look like."""

    first: Ints
    second: Ints
    look: Together


@dataclass(frozen=True, eq=False)
class Threes:
    """Edges of cells that do not divide, beside those of two that are born, out of one mask."""

    other: Ints
    first: Ints
    second: Ints
    beside: Together
    sisters: Together


def division_pairs(model: Model, masks: Masks, stretch: Stretch) -> Pairs:
    """Pairs of edges of one mask that may be a division's."""
    reach = SISTER_REACH**2 * np.asarray(stretch.by_edge(model.value("division_scale")))
    edges = np.flatnonzero(stretch.squared < reach)
    first, second = every_pair(stretch.mother[edges])
    first, second = edges[first], edges[second]
    return Pairs(first, second, together(masks, stretch, first, second, out=True))


def threes_of(masks: Masks, stretch: Stretch, divisions: Pairs, partings: Pairs) -> Threes:
    """Every parting of which one cell may be one of a division's two, out of the same mask."""
    look = divisions.look
    near = (stretch.lags[divisions.first] == 1) & (stretch.lags[divisions.second] == 1)
    near &= look.distance < FAR_SISTERS * look.radii
    born = divisions.first[near], divisions.second[near]
    ends = np.concatenate([partings.first, partings.second]), np.concatenate([partings.second, partings.first])
    order = np.argsort(ends[0], kind="stable")
    begin = np.searchsorted(ends[0][order], np.arange(len(stretch.mother) + 1))
    found = []
    for sister, twin in (born, born[::-1]):  # the other cell lies beside one of them
        count = begin[sister + 1] - begin[sister]
        row = np.repeat(np.arange(len(sister)), count)
        place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + begin[sister][row]
        other = ends[1][order][place]
        kept = other != twin[row]
        found.append(np.stack([other, born[0][row], born[1][row]])[:, kept])
    other, first, second = np.unique(np.concatenate(found, axis=1), axis=1)
    return Threes(other, first, second, *three_together(masks, stretch, other, first, second))


def touching_pairs(masks: Masks, stretch: Stretch, *, out: bool) -> Pairs:
    """Pairs of edges whose far ends lie beside each other, so that one mask may hold both."""
    near = np.flatnonzero(stretch.lags == 1)
    first, second = every_pair((stretch.mother if out else stretch.daughter)[near])
    first, second = near[first], near[second]
    far = stretch.daughter if out else stretch.mother
    apart = stretch.place[far[first]] - stretch.place[far[second]]
    radius = masks.radius(stretch)
    reach = TOUCH * (radius[far[first]] + radius[far[second]])
    kept = np.einsum("kd,kd->k", apart, apart) < reach**2
    first, second = first[kept], second[kept]
    return Pairs(first, second, together(masks, stretch, first, second, out=out))
