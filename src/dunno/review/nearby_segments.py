"""Some masks of some frames, solved again as segments, under what a person said of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dunno.errors import DecisionError
from dunno.review.constraints import APPEARS, Constraints, row_of
from dunno.review.decisions import (
    ABOUT_MASKS,
    ALL_AS_GIVEN,
    NO_CELL,
    ONE_CELL,
    TWO_CELLS,
    Decision,
)
from dunno.review.given_masks import GivenMasks, Region, segment_of, some_segments
from dunno.review.statements import constraints_of
from dunno.segments.answer import FIRST_SET, NO_SEGMENT, WHOLE_MASK, Answer, sets_of_states
from dunno.segments.clamps import Clamps, Known, with_division, with_links
from dunno.segments.holdings import Content
from dunno.segments.law_weights import Structure
from dunno.segments.regions import UNCUT
from dunno.segments.repair import Objects, block_of
from dunno.segments.segment_model import Given
from dunno.segments.table import FrameSegments, SegmentTable, joined_segments
from dunno.segments.time_arrow import Seen
from dunno.tracking.repairing import border_share
from dunno.types import Block, Bools, Floats, Ints

AROUND = 24  # frames; benchmarks.surroundings
"""On either side of what is said."""

NEAREST, INSIDE = 16, 12  # masks of a frame; benchmarks.surroundings
"""In each frame so many masks are solved again, and the nearer ones of them may be cut and joined otherwise."""


NEAR_THE_END, MOST_FRAMES_AROUND = 2, 120  # frames; judged
"""Where surroundings change as near to their first or last frame, they are made wider, up to so many frames."""

FOLLOWED = 0.1  # probability; judged
"""Surroundings show less than the whole movie: a mask that they take for something else stays as it is, unless what was said
makes that so much more probable."""


class Surroundings(NamedTuple):
    """Frames, and where the masks are in them that matter; no places: all do."""

    frames: range
    inside: range
    places: Sequence[tuple[int, Floats]]

    @classmethod
    def of(cls, places: Sequence[tuple[int, Floats]], n_frames: int, around: int = AROUND) -> Surroundings:
        """Around some places."""
        at = [t for t, _ in places]
        frames = range(max(min(at) - around, 0), min(max(at) + around + 1, n_frames))
        return cls(frames, _without_ends(frames, n_frames), places)

    def wider(self, n_frames: int) -> Surroundings:
        """Twice as many frames on either side."""
        at = [t for t, _ in self.places]
        return Surroundings.of(
            self.places, n_frames, 2 * max(min(at) - self.frames.start, self.frames.stop - 1 - max(at))
        )

    def ends(self, frames: Ints, n_frames: int) -> bool:
        """Whether any of some frames is so near to their end that what is beyond may change as well."""
        before, after = self.inside.start > 0, self.inside.stop < n_frames
        near = (before & (frames < self.inside.start + NEAR_THE_END)) | (
            after & (frames >= self.inside.stop - NEAR_THE_END)
        )
        return bool(self.places) and len(self.frames) < MOST_FRAMES_AROUND and bool(near.any())

    @classmethod
    def everywhere(cls, frames: range, n_frames: int) -> Surroundings:
        """All masks of some frames, and of those around."""
        wide = range(max(frames.start - AROUND, 0), min(frames.stop + AROUND, n_frames))
        return cls(wide, frames, ())

    def nearest(self, t: int, centroid: Floats) -> tuple[Ints, Ints]:
        """The masks of a frame that matter, ascending, and how near each of them is, in order."""
        if not self.places:
            return np.arange(len(centroid)), np.zeros(len(centroid), np.int64)
        closest = min(abs(t - when) for when, _ in self.places)
        near = [place for when, place in self.places if abs(t - when) == closest]
        away = np.min([((centroid - place) ** 2).sum(axis=1) for place in near], axis=0)
        order = np.argsort(away, kind="stable")[: NEAREST * len(near)]
        rank = np.arange(len(order)) // len(near)
        back = np.argsort(order)
        return order[back], rank[back]


def _without_ends(frames: range, n_frames: int) -> range:
    """The frames whose masks may change: not the outermost ones, where the movie goes on."""
    return range(frames.start + (frames.start > 0), frames.stop - (frames.stop < n_frames))


@dataclass(eq=False)
class NearbySegments:
    """Segments of some surroundings, and the objects that they are now."""

    given: GivenMasks  # The masks as they were given
    around: Surroundings  # Which frames
    block: Block  # What is believed now, of these frames and of some around
    now: dict[int, list[Region]]  # By frame, what the block's cells are, in order
    table: SegmentTable  # The segments
    rows: list[Ints]  # Of each frame, (m,) where the table has its masks, -1 where it has not
    rank: Ints  # (M,) how near each mask is to what was said, in order

    @classmethod
    def of(
        cls,
        given: GivenMasks,
        around: Surroundings,
        block: Block,
        decisions: Sequence[Decision],
        masks_of: Callable[[Decision], set[tuple[int, int]]],
    ) -> NearbySegments:
        """Those around some places, with all segments that decisions speak about."""
        said = {mask for each in decisions for mask in masks_of(each)}
        pairs = [sorted(masks_of(each)) for each in decisions if each.kind == ONE_CELL]
        wanted = {each[0][0]: Region(each[0][1], each[1][1]) for each in pairs if len(each) == 2}
        now = {t: _regions(given, block, t) for t in around.frames}
        ranks = _with_relatives(given, around, block, now)
        found, rows, rank, n = [], [], [], 0
        for t in around.frames:
            here, stated = given.frame(t), [row for when, row in said if when == t]
            own = np.array(sorted(ranks[t]), np.int64)
            unions = _unions(given, here, t, [*now[t], *([wanted[t]] if t in wanted else [])])
            into = given.model.seen.into(here.cells.area)
            into[stated] = 3
            for region in now[t]:
                into[region.row] = max(into[region.row], 1 if region.number == UNCUT else 3 if region.number > 1 else 2)
            found.append(some_segments(here, own, into, unions))
            number = np.full(len(here.cells), -1, np.int64)
            number[own] = n + np.arange(len(own))
            n += len(own)
            rows.append(number)
            nearness = np.array([0 if row in stated else ranks[t][row] for row in own.tolist()], np.int64)
            rank.append(nearness if t in around.inside else np.maximum(nearness, NEAREST))
        table = joined_segments(given.movie.part(slice(around.frames.start, around.frames.stop)), found)
        return cls(given, around, block, now, table, rows, np.concatenate(rank))

    @property
    def free(self) -> Bools:
        """(M,) which masks may be cut and joined otherwise."""
        return np.asarray(self.rank < INSIDE)

    @property
    def outermost(self) -> Bools:
        """(M,) which masks are in a frame beyond which the movie goes on: they are as they are now."""
        frame = self.around.frames.start + self.table.segments.frame[: self.table.segments.n_masks]
        return ~np.isin(frame, self.around.inside)

    def solve(self, given: Given) -> Seen:
        """Solve them under what is given."""
        return self.given.model.solve(self.table.segments, given)

    # --- the objects of now ------------------------------------------------------------------------

    @cached_property
    def segment_of_row(self) -> dict[int, int]:
        """Of the block's cells in the surroundings, the row of each among the segments."""
        segments, found = self.table.segments, {}
        key = zip(*segments.masks.T.tolist(), self.table.number.tolist(), strict=True)
        place = {each: k for k, each in enumerate(key)}
        for rows, t in zip(self.rows, self.around.frames, strict=True):
            start = self.block.rows(int(np.searchsorted(self.block.frames, self.given.movie.frames[t]))).start
            for row, region in enumerate(self.now[t], start):
                one, other = int(rows[region.row]), int(rows[region.other]) if region.other >= 0 else -1
                if one >= 0 and (one, other, region.number) in place:
                    found[row] = place[one, other, region.number]
        return found

    @cached_property
    def sets(self) -> Ints:
        """(M,) the set that each mask is now, numbered as in an answer."""
        segments = self.table.segments
        sets = np.full(segments.n_masks, NO_SEGMENT)
        objects = np.zeros(len(segments.frame) + 1, np.bool_)
        objects[list(self.segment_of_row.values())] = True
        objects[-1] = True
        whole = np.flatnonzero(objects[: segments.n_masks])
        sets[whole] = WHOLE_MASK
        cuts = np.flatnonzero(objects[segments.cuts].all(axis=1))
        sets[segments.cut_mask[cuts]] = FIRST_SET + cuts
        unions = segments.unions[objects[segments.unions]]
        for k in (0, 1):
            sets[segments.masks[unions, k]] = FIRST_SET + len(segments.cuts) + 2 * unions + k
        return sets

    # --- what is known -----------------------------------------------------------------------------

    def clamps(self, decisions: Sequence[Decision], structure: Structure) -> Clamps:
        """What decisions say of these segments."""
        said = constraints_of(self.block, [each for each in decisions if self._is_there(each)])
        structure = self._reaching(structure, said)
        clamps = Clamps.none(structure, np.where(self.free, -1, self.sets), self.sets)
        known = Known(clamps)
        outermost = np.flatnonzero(self.outermost)
        known.is_set(outermost, self.sets[outermost])
        for decision in decisions:
            if decision.kind == ALL_AS_GIVEN:
                stated = {row for each in decisions for row in self._mask_rows(each)}
                for mask in sorted(set(np.flatnonzero(~self.outermost).tolist()) - stated):
                    known.holds(mask, Content.CELL, Content.DEBRIS)
            elif self._mask_rows(decision) - set(outermost.tolist()):
                self._of_mask(known, decision)
        for row, segment in self.segment_of_row.items():
            self._of_links(known, said, row, segment)
        return clamps

    def _is_there(self, decision: Decision) -> bool:
        """Whether a statement about links names cells in the surroundings; what is said of cells that are none any more is void."""
        if decision.kind in (*ABOUT_MASKS, ALL_AS_GIVEN):
            return False
        ends = [(decision.frame, decision.label)] if decision.label else []
        if decision.mother is not None:
            frames = self.block.frames
            before = frames[max(int(np.searchsorted(frames, decision.frame)) - 1, 0)]
            ends.append((int(before) if decision.mother_frame is None else decision.mother_frame, decision.mother))
        return all(self._row(frame, label) in self.segment_of_row for frame, label in ends)

    def _row(self, frame: int, label: int) -> int:
        """The block's row of a cell, -1 where there is none."""
        try:
            return row_of(self.block, frame, label)
        except DecisionError:
            return -1

    def _links(self, said: Constraints) -> list[tuple[int, int]]:
        """Mothers and daughters, as segments, of the links that were decided on."""
        found = [(int(said.mother[row]), row) for row in np.flatnonzero(said.mother >= 0).tolist()]
        own = self.segment_of_row
        return [(own[a], own[b]) for a, b in found if a in own and b in own]

    def _reaching(self, structure: Structure, said: Constraints) -> Structure:
        """The structure with the links and divisions that were decided on."""
        links = self._links(said)
        structure = with_links(structure, links)
        for mother in {a for a, _ in links}:
            daughters = [b for a, b in links if a == mother]
            if len(daughters) == 2:
                structure = with_division(structure, mother, *daughters)
        return structure

    def _mask_rows(self, decision: Decision) -> set[int]:
        """The masks here that a statement about masks is about."""
        if decision.kind not in ABOUT_MASKS or decision.frame not in self.table.masks.frames:
            return set()
        k = int(np.searchsorted(self.table.masks.frames, decision.frame))
        regions = [self.given.region(self.around.frames[k], label) for label in _labels(decision)]
        rows = {int(self.rows[k][row]) for region in regions for row in (region.row, region.other) if row >= 0}
        return rows - {-1}

    def _of_mask(self, known: Known, decision: Decision) -> None:
        """A statement about a mask, or a part of one, or a union."""
        masks = sorted(self._mask_rows(decision))
        k = int(np.searchsorted(self.table.masks.frames, decision.frame))
        t = self.around.frames[k]
        region = self.given.region(t, decision.label)
        segment = segment_of(self.table, region, self.rows[k])
        if not masks or segment is None:
            return
        if decision.kind == NO_CELL:
            known.no_cell(segment)
        elif decision.kind == TWO_CELLS and region.other < 0:
            contents = (Content.PAIR, Content.COUPLE) if region.number == UNCUT else (Content.TRIO,)
            known.holds(masks[0], *contents)
        elif decision.kind == ONE_CELL and len(masks) == 2:
            other = self.given.region(t, decision.other or 0)
            if min(region.number, other.number) != UNCUT or max(region.number, other.number) != UNCUT:
                raise DecisionError(
                    "a part of one mask and another mask are no cell together; say first that the mask is as it was given"
                )
            union = segment_of(self.table, Region(*sorted((region.row, other.row))), self.rows[k])
            if union is not None:
                known.is_object(union)
        elif decision.kind == ONE_CELL:
            known.holds(masks[0], Content.CELL)
        else:  # as given; a union that holds two is two masks
            for mask in masks:
                known.holds(mask, *((Content.CELL,) if decision.kind == TWO_CELLS else (Content.CELL, Content.DEBRIS)))

    def _of_links(self, known: Known, said: Constraints, row: int, segment: int) -> None:
        """What was said of where a cell comes from, and how it goes on."""
        if said.mother[row] == APPEARS:
            known.appears(segment)
        elif (mother := self.segment_of_row.get(int(said.mother[row]))) is not None:
            known.linked(mother, segment)
        if said.divides[row] and known.may_divide(segment):
            known.divides(segment)
        elif said.divides[row] and not self._leads_out(row):
            raise DecisionError(
                f"cell {self.block.cells.label[row]} of frame {self.block.cells.frame[row]} cannot divide: fewer than two "
                "cells could be its daughters; link the daughters to it first"
            )
        elif said.disappears[row] and not said.goes_on[row]:
            known.ends(segment)
        if said.single[row]:
            known.single(segment)
        if said.missed[row]:
            known.unseen_next(segment)

    def _leads_out(self, row: int) -> bool:
        """Whether a cell may have daughters that are not in the surroundings."""
        daughters = self.block.daughter[self.block.mother == row].tolist()
        return not all(daughter in self.segment_of_row for daughter in daughters)

    # --- what changes ------------------------------------------------------------------------------

    def keeps(self, old: Seen, new: Seen) -> bool:
        """Keep masks as they are that these surroundings take for something else whatever was said; whether there were any."""
        more = np.abs(new.answer.set_probability - old.answer.set_probability) > FOLLOWED
        possible = np.zeros(len(self.sets), np.bool_)
        number = sets_of_states(self.table.segments, new.structure.holdings)
        mask = new.structure.holdings.mask
        possible[mask[(number == self.sets[mask]) & (new.posterior.state > 0)]] = True
        kept = self.free & possible & (new.answer.sets != self.sets) & (new.answer.sets == old.answer.sets) & ~more
        self.rank = np.where(kept, np.maximum(self.rank, INSIDE), self.rank)
        return bool(kept.any())

    def changed(self, old: Seen, new: Seen, least: float) -> Bools:
        """(K,) which objects of an answer, in the order of `block`, are not what they were, or hold other numbers."""
        n = len(self.table.segments.frame)
        one, other = (_numbers(each.answer, n) for each in (old, new))
        different: Bools = np.asarray((np.abs(one - other) > least).any(axis=1))
        for seen, beside in ((old, new), (new, old)):
            different[_other_edges(seen.answer, beside.answer, n, least)] = True
        now = np.zeros(n, np.bool_)
        now[list(self.segment_of_row.values())] = True
        objects = self._objects(new)
        different |= ~now & ((new.answer.sets != self.sets)[self.table.segments.masks[:, 0]])
        movable = self.rank[self.table.segments.masks[objects.segment, 0]] < NEAREST
        return self._closed(different[objects.segment] & movable, objects, now)

    def gone(self, seen: Seen) -> Ints:
        """Rows of the block whose cells are none any more."""
        kept = set(seen.answer.segment.tolist())
        return np.array([row for row, segment in self.segment_of_row.items() if segment not in kept], np.int64)

    def frames_of(self, rows: Bools, seen: Seen) -> Ints:
        """Frames of some objects of an answer."""
        return np.asarray(self._objects(seen).frame[rows] + self.around.frames.start)

    def left_out(self, seen: Seen) -> dict[tuple[int, int], float]:
        """By frame and row, how probable it is of the masks that become none that they are no object."""
        masks = np.flatnonzero((seen.answer.sets == NO_SEGMENT) & (self.sets != NO_SEGMENT)).tolist()
        frame, rows = self.table.segments.frame, self._given_rows
        return {
            (self.around.frames.start + int(frame[mask]), rows[mask]): float(seen.answer.set_probability[mask])
            for mask in masks
        }

    def _closed(self, rows: Bools, objects: Objects, now: Bools) -> Bools:
        """With those that have to change, too, for links to agree: what is new, and daughters of mothers with too many links."""
        answer = objects.answer
        place = np.empty(len(objects.order), np.int64)
        place[objects.order] = np.arange(len(objects.order))
        link = answer.edges.only(answer.selected)
        mother, daughter = place[link.mother], place[link.daughter]
        before = self._links_now(objects)
        rows = rows | ~now[objects.segment]
        while True:
            load = np.bincount(mother[rows[daughter]], minlength=len(rows))
            kept = (before >= 0) & ~rows
            load += np.bincount(before[kept], minlength=len(rows))
            most = np.maximum(np.bincount(mother, minlength=len(rows)), 1)
            crowded = kept & (load > most)[np.maximum(before, 0)]
            if not crowded.any():
                return rows
            rows = rows | crowded

    def _links_now(self, objects: Objects) -> Ints:
        """(K,) of each object, the one that is its mother now; -1 where it has none in the nearby."""
        row_of = {segment: k for k, segment in enumerate(objects.segment.tolist())}
        place = {row: row_of[segment] for row, segment in self.segment_of_row.items() if segment in row_of}
        before = np.full(len(objects.segment), -1, np.int64)
        for edge in self.block.links.tolist():
            mother, daughter = int(self.block.mother[edge]), int(self.block.daughter[edge])
            if mother in place and daughter in place:
                before[place[daughter]] = place[mother]
        return before

    # --- results -----------------------------------------------------------------------------------

    def _objects(self, seen: Seen) -> Objects:
        """The answer's segments under their labels."""
        segments, inverse = self.table.segments, self._given_rows
        labels = []
        for segment in seen.answer.segment.tolist():
            one, other = segments.masks[segment].tolist()
            region = Region(inverse[one], inverse[other] if other >= 0 else -1, int(self.table.number[segment]))
            labels.append(self.given.label(self.around.frames[int(segments.frame[segment])], region))
        return Objects.labelled(self.table, seen.answer, np.array(labels, np.int64))

    @cached_property
    def _given_rows(self) -> list[int]:
        """(M,) the row of each of the table's masks in its frame."""
        return [int(row) for rows in self.rows for row in np.flatnonzero(rows >= 0)[np.argsort(rows[rows >= 0])]]

    def block_after(self, seen: Seen) -> Block:
        """All of it as a block."""
        share = border_share(self.given.model, self.table, seen.answer)
        n = len(self.around.frames)
        return block_of(self._objects(seen), seen.structure, seen.posterior, share, range(0, n - 1))


def _numbers(answer: Answer, n: int) -> Floats:
    """(N, 5) what is believed of each segment, 0 of those that are no objects."""
    found = np.zeros((n, 5))
    names = ("p_segment", "p_cell", "appear", "disappear", "divide")
    found[answer.segment] = np.stack([getattr(answer, name) for name in names], axis=1)
    return found


def _other_edges(answer: Answer, beside: Answer, n: int, least: float) -> Ints:
    """Daughters, as segments, with an edge that another answer has not, or not as probable, or not as a link."""
    keys, values = [], []
    for each in (answer, beside):
        keys.append(each.segment[each.edges.daughter] * n + each.segment[each.edges.mother])
        values.append(each.edges.probability + each.selected)
    order = np.argsort(keys[1])
    place = np.minimum(np.searchsorted(keys[1], keys[0], sorter=order), max(len(order) - 1, 0))
    there = keys[1][order][place] == keys[0] if len(order) else np.zeros(len(keys[0]), np.bool_)
    known = np.where(there, values[1][order][place] if len(order) else 0.0, 0.0)
    return np.asarray(keys[0][np.abs(values[0] - known) > least] // n)


def _labels(decision: Decision) -> list[int]:
    return [decision.label, *([] if decision.other is None else [decision.other])]


def _regions(given: GivenMasks, block: Block, t: int) -> list[Region]:
    """The segments that are objects in a frame of a block."""
    labels = block.cells.label[block.rows(int(np.searchsorted(block.frames, given.movie.frames[t])))]
    return [given.region(t, label) for label in labels.tolist()]


def _unions(given: GivenMasks, here: FrameSegments, t: int, wanted: Sequence[Region]) -> Bools:
    """(U,) which unions of a frame may be one cell: those of the tracking, and some more."""
    assert here.unions is not None
    may = given.model.seen.may_be_one(here.unions.cells, len(here.cells))
    for region in wanted:
        if region.other >= 0:
            may[given.union(t, region.row, region.other)] = True
    return may


def _with_relatives(
    given: GivenMasks, around: Surroundings, block: Block, now: dict[int, list[Region]]
) -> dict[int, dict[int, int]]:
    """By frame, the masks that matter and how near they are: with what their cells are linked to, and the rest of unions."""
    ranks = {
        t: dict(zip(*(each.tolist() for each in around.nearest(t, given.frame(t).cells.centroid)), strict=True))
        for t in around.frames
    }
    if around.places:
        first = int(np.searchsorted(given.movie.frames, block.frames[0]))
        near = dict(ranks) | {t: dict(each) for t, each in ranks.items()}
        for edge in block.links.tolist():
            ends = [_mask_of(block, first, now, int(row)) for row in (block.mother[edge], block.daughter[edge])]
            for one, other in (ends, ends[::-1]):
                if one is not None and other is not None and one[1] in near[one[0]]:
                    ranks[other[0]].setdefault(other[1], NEAREST)
    for t, regions in now.items():
        for region in regions:
            have = [ranks[t][row] for row in (region.row, region.other) if row in ranks[t]]
            if region.other >= 0 and have:
                ranks[t] |= {region.row: min(have), region.other: min(have)}
    return ranks


def _mask_of(block: Block, first: int, now: dict[int, list[Region]], row: int) -> tuple[int, int] | None:
    """Frame and row of the given mask of a block's cell; `None` outside of these frames."""
    t = first + int(block.frame_of[row])
    return None if t not in now else (t, now[t][row - int(block.begin[t - first])].row)
