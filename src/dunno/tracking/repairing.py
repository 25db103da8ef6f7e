"""Tracking where masks are not trusted: segments of some frames solved together, and the masks as they are repaired.

A movie is solved at once up to `MASKS_TOGETHER` masks, else in spans of frames, one after the other: each sees frames on either
side of its own, what the one before decided about the frame that they share, and what it believed of the first frame that is seen:
cells may have shared a mask for longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from dunno.segments.answer import Answer, sets_of_states
from dunno.segments.clamps import Clamps
from dunno.segments.drawing import Drawn, draw
from dunno.segments.law_weights import Structure
from dunno.segments.repair import Objects, OtherSegments, Repair, block_of, other_segments
from dunno.segments.segment_model import SegmentModel
from dunno.segments.table import SegmentTable, segment_table
from dunno.types import Block, Floats, Ints, Movie
from dunno.types.labels import LabelImage
from dunno.work.progress import Tell, ignore_progress

MASKS_TOGETHER = 60_000  # masks; judged
"""So many are solved at once."""

LOOK_AROUND = 24  # frames; judged
"""On either side of a span: longer than two cells usually share a mask."""


@dataclass(frozen=True, eq=False)
class RepairedSpan:
    """Some frames, solved."""

    block: Block  # Their objects, links and probabilities
    drawn: Mapping[int, Drawn]  # By position in the movie, what is drawn again in a frame
    repairs: tuple[Repair, ...]  # What became of masks
    others: OtherSegments  # Segments that were not chosen


class Before(NamedTuple):
    """What a span tells the next one."""

    ranks: Ints  # Of the sets of masks in the frame that they share
    beliefs: Floats  # Of the states of masks in the first frame that the next one sees


def repaired_spans(movie: Movie, model: SegmentModel, tell: Tell = ignore_progress) -> Iterator[RepairedSpan]:
    """Solve a movie, span after span."""
    before: Before | None = None
    size = _pairs_together(movie, model)
    for start in range(0, len(movie) - 1, size):
        tell("tracking frames", start, len(movie) - 1)
        stop = min(start + size, len(movie) - 1)
        first, end = max(start - LOOK_AROUND, 0), min(stop + 1 + LOOK_AROUND, len(movie))
        table = segment_table(movie.part(slice(first, end)), model.seen, model.options.parts)
        found, before = _solved(table, model, range(start - first, stop - first), first, before)
        yield found
    tell("tracking frames", len(movie) - 1, len(movie) - 1)


def _pairs_together(movie: Movie, model: SegmentModel) -> int:
    """How many frame pairs are solved at once, by the movie alone."""
    most = int(MASKS_TOGETHER / max(model.scale.crowd, 1.0))
    return len(movie) if len(movie) <= most else max(most - 2 * LOOK_AROUND, LOOK_AROUND)


def _solved(
    table: SegmentTable, model: SegmentModel, own: range, first: int, before: Before | None
) -> tuple[RepairedSpan, Before]:
    """Solve a span, given what the one before tells; with what it tells the next one."""
    masks = table.masks
    structure, posterior, answer = model.solve(table.segments, partial(_given, table, own.start, before))
    objects = Objects.of(table, answer)
    share = border_share(model, table, answer)
    block = block_of(objects, structure, posterior, share, own)
    told = range(own.start + (0 if before is None else 1), own.stop + 1)
    repairs = tuple(repair for t in told for repair in objects.repairs(t))
    frames = masks.frames[[told.start, told.stop - 1]]
    others = other_segments(table, structure, posterior, answer)
    inside = (others.frame >= frames[0]) & (others.frame <= frames[1])
    span = RepairedSpan(
        block,
        {first + t: objects.drawn(t) for t in told},
        repairs,
        OtherSegments(*(column[inside] for column in others)),
    )
    seen_next = masks.rows(max(own.stop - LOOK_AROUND, 0))
    states = np.isin(structure.hypotheses.mask, np.arange(seen_next.start, seen_next.stop))
    return span, Before(_ranks(structure, answer)[masks.rows(own.stop)], posterior.state[states])


def _numbers_by_mask(structure: Structure) -> tuple[Ints, Ints]:
    """Each mask's sets in order: (Q,) the mask, and the set's number."""
    number = sets_of_states(structure.segments, structure.holdings)
    span = int(number.max(initial=0)) + 1
    mask, own = np.divmod(np.unique(structure.hypotheses.mask * span + number), span)
    return mask, own


def _ranks(structure: Structure, answer: Answer) -> Ints:
    """(M,) which of its mask's sets was chosen: sets of a frame have the same order wherever a span begins."""
    mask, own = _numbers_by_mask(structure)
    rank = np.arange(len(mask)) - np.searchsorted(mask, mask)
    chosen = own == answer.sets[mask]
    return np.asarray(rank[chosen])


def _given(table: SegmentTable, t: int, before: Before | None, structure: Structure) -> Clamps:
    """The sets of a frame, by their ranks, and what is believed of states in the first one."""
    if before is None:
        return Clamps.none(structure)
    mask, own = _numbers_by_mask(structure)
    rows = table.masks.rows(t)
    given = np.full(table.segments.n_masks, -1, np.int64)
    given[rows] = own[np.searchsorted(mask, np.arange(rows.start, rows.stop)) + before.ranks]
    beliefs = np.full(structure.hypotheses.n_states, np.nan)
    beliefs[: len(before.beliefs)] = before.beliefs  # states are sorted by mask, and masks by frame
    return replace(Clamps.none(structure, given), beliefs=beliefs)


def border_share(model: SegmentModel, table: SegmentTable, answer: Answer) -> Floats:
    """(K,) of ending, the share that the border explains."""
    turnover = model.laws.turnover
    at_border = table.segments.at_border[answer.segment]
    return np.where(at_border, max(1 - turnover.end / max(turnover.end_at_border, 1e-12), 0.0), 0.0)


@dataclass(frozen=True)
class RepairedMasks:
    """The masks of a movie as they are repaired, drawn when they are asked for."""

    movie: Movie
    drawn: Mapping[int, Drawn] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.movie)

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """Of a frame."""
        return self.movie.shape

    def where(self, t: int) -> str:
        """Names a frame in messages."""
        return f"{self.movie.where(t)}, repaired"

    def __getitem__(self, t: int) -> LabelImage:
        changes = self.drawn.get(t)
        masks = self.movie.masks(t)
        if changes is None or not len(changes.row):
            return masks
        return draw(masks, self.movie.detections(t).without_pixels(), np.array(self.movie.scale), changes)


def repaired_movie(movie: Movie, drawn: Mapping[int, Drawn]) -> Movie:
    """View of a movie with its masks repaired, not measured yet."""
    return movie.with_masks(RepairedMasks(movie, drawn), f"{movie.mask_source}, repaired")
