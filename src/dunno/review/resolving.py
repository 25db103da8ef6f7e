"""An output whose masks were repaired, given what a person said: segments near it are solved again, by the call of tracking.

Each answer is solved in its **surroundings**: the masks nearest to what it is about, in the frames around it. They are solved
without and with the answer, under all that was said there before; cells whose numbers differ are written anew, all others stay as
they are. So an answer takes as long however long the movie is, and the state follows from the answers in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from dunno.calibration import ModelCalibration
from dunno.errors import DecisionError, ProblemError
from dunno.review.daughters import Table
from dunno.review.decisions import ABOUT_MASKS, ALL_AS_GIVEN, DIVIDES_INTO_THREE, MISSING, SKIP, Decision, in_force
from dunno.review.given_masks import GivenMasks, Region
from dunno.review.nearby_segments import NearbySegments, Surroundings
from dunno.review.splicing import spliced
from dunno.review.store import Store
from dunno.runs.workspace import CALIBRATION_FILE
from dunno.segments.drawing import Drawn
from dunno.segments.regions import UNCUT
from dunno.segments.repair import Repair
from dunno.tracking.repairing import RepairedMasks
from dunno.types import Block, Cells, Floats, Ints, Movie, PairPosterior

CHUNK = 8  # frame pairs; judged
"""Blocks are kept in pieces of so many pairs, so that little is written anew."""

CHANGED = 0.005  # probability; five times posterior.TOLERANCE
"""Numbers that differ by less are the same."""

TILE = 24  # frames; judged: tracking.repairing.LOOK_AROUND
"""What is said of all masks is solved so many frames at a time."""

Chunks = dict[int, Block]
LeftOut = dict[tuple[int, int], float]
"""By frame and row, how probable it is that a mask is no object."""


class ResolvedBlocks:
    """The blocks of an output in pieces, and those that answers have changed."""

    def __init__(self, store: Store, table: Table, folder: Path, masks: str | Path | None) -> None:
        self._store, self._table, self._folder, self._masks = store, table, folder, masks
        self._chunks: Chunks = {}
        self._said: list[Decision] = []
        self._before: list[tuple[int, Chunks, LeftOut]] = []

    @cached_property
    def given(self) -> GivenMasks:
        """The masks as they were given."""
        model = ModelCalibration.load(self._folder / CALIBRATION_FILE).segments
        assert model is not None
        return GivenMasks(self._folder, self._masks, model)

    @property
    def frames(self) -> Ints:
        """(T,) original indices."""
        return np.append(self._table.mother_frame[:1], self._table.daughter_frame)

    # --- what is believed --------------------------------------------------------------------------

    def pair(self, t: int) -> PairPosterior:
        """Pair t given the answers."""
        block = self._chunks.get(t // CHUNK)
        return self._store.get(t) if block is None else block.pair(block.own[t % CHUNK])

    def blocks(self) -> Iterator[Block]:
        """The movie given the answers, in pieces as it is stored."""
        return (self.part(pairs) for pairs in self._store.bounds)

    def part(self, pairs: range) -> Block:
        """Some pairs in a row, given the answers."""
        return self._joined(self._chunks, pairs)

    def _joined(self, chunks: Chunks, pairs: range) -> Block:
        numbers = range(pairs.start // CHUNK, (pairs.stop - 1) // CHUNK + 1)
        whole = Block.joined([chunks.get(k) or self._store.block(self._pairs_of(k)) for k in numbers])
        begin = numbers.start * CHUNK
        return whole.part(pairs.start - begin, pairs.stop - begin)

    def _pairs_of(self, chunk: int) -> range:
        return range(chunk * CHUNK, min((chunk + 1) * CHUNK, self._table.n_pairs))

    def cells(self, t: int) -> Cells:
        """The cells of the frame at place t."""
        pair = self.pair(max(t - 1, 0))
        return Cells.of([pair.daughters if t else pair.mothers])

    def regions(self, t: int, labels: Iterable[int] | None = None) -> list[tuple[Region, int]]:
        """The segments that are objects in a frame, with their labels."""
        labels = self.cells(t).label.tolist() if labels is None else labels
        return [(self.given.region(t, label), label) for label in labels]

    # --- masks -------------------------------------------------------------------------------------

    @cached_property
    def movie(self) -> Movie:
        """The movie under its masks as they are repaired now."""
        movie = self.given.movie
        return movie.with_masks(RepairedMasks(movie, _Drawings(self)), f"{movie.mask_source}, repaired")

    def repairs(self, t: int) -> Iterator[Repair]:
        """What was changed in a frame, in the order of the given masks."""
        block, label = self.pair(max(t - 1, 0)).block, self.given.frame(t).cells.label
        rows = block.rows(int(np.searchsorted(block.frames, self.frames[t])))
        probability = dict(zip(block.cells.label[rows].tolist(), block.p_segment[rows].tolist(), strict=True))
        drawn = self.given.drawn(t, self.regions(t))
        for row, number, new in sorted(zip(*(each.tolist() for each in drawn), strict=True)):
            what = "left out" if new == 0 else "joined" if number == UNCUT else "split"
            p = probability[new] if new else self._left_out(t, row)
            yield Repair(int(self.frames[t]), int(label[row]), new or None, what, min(p, 1.0))

    def _left_out(self, t: int, row: int) -> float:
        """How probable it is that a mask is no object."""
        for _, _, found in reversed(self._before):
            if (t, row) in found:
                return found[t, row]
        written = self.given.repairs.get(t, {}).get(int(self.given.frame(t).cells.label[row]), [])
        return written[0][1] if written else 1.0

    # --- answers -----------------------------------------------------------------------------------

    def in_force(self, decisions: Iterable[Decision]) -> list[Decision]:
        """Those that count: of what is said of a mask, or of its parts, the last; what is said of all is said of each."""
        found: list[Decision] = []
        stated: set[tuple[int, int]] = set()
        everything = False
        for decision in reversed(in_force(decisions)):
            if everything and decision.kind in (*ABOUT_MASKS, ALL_AS_GIVEN):
                continue
            everything |= decision.kind == ALL_AS_GIVEN
            masks = self.masks_of(decision)
            if not masks & stated:
                stated |= masks
                found.append(decision)
        return found[::-1]

    def masks_of(self, decision: Decision) -> set[tuple[int, int]]:
        """Place and row of the given masks that a statement about masks is about."""
        if decision.kind not in ABOUT_MASKS:
            return set()
        t = self._table.place_of(decision.frame)
        labels = [decision.label, *([] if decision.other is None else [decision.other])]
        regions = [self.given.region(t, label) for label in labels]
        return {(t, row) for region in regions for row in (region.row, region.other) if row >= 0}

    def tried(self, decisions: Sequence[Decision]) -> tuple[Chunks, LeftOut]:
        """The chunks that change if decisions were added; `DecisionError` if they contradict others."""
        if any(each.kind == DIVIDES_INTO_THREE for each in decisions):
            raise DecisionError("where masks are repaired, a cell divides into two at the most")
        before, after = (self.in_force(each) for each in (self._said, [*self._said, *decisions]))
        found: Chunks = {}
        left_out: LeftOut = {}
        for around in self._surroundings(decisions):
            found |= self._solved({**self._chunks, **found}, around, before, after, left_out)
        return found, left_out

    def add(self, decisions: Sequence[Decision], found: tuple[Chunks, LeftOut] | None = None) -> list[int]:
        """Let decisions stand; `found` is what `tried` found. Returns the pairs that change."""
        chunks, left_out = self.tried(decisions) if found is None else found
        before = {k: self._chunks.get(k) or self._store.block(self._pairs_of(k)) for k in chunks}
        self._before.append((len(decisions), before, left_out))
        self._said += decisions
        self._chunks |= chunks
        return [t for k in sorted(chunks) for t in self._pairs_of(k)]

    def remove(self) -> list[int]:
        """Take back what was added last; returns the pairs that change."""
        n, before, _ = self._before.pop()
        del self._said[len(self._said) - n :]
        self._chunks |= before
        return [t for k in sorted(before) for t in self._pairs_of(k)]

    def _surroundings(self, decisions: Sequence[Decision]) -> list[Surroundings]:
        """What has to be solved."""
        if any(each.kind == ALL_AS_GIVEN for each in decisions):
            n = len(self.frames)
            return [Surroundings.everywhere(range(t, min(t + TILE, n)), n) for t in range(0, n, TILE)]
        places = [place for each in decisions for place in self._places(each)]
        return [Surroundings.of(places, len(self.frames))] if places else []

    def _places(self, decision: Decision) -> list[tuple[int, Floats]]:
        """Frames and centres of what a decision is about."""
        if decision.kind == SKIP or (decision.kind == MISSING and decision.mother is None):
            return []
        t = self._table.place_of(decision.frame)
        found = [(t, decision.label)] if decision.label else []
        found += [(t, decision.other)] if decision.other is not None else []
        if decision.mother is not None:
            before = t - 1 if decision.mother_frame is None else self._table.place_of(decision.mother_frame)
            found.append((before, decision.mother))
        return [(when, self._centre(when, label)) for when, label in found]

    def _centre(self, t: int, label: int) -> Floats:
        region = self.given.region(t, label)
        return np.asarray(self.given.frame(t).cells.centroid[region.row])

    def _solved(
        self,
        chunks: Chunks,
        around: Surroundings,
        before: Sequence[Decision],
        after: Sequence[Decision],
        left_out: LeftOut,
    ) -> Chunks:
        """The chunks of some surroundings, if what is said is no more `before` but `after`; notes masks that are left out."""
        first, last = around.frames.start, around.frames.stop - 1
        numbers = range(max(first - 1, 0) // CHUNK, min(last // CHUNK, (self._table.n_pairs - 1) // CHUNK) + 1)
        pairs = range(numbers.start * CHUNK, self._pairs_of(numbers.stop - 1).stop)
        block = self._joined(chunks, pairs)
        nearby = NearbySegments.of(self.given, around, block, after, self.masks_of)
        try:
            old, new = (nearby.solve(partial(nearby.clamps, said)) for said in (before, after))
            if nearby.keeps(old, new):
                new = nearby.solve(partial(nearby.clamps, after))
        except ProblemError as error:
            raise DecisionError(f"this contradicts what was said before ({error}); undo that first") from None
        rows = nearby.changed(old, new, CHANGED)
        if around.ends(nearby.frames_of(rows, new), len(self.frames)):
            return self._solved(chunks, around.wider(len(self.frames)), before, after, left_out)
        gone = nearby.gone(new)
        if not rows.any() and not len(gone):
            return {}
        left_out |= nearby.left_out(new)
        found = _marked(spliced(block, nearby.block_after(new), rows, gone), after)
        parts = {k: self._pairs_of(k) for k in numbers}
        return {k: found.part(own.start - pairs.start, own.stop - pairs.start) for k, own in parts.items()}


def _marked(block: Block, decisions: Sequence[Decision]) -> Block:
    """The block with the daughters marked that a person decided on."""
    said = {(each.frame, each.label) for each in decisions if each.about_daughter}
    cells = zip(block.cells.frame.tolist(), block.cells.label.tolist(), strict=True)
    return replace(block, reviewed=np.array([cell in said for cell in cells], np.bool_), is_reviewed=True)


class _Drawings(dict[int, Drawn]):
    """What is drawn again in each frame, as it is asked for."""

    def __init__(self, blocks: ResolvedBlocks) -> None:
        super().__init__()
        self._blocks = blocks

    def get(self, t: int, default: Drawn | None = None) -> Drawn:  # type: ignore[override]
        """Of frame t."""
        return self._blocks.given.drawn(t, self._blocks.regions(t))
