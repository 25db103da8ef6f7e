"""From measured segments to what may be: near pairs, divisions, and the ways that are worth weighing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

import numpy as np

from dunno.segments.guess import Scale
from dunno.segments.holdings import hold
from dunno.segments.law_weights import Laws, Scene, Structure
from dunno.segments.near_pairs import Near, near, within
from dunno.segments.segments import Segments
from dunno.segments.ways import (
    Divisions,
    Moves,
    Splits,
    Stays,
    Ways,
    both_at_once,
    divisions_inside,
    divisions_of,
    moves_between,
    splits_of,
    stays_between,
)
from dunno.types import Ints
from dunno.types.records import NonNegative, ValueRange

STEPS, ROOTS = 6.0, 0.8  # standard deviations, roots of the area; docs/masks.md
"""Links reach as far as so many steps, or roots of the usual area."""

DIVISION_ROOTS, DAUGHTER_ROOTS, DAUGHTER_STEPS, DAUGHTER_SHARES = (
    1.4,
    1.3,
    2.0,
    (0.15, 1.0),
)  # roots, roots, standard deviations, shares; docs/masks.md
"""Daughters are within so many roots of the usual area, of the mother's plus so many steps; their share of the mother's area."""

LEAST_STAY = -16.0  # nats; judged
"""Two masks go on as one another with all they hold only where the log density of their link is above this."""

MAX_GAP = 2  # frames; docs/masks.md
"""Frames that a link may skip."""

MOST_GAP = 10  # frames; judged
"""So many, where somebody asks for more."""

MOST_SPLITS = 2_000_000  # pairs of daughters; judged: memory
"""That are compared at a time."""


@dataclass(frozen=True)
class Options:
    """What may be.

    Attributes:
        max_gap: Frames that a link may skip.
        margin: How much less than ending and appearing a way may weigh, in nats.
        parts: Whether masks may be cut.
        unions: Whether two masks may be one cell.
        fragments: Whether a mask may hold a cell and a piece of debris.
        debris: Whether masks may be debris.
        divisions: Whether cells may divide.
    """

    max_gap: Annotated[int, ValueRange(0, MOST_GAP)] = MAX_GAP
    margin: NonNegative = 3.0
    parts: bool = True
    unions: bool = True
    fragments: bool = True
    debris: bool = True
    divisions: bool = True


def build(segments: Segments, model: Laws, scale: Scale, options: Options) -> Structure:
    """All that may be, under this model."""
    small = model.debris.may_be(np.log(segments.area), model.turnover.area[0]) & options.debris
    holdings = hold(segments, small, options.fragments)
    pruning = _Pruning(Scene(segments, holdings, _near_pairs(segments, model, scale, options)), model, options)
    moves, stays = pruning.moves(), pruning.stays()
    splits, divisions = pruning.divisions(*_possible_daughters(segments, scale, options))
    pairs, moves, stays = _used(pruning.scene.pairs, moves, stays)
    ways = Ways(moves, stays, divisions, both_at_once(moves, holdings), divisions_inside(divisions, moves, holdings))
    return Structure(segments, holdings, pairs, splits, ways, ways.hypotheses(segments, holdings))


Joined = TypeVar("Joined", Splits, Divisions)


class _Pruning:
    """Ways that weigh hardly less than if their mothers ended and their daughters appeared, or more."""

    def __init__(self, scene: Scene, model: Laws, options: Options) -> None:
        self.scene, self.model, self.options = scene, model, options
        self.links = model.links(scene.pairs, scene.segments)
        self.appear, self.disappear = model.events(scene.segments, scene.holdings)

    def moves(self) -> Moves:
        """Of single objects."""
        moves = moves_between(self.scene.pairs, self.scene.holdings, self.scene.segments)
        weight = self.model.moves(moves, self.scene, self.links)
        instead = self.appear[moves.daughter] + self.disappear[moves.mother]
        return moves[weight - instead > -self.options.margin]

    def stays(self) -> Stays:
        """Of all objects of a mask."""
        segments, holdings, pairs = self.scene.segments, self.scene.holdings, self.scene.pairs
        whole = (
            (pairs.parts == 0)
            & (pairs.gap == 0)
            & (pairs.mother < segments.n_masks)
            & (pairs.daughter < segments.n_masks)
        )
        near_enough = self.links.either > LEAST_STAY
        stays = stays_between(pairs, np.flatnonzero(whole & near_enough), holdings, segments)
        weight = (
            self.model.stays(stays, self.scene, self.links) + self.model.parts_ways(segments, holdings)[stays.mother]
        )
        n = len(holdings.mask)
        ends, appears = (np.bincount(holdings.state, event, n) for event in (self.disappear, self.appear))
        return stays[weight - ends[stays.mother] - appears[stays.daughter] > -self.options.margin]

    def divisions(self, mother: Ints, daughter: Ints) -> tuple[Splits, Divisions]:
        """Of cells, given which segments may be whose daughters, sorted by mother."""
        found = [self._some_divisions(mother[own], daughter[own]) for own in _runs(mother, MOST_SPLITS)]
        splits = _joined([splits for splits, _ in found])
        first = np.cumsum([0] + [len(splits) for splits, _ in found])
        moved = [replace(divisions, split=divisions.split + k) for (_, divisions), k in zip(found, first, strict=False)]
        return splits, _joined(moved)

    def _some_divisions(self, mother: Ints, daughter: Ints) -> tuple[Splits, Divisions]:
        segments, holdings = self.scene.segments, self.scene.holdings
        splits = splits_of(segments, mother, daughter)
        weight = self.model.splits(splits, segments)
        splits, weight = splits[weight > -50.0], weight[weight > -50.0]
        divisions = divisions_of(splits, holdings, segments)
        instead = self.appear[divisions.first] + self.appear[divisions.second] + self.disappear[divisions.mother]
        weight = self.model.divisions(divisions, self.scene, weight)
        divisions = divisions[weight - instead > -self.options.margin]
        used, split = np.unique(divisions.split, return_inverse=True)
        return splits[used], replace(divisions, split=split)


def _runs(mother: Ints, most: int) -> list[slice]:
    """Rows of some mothers at a time, so that there are not too many pairs of their daughters."""
    begins = np.flatnonzero(np.diff(mother, prepend=-1))
    count = np.diff(np.append(begins, len(mother)))
    run = np.cumsum(count * (count - 1) // 2) // most
    cuts = begins[np.flatnonzero(np.diff(run, prepend=-1))].tolist() or [0]
    return [slice(a, b) for a, b in zip(cuts, [*cuts[1:], len(mother)], strict=True)]


def _joined(parts: list[Joined]) -> Joined:
    kind = type(parts[0])
    return kind(*(np.concatenate([getattr(part, name) for part in parts]) for name in kind.__dataclass_fields__))


def _near_pairs(segments: Segments, model: Laws, scale: Scale, options: Options) -> Near:
    """Segments that may be linked; across gaps only whole masks and unions."""
    is_part = np.isnan(segments.balance)
    is_union = segments.masks[:, 1] >= 0
    usable = (options.parts | ~is_part) & (options.unions | ~is_union)
    reach = max(STEPS * max(model.motion.step) ** 0.5, ROOTS * scale.root)
    columns: list[tuple[Ints, Ints, Ints]] = []
    for gap in range(options.max_gap + 1):
        rows = np.flatnonzero(usable & (~is_part | (gap == 0)))
        mother, daughter = within(segments, rows, reach * (1 + gap) ** 0.5, gap)
        columns.append((mother, daughter, np.full(len(mother), gap)))
    return near(segments, *(np.concatenate(column) for column in zip(*columns, strict=True)))


def _possible_daughters(segments: Segments, scale: Scale, options: Options) -> tuple[Ints, Ints]:
    """Mothers and what lies near enough and is small enough to be a daughter, sorted by mother."""
    is_part = np.isnan(segments.balance)
    usable = (options.parts | ~is_part) & (options.unions | (segments.masks[:, 1] < 0)) & options.divisions
    mother, daughter = within(segments, np.flatnonzero(usable), DIVISION_ROOTS * scale.root, 0)
    share = segments.area[daughter] / segments.area[mother]
    distance = np.sqrt(((segments.place[daughter] - segments.place[mother]) ** 2).sum(axis=1))
    root = segments.area[mother] ** (1 / segments.dimensions)
    near_enough = distance < DAUGHTER_ROOTS * root + DAUGHTER_STEPS * scale.step**0.5
    own = (share > DAUGHTER_SHARES[0]) & (share < DAUGHTER_SHARES[1]) & near_enough
    order = np.lexsort((daughter[own], mother[own]))
    return mother[own][order], daughter[own][order]


def _used(pairs: Near, moves: Moves, stays: Stays) -> tuple[Near, Moves, Stays]:
    """Only the pairs that a way needs."""
    needed = [moves.pair, stays.pair, moves.members[moves.of_unions].ravel()]
    rows, number = np.unique(np.concatenate(needed), return_inverse=True)
    pair, stay, members = np.split(number, np.cumsum([len(moves), len(stays)]))
    renumbered = moves.members.copy()
    renumbered[moves.of_unions] = members.reshape(-1, 2)
    return pairs[rows], replace(moves, pair=pair, members=renumbered), replace(stays, pair=stay)
