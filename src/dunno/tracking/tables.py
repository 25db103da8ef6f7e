"""A tracked movie as two tables: every cell with what became of it, every candidate edge with its probability."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dunno.lineage.tracks import FrameRecord, TrackNumbers, records
from dunno.types import Bools, Floats, Ints, PairPosterior


@dataclass(frozen=True, eq=False)
class CellTable:
    """One row per mask, frame by frame; NaN where a probability is undefined.

    Attributes:
        frame: (N,) original index of the frame.
        label: (N,) as in the masks.
        track: (N,) counted from 1.
        place: (N, d) centre, in physical units.
        area: (N,) in physical units.
        entropy: (N,) of the mother's identity.
        p_appear: (N,) that it has no mother, here or in an earlier frame.
        p_disappear: (N,) that it has no daughter in the frames that were looked at.
        p_divide: (N,) that it has two.
        p_false: (N,) that the mask holds no cell; NaN where it is taken for one, and nobody said otherwise.
        p_two: (N,) that it holds two; NaN likewise.
    """

    frame: Ints
    label: Ints
    track: Ints
    place: Floats
    area: Floats
    entropy: Floats
    p_appear: Floats
    p_disappear: Floats
    p_divide: Floats
    p_false: Floats
    p_two: Floats

    def __len__(self) -> int:
        return len(self.frame)


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """One row per candidate edge.

    Attributes:
        mother: (E,) row of the mother in the table of cells.
        daughter: (E,) row of the daughter.
        gap: (E,) frames skipped between them; 0 for neighbours.
        cost: (E,) cost of the edge.
        log_probability: (E,) log P(mother | daughter).
        selected: (E,) whether it is a link.
    """

    mother: Ints
    daughter: Ints
    gap: Ints
    cost: Floats
    log_probability: Floats
    selected: Bools

    def __len__(self) -> int:
        return len(self.mother)

    @property
    def probability(self) -> Floats:
        """(E,) P(mother | daughter)."""
        return np.exp(self.log_probability)


def cell_table(pairs: Iterable[PairPosterior]) -> CellTable:
    """The cells of all pairs."""
    frames: list[FrameRecord] = [record for record, _ in records(pairs, TrackNumbers())]
    cells = [each.detections for each in frames]

    def joined(name: str) -> Floats:
        return np.concatenate([getattr(each, name) for each in frames])

    def held(name: str) -> Floats:
        unknown = (np.full(len(each), np.nan) for each in cells)
        known = (None if each.held is None else getattr(each.held, name) for each in frames)
        return np.concatenate([no if yes is None else yes for no, yes in zip(unknown, known, strict=True)])

    return CellTable(
        frame=np.concatenate([np.full(len(each), each.frame) for each in cells]),
        label=np.concatenate([each.label for each in cells]),
        track=np.concatenate([each.track for each in frames]),
        place=np.concatenate([each.centroid for each in cells]),
        area=np.concatenate([each.area for each in cells]),
        **{name: joined(name) for name in ("entropy", "p_appear", "p_disappear", "p_divide")},
        p_false=held("p_false"),
        p_two=held("p_two"),
    )


def edge_table(pairs: Iterable[PairPosterior]) -> EdgeTable:
    """The edges of all pairs, those across gaps after the others that lead to the same frame."""
    first: dict[int, int] = {}
    kinds = (np.int64, np.int64, np.int64, np.float64, np.float64, np.bool_)
    parts: list[tuple[np.ndarray, ...]] = [tuple(np.empty(0, kind) for kind in kinds)]
    for pair in pairs:
        if not first:
            first[pair.mother_frame] = 0
        begin = first[pair.mother_frame] + len(pair.mothers)
        first[pair.daughter_frame] = begin
        mother, daughter = pair.mother + first[pair.mother_frame], pair.daughter + begin
        none = np.zeros(len(mother), np.int64)
        parts.append((mother, daughter, none, pair.cost, pair.log_probability, pair.selected))
        if (gaps := pair.gaps) is not None:
            mother = np.array([first[frame] for frame in gaps.mother_frame.tolist()], np.int64) + gaps.mother
            parts.append((mother, gaps.daughter + begin, gaps.gap, gaps.cost, gaps.log_probability, gaps.selected))
    return EdgeTable(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
