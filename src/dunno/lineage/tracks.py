"""From links to tracks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dunno.lineage.endings import DIVISION, END, ENDINGS, endings_of
from dunno.types import Block, Bools, Floats, Ints, PairPosterior

LONGEST_GAP = 16  # frames; judged: longer than any gap that is linked
"""How many frames back a link may begin."""


@dataclass(frozen=True, eq=False)
class NumberedBlock:
    """A block whose cells belong to tracks."""

    block: Block  # The block, which knows what the one before it knows of the cells that they share
    track: Ints  # (N,) the track of each cell, counted from 1
    family: Ints  # (N,) the first track of the family that it belongs to
    incoming: Floats  # (N,) probability of the link that leads to each cell, NaN where none does
    p_appear: Floats  # (N,) that it has no mother, here or in an earlier frame; NaN in the movie's first frame
    # A number for the first row; those of the others follow, so that each cell of the movie has its own
    first_node: int
    is_last: bool  # Whether no other block follows

    def __len__(self) -> int:
        return len(self.track)

    @property
    def frames(self) -> range:
        """Positions of the frames of whose cells all is known: the last one's have their daughters in the next block."""
        return range(self.block.first, len(self.block.frames) - (not self.is_last))

    @property
    def rows(self) -> slice:
        """Their rows."""
        return slice(int(self.block.begin[self.frames.start]), int(self.block.begin[self.frames.stop]))

    @property
    def node(self) -> Ints:
        """(N,) the number of each row."""
        return self.first_node + np.arange(len(self.track))

    @property
    def frame(self) -> Ints:
        """(N,) original index of each cell's frame."""
        return self.block.cells.frame

    @property
    def label(self) -> Ints:
        """(N,) as in the masks."""
        return self.block.cells.label

    @property
    def place(self) -> Floats:
        """(N, d) centres, in physical units."""
        return self.block.cells.centroid

    @property
    def area(self) -> Floats:
        """(N,) in physical units."""
        return self.block.cells.area

    @property
    def entropy(self) -> Floats:
        """(N,) of the mother's identity; NaN in the movie's first frame."""
        return self.block.entropy

    @cached_property
    def p_disappear(self) -> Floats:
        """(N,) that it has no daughter; NaN in the last frame and where the method does not know."""
        return self._as_mother(self.block.log_disappear)

    @cached_property
    def p_divide(self) -> Floats:
        """(N,) that it has two; NaN likewise."""
        return self._as_mother(self.block.log_divide)

    @property
    def p_segment(self) -> Floats:
        """(N,) that the region is one object; NaN where masks are trusted."""
        return self.block.p_segment

    @property
    def p_cell(self) -> Floats:
        """(N,) that the object is a cell, given that it is one; NaN likewise."""
        return self.block.p_cell

    def _as_mother(self, log_probability: Floats) -> Floats:
        found = np.exp(log_probability)
        found[self.block.begin[-2] :] = np.nan
        return found


@dataclass(frozen=True)
class TrackRow:
    """A track: a cell from its birth to its division or loss."""

    track: int  # Its number
    first: int  # Original index of its first frame
    last: int  # Original index of its last frame
    mother: int  # The track it came from, or 0
    # Probability that all of its links are right; 1 without links. Frame pairs are independent, unless edges across
    # gaps tie them: then each link's probability is that given the one before.
    confidence: float = 1.0
    least: float = 1.0  # Probability of its least certain link; 1 without links
    ending: str = ENDINGS[END]  # How it ends, one of `dunno.lineage.endings.ENDINGS`
    p_ending: float | None = 1.0  # Probability that its last cell ended so; `None` where the method does not know
    p_cell: float | None = None  # That it is a cell and no debris; `None` where masks are trusted

    @property
    def is_debris(self) -> bool:
        """Whether it is rather debris than a cell."""
        return self.p_cell is not None and self.p_cell < 0.5


class TrackNumbers:
    """Numbers tracks while pairs arrive in frame order.

    A daughter carries its mother's track on where it is the only one; where the mother divides, each daughter starts a track of
    its own. Where two masks become one, both tracks end, and the mask that holds both cells starts one; so do those that come
    out of it. Tables grow by doubling, 88 bytes a track.
    """

    def __init__(self) -> None:
        self._recent: dict[int, Ints] = {}  # tracks of the last frames' cells, by original index of the frame
        self._n = 0
        self._rows: Ints = np.empty((1024, 3), np.int64)  # first frame, last frame, mother; frames are original indices
        self._log: Floats = np.empty((1024, 2))  # of the confidence, and of the least certain link
        self._ending: Ints = np.empty(1024, np.int64)
        self._p_ending: Floats = np.empty((1024, 2))  # of the ending, and of a division instead
        self._judged: Floats = np.empty(
            (1024, 2)
        )  # sum of p_cell over the cells of which it is known, and their number
        self._family: Ints = np.zeros(1025, np.int64)  # the first track of each track's family; of none, 0

    def __len__(self) -> int:
        return self._n

    def follow(self, block: Block) -> Ints:
        """(N,) number the cells of a block."""
        track = np.zeros(len(block.cells), np.int64)
        if not self._n:
            first = self._new(np.zeros(int(block.begin[1]), np.int64), int(block.frames[0]))
            self._recent[int(block.frames[0])] = first
            self._judge(first, block.p_cell[block.rows(0)])
        for t in range(block.first + 1):
            track[block.rows(t)] = self._recent.get(int(block.frames[t]), 0)
        for pair in block.pairs():
            track[pair.daughter_rows] = self._follow(pair, track)
            self._judge(track[pair.daughter_rows], block.p_cell[pair.daughter_rows])
        kept = {int(block.frames[t]): track[block.rows(t)] for t in range(len(block.frames))}
        self._recent = dict([*(self._recent | kept).items()][-LONGEST_GAP:])
        return track

    def _follow(self, pair: PairPosterior, track: Ints) -> Ints:
        """(n,) number a pair's daughters; (N,) the block's earlier cells have their numbers."""
        block, n = pair.block, len(pair.daughters)
        mother, daughter, load = pair.mother[pair.links], pair.daughter[pair.links], pair.load
        from_track, carried, log_probability = np.zeros(n, np.int64), np.zeros(n, np.bool_), np.zeros(n)
        current = track[pair.mother_rows]
        from_track[daughter], carried[daughter] = current[mother], load[mother] == 1
        log_probability[daughter] = np.minimum(pair.log_probability[pair.links], 0.0)
        log_probability[pair.daughters.is_filled] = 0.0  # the link that ends the gap counts
        self._across_gaps(pair, track, from_track, carried, log_probability)
        log_probability = np.minimum(log_probability + block.log_together[pair.daughter_rows], 0.0)
        merged = np.bincount(daughter, minlength=n) > 1
        merged[daughter] |= pair.holds_two[mother] & (load[mother] > 1)
        carried[merged], from_track[merged] = False, 0
        numbers, begins = from_track, ~carried
        numbers[begins] = self._new(from_track[begins], pair.daughter_frame)
        self._carry(numbers[carried] - 1, pair.daughter_frame, log_probability[carried])
        goes_on = np.zeros(len(current), np.bool_)
        goes_on[mother] = carried[daughter] & (numbers[daughter] == current[mother])
        self._end(pair, current, ~goes_on)
        return numbers

    def _across_gaps(
        self, pair: PairPosterior, track: Ints, from_track: Ints, carried: Bools, log_probability: Floats
    ) -> None:
        """Fill in the daughters whose mothers are in earlier frames."""
        block, far = pair.block, pair.far
        link = far.start + np.flatnonzero(block.selected[far])
        if not len(link):
            return
        mother, daughter = block.mother[link], block.daughter[link] - pair.daughter_rows.start
        alone = np.bincount(mother)[mother] == 1
        from_track[daughter], carried[daughter] = track[mother], alone
        divided = track[mother[~alone]] - 1
        self._ending[divided], self._p_ending[divided, 0] = DIVISION, self._p_ending[divided, 1]
        log_probability[daughter] = np.minimum(block.log_probability[link], 0.0)

    def _carry(self, row: Ints, frame: int, log_probability: Floats) -> None:
        self._rows[row, 1] = frame
        self._log[row, 0] += log_probability
        self._log[row, 1] = np.minimum(self._log[row, 1], log_probability)
        self._ending[row], self._p_ending[row, 0] = END, 1.0

    def _judge(self, track: Ints, p_cell: Floats) -> None:
        """Add up how probably a frame's objects, of which no two are in a track, are cells."""
        known = ~np.isnan(p_cell)
        self._judged[track[known] - 1] += np.column_stack([p_cell[known], np.ones(int(known.sum()))])

    def _end(self, pair: PairPosterior, track: Ints, ends: Bools) -> None:
        """Say how those of the mothers' tracks end that nothing carries on; later links across gaps may know better."""
        if not ends.any():
            return
        row, told = track[ends] - 1, endings_of(pair)
        self._ending[row] = told.kind[ends]
        self._p_ending[row, 0], self._p_ending[row, 1] = told.probability[ends], told.p_divide[ends]

    def _new(self, mothers: Ints, frame: int) -> Ints:
        end = self._n + len(mothers)
        if end > len(self._rows):
            longer = max(2 * len(self._rows), end)
            self._rows = np.resize(self._rows, (longer, 3)).astype(np.int64, copy=False)
            self._log = np.resize(self._log, (longer, 2)).astype(np.float64, copy=False)
            self._family = np.resize(self._family, longer + 1).astype(np.int64, copy=False)
            self._ending = np.resize(self._ending, longer).astype(np.int64, copy=False)
            self._p_ending = np.resize(self._p_ending, (longer, 2)).astype(np.float64, copy=False)
            self._judged = np.resize(self._judged, (longer, 2)).astype(np.float64, copy=False)
        self._rows[self._n : end, :2] = frame
        self._rows[self._n : end, 2] = mothers
        self._log[self._n : end] = self._judged[self._n : end] = 0.0
        self._ending[self._n : end], self._p_ending[self._n : end] = END, 1.0
        numbers = self._n + 1 + np.arange(len(mothers))
        self._family[numbers] = np.where(mothers > 0, self._family[mothers], numbers)
        self._n = end
        return numbers

    def family(self, track: Ints) -> Ints:
        """(n,) the first track of the family of each track."""
        return self._family[track]

    @property
    def p_cell(self) -> Floats:
        """(T,) how probably each track so far is a cell, on average over its objects; NaN where masks are trusted."""
        total, known = self._judged[: self._n].T
        return np.where(known > 0, total / np.maximum(known, 1), np.nan)

    def table(self) -> list[TrackRow]:
        """List all tracks so far."""
        endings = [ENDINGS[kind] for kind in self._ending[: self._n].tolist()]
        columns = (
            *self._rows[: self._n].T.tolist(),
            *np.exp(self._log[: self._n]).T.tolist(),
            endings,
            *(
                [None if np.isnan(p) else p for p in each.tolist()]
                for each in (self._p_ending[: self._n, 0], self.p_cell)
            ),
        )
        return [TrackRow(track, *values) for track, values in enumerate(zip(*columns, strict=True), 1)]


def numbered(blocks: Iterable[Block], numbers: TrackNumbers) -> Iterator[NumberedBlock]:
    """Number the cells of blocks in frame order."""
    first_node, before = 0, None
    for given in blocks:
        block = given if before is None else given.after(before.block)
        track, here = numbers.follow(block), block.rows(block.first)
        incoming, p_appear = block.incoming.copy(), block.p_appear.copy()
        if before is not None:
            yield before
            there = before.block.rows(len(before.block.frames) - 1)
            incoming[here], p_appear[here] = before.incoming[there], before.p_appear[there]
        known = track, numbers.family(track), incoming, p_appear
        before = NumberedBlock(block, *known, first_node - here.start, is_last=False)
        first_node += int(block.begin[-2]) - here.start
    if before is not None:
        yield replace(before, is_last=True)
