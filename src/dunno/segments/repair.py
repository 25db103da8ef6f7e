"""An answer about segments in the forms of the rest of the house: a block of objects, and masks that are drawn again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dunno.assignment import Problem, Triples, every_pair, marginals
from dunno.assignment.distributions import normalise
from dunno.segments.answer import NO_SEGMENT, Answer, ObjectEdges
from dunno.segments.drawing import Drawn, spare_labels
from dunno.segments.law_weights import Structure
from dunno.segments.posterior import SegmentPosterior
from dunno.segments.regions import UNCUT
from dunno.segments.table import SegmentTable
from dunno.types import Block, Bools, Cells, Floats, Ints

LEAST, SCALINGS, DAMPING, MOST_CHANGE = 1e-6, 12, 0.5, 3.0  # probability, rounds, power, nats; judged
"""Probabilities are matched down to this; how often weights are scaled, by what power, and by how much at the most, in nats."""

LEAST_LISTED = 0.01  # probability; display
"""Segments that were not chosen are listed from this probability on."""


class Repair(NamedTuple):
    """What became of a mask, one of the rows of `repairs.csv`.

    Attributes:
        frame: Original index.
        mask: The given label.
        label: What is drawn instead; `None` where it is left out.
        what: "split", "joined" or "left out".
        probability: That it is so.
    """

    frame: int
    mask: int
    label: int | None
    what: str
    probability: float


class OtherSegments(NamedTuple):
    """Segments that may be objects and were not chosen, a row each of `segments.csv`."""

    frame: Ints
    id: Ints
    mask: Ints
    other_mask: Ints
    area: Floats
    centroid: Floats
    p_segment: Floats


@dataclass(frozen=True, eq=False)
class Objects:
    """The chosen segments of some frames, a row each, by frame and label.

    Attributes:
        table: All segments.
        answer: The answer, whose rows are those of `order`.
        order: (K,) the answer's row of each object.
        frame: (K,) position of its frame.
        label: (K,) what it is called.
    """

    table: SegmentTable
    answer: Answer
    order: Ints
    frame: Ints
    label: Ints

    @classmethod
    def of(cls, table: SegmentTable, answer: Answer) -> Objects:
        """Masks that are not changed keep their labels; others get labels that no mask of the frame has."""
        segments, masks = table.segments, table.masks
        frame = segments.frame[answer.segment]
        label = masks.label[segments.masks[answer.segment, 0]].copy()
        changed = ~_is_whole(table, answer.segment)
        begin = np.searchsorted(frame, np.arange(segments.n_frames + 1))
        for t in np.unique(frame[changed]).tolist():
            rows = begin[t] + np.flatnonzero(changed[begin[t] : begin[t + 1]])
            label[rows] = spare_labels(masks.label[masks.rows(t)], len(rows))
        return cls.labelled(table, answer, label)

    @classmethod
    def labelled(cls, table: SegmentTable, answer: Answer, label: Ints) -> Objects:
        """The answer's segments, called as given."""
        frame = table.segments.frame[answer.segment]
        order = np.lexsort((label, frame))
        return cls(table, answer, order, frame[order], label[order])

    @property
    def segment(self) -> Ints:
        """(K,) rows of the table."""
        return self.answer.segment[self.order]

    @property
    def changed(self) -> Bools:
        """(K,) which are parts or unions."""
        return ~_is_whole(self.table, self.segment)

    def cells(self) -> Cells:
        """As cells are measured."""
        table, n = self.table, self.table.segments.n_frames
        ends = np.searchsorted(self.frame, np.arange(n + 1)).astype(np.int64)
        return Cells(
            table.masks.frames, np.full(n, np.nan), np.zeros(n, np.uint64), ends, self.label, table.centroid[self.segment],
            table.area[self.segment], table.bbox[self.segment], time=table.masks.time,
        )  # fmt: skip

    def drawn(self, t: int) -> Drawn:
        """What is drawn again in a frame."""
        segments, begin = self.table.segments, int(self.table.masks.ends[t])
        own = np.flatnonzero(self.changed & (self.frame == t))
        masks = segments.masks[self.segment[own]]
        one, both = (
            np.concatenate([own, own[masks[:, 1] >= 0]]),
            np.concatenate([masks[:, 0], masks[masks[:, 1] >= 0, 1]]),
        )
        gone = np.flatnonzero(self.answer.sets[self.table.masks.rows(t)] == NO_SEGMENT)
        return Drawn(
            np.concatenate([both - begin, gone]),
            np.concatenate([self.table.number[self.segment[one]], np.full(len(gone), UNCUT)]),
            np.concatenate([self.label[one], np.zeros_like(gone)]),
        )

    def repairs(self, t: int) -> Iterator[Repair]:
        """What was changed in a frame."""
        masks, rows = self.table.masks, self.table.masks.rows(t)
        frame, drawn = int(masks.frames[t]), self.drawn(t)
        for row, number, label in zip(*(each.tolist() for each in drawn), strict=True):
            what = "left out" if label == 0 else "joined" if number == UNCUT else "split"
            probability = float(self.answer.set_probability[rows.start + row])
            yield Repair(frame, int(masks.label[rows.start + row]), label or None, what, probability)


def _is_whole(table: SegmentTable, segment: Ints) -> Bools:
    return np.asarray(segment < table.segments.n_masks)


def other_segments(
    table: SegmentTable, structure: Structure, posterior: SegmentPosterior, answer: Answer
) -> OtherSegments:
    """Those that are not in the answer."""
    segments, holdings = table.segments, structure.holdings
    p_segment = np.bincount(holdings.segment, posterior.state[holdings.state], len(segments.frame)).astype(np.float64)
    p_segment[answer.segment] = 0.0
    rows = np.flatnonzero(p_segment >= LEAST_LISTED)
    rows = rows[np.argsort(segments.frame[rows], kind="stable")]
    label = table.masks.label
    one, other = segments.masks[rows].T
    return OtherSegments(
        table.masks.frames[segments.frame[rows]], rows, label[one], np.where(other >= 0, label[np.maximum(other, 0)], 0),
        table.area[rows], table.centroid[rows], p_segment[rows],
    )  # fmt: skip


def block_of(
    objects: Objects, structure: Structure, posterior: SegmentPosterior, border_share: Floats, own: range
) -> Block:
    """What is believed of the objects of some frames, with a problem that says the same.

    Args:
        objects: The answer's.
        structure: What may be.
        posterior: What is believed of it.
        border_share: (K,) of ending, the share of having left the field.
        own: The frame pairs that the block tells of, by their earlier frames.
    """
    answer, n = objects.answer, len(objects.order)
    place = np.empty(n, np.int64)
    place[objects.order] = np.arange(n)
    edges = answer.edges
    mother, daughter = place[edges.mother], place[edges.daughter]
    gap = objects.frame[daughter] - objects.frame[mother] - 1
    order = np.lexsort((mother, daughter, gap > 0, objects.frame[daughter]))
    mother, daughter, gap = mother[order], daughter[order], gap[order]
    sorted_edges = ObjectEdges(mother, daughter, edges.probability[order], edges.dividing[order])
    near = gap == 0
    earlier = np.bincount(daughter, sorted_edges.probability, n)
    into = np.bincount(daughter[near], sorted_edges.probability[near], n)
    gone, divide = answer.disappear[objects.order], answer.divide[objects.order]
    scaled = sorted_edges.probability / np.maximum(earlier, 1.0)[daughter]
    with np.errstate(divide="ignore"):
        logs = np.log(scaled)
        spread = normalise(logs[near], np.log(np.clip(1 - into / np.maximum(earlier, 1.0), 0.0, 1.0)), daughter[near])
        events: dict[str, Any] = {"log_disappear": np.log(gone), "log_divide": np.log(divide)}
    logs[near] = spread.log_probability
    less = np.log1p(np.clip(earlier - into, 0, 1) / np.maximum(1 - np.minimum(earlier, 1.0), 1e-6))
    return Block.of(
        objects.cells(),
        mother=mother,
        daughter=daughter,
        gap=gap,
        cost=-logs,
        log_probability=logs,
        selected=answer.selected[order],
        log_no_mother=spread.log_no_mother,
        entropy=spread.entropy,
        **events,
        appears_less=less,
        border_share=border_share[objects.order],
        p_segment=answer.p_segment[objects.order],
        p_cell=answer.p_cell[objects.order],
        problem=problem_of(sorted_edges, n),
        has_events=True,
    ).part(own.start, own.stop)


def problem_of(edges: ObjectEdges, n: int) -> Problem:
    """The assignment problem whose marginals are these probabilities, so that lineages can be drawn and decisions followed.

    Weights begin as the probabilities of edges alone, of pairs of edges in divisions, and of events; then they are scaled until the
    marginals fit (iterative proportional fitting, damped).
    """
    b = np.clip(edges.probability, LEAST, 1.0)
    dividing = np.clip(edges.dividing, LEAST, b)
    single = np.maximum(b - dividing, LEAST)
    divide = np.maximum(0.5 * np.bincount(edges.mother, dividing, n), LEAST)
    none = np.maximum(1 - np.bincount(edges.daughter, b, n), LEAST)
    ends = np.maximum(1 - np.bincount(edges.mother, single, n) - divide, LEAST)
    first, second = every_pair(edges.mother)
    impossible = (dividing[first] <= LEAST) | (dividing[second] <= LEAST)
    triples = Triples(first, second, np.where(impossible, np.inf, 0.0))
    events = {"appear": -np.log(none), "disappear": -np.log(ends), "divide": -np.log(divide)}
    problem = Problem(
        edges.mother, edges.daughter, -np.log(single), n, n, **events, dividing_cost=-np.log(dividing), triples=triples
    )
    for _ in range(SCALINGS):
        found = marginals(problem)
        assert problem.dividing_cost is not None
        problem = replace(
            problem,
            cost=problem.cost - _more(single, found.edge - found.edge_dividing),
            dividing_cost=problem.dividing_cost - _more(dividing, found.edge_dividing),
            appear=problem.appear - _more(none, found.appear),
            disappear=problem.disappear - _more(ends, found.disappear),
        )
    return problem


def _more(wanted: Floats, found: Floats) -> Floats:
    """By how much a weight grows in one scaling."""
    change = np.log(wanted) - np.log(np.maximum(found, LEAST))
    return np.asarray(np.clip(DAMPING * change, -MOST_CHANGE, MOST_CHANGE))
