"""Some cells of a block written anew, with the edges that lead to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.assignment import Problem, marginals
from dunno.segments.answer import ObjectEdges
from dunno.segments.repair import problem_of
from dunno.types import Block, Bools, Cells, Floats, Ints
from dunno.types.block import AS_DAUGHTER, AS_MOTHER, OF_EDGES
from dunno.types.detections import PLACED


@dataclass(frozen=True, eq=False)
class Splice:
    """Where the rows and edges of two blocks are in one: first those of the old block, then those of the new one."""

    row: Ints  # (N,) which rows of both stay, by frame and label
    number: tuple[Ints, Ints]  # (2 tables) the number of each row of either block, -1 where it has none
    edge: Ints  # (E,) which edges of both stay, in order


def spliced(old: Block, new: Block, rows: Bools, gone: Ints) -> Block:
    """A block with some cells as a new block of some of its frames has them.

    Taken from the new one are the cells `rows`, with the edges that lead to them; rows `gone` of the old one are cells no more.
    """
    way = _splice(old, new, rows, gone)
    cells = _cells(old, new, way)
    mother, daughter = (_ends(old, new, way, name) for name in ("mother", "daughter"))
    edges: dict[str, Any] = {
        name: np.concatenate([getattr(old, name), getattr(new, name)])[way.edge] for name in OF_EDGES
    }
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(old, name), getattr(new, name)])[way.row] for name in AS_DAUGHTER | AS_MOTHER
    }
    return replace(
        old,
        cells=cells,
        **edges | columns | {"mother": mother, "daughter": daughter},
        samples=np.empty((0, len(cells)), np.int64),
        problem=_problem(old, new, way, mother, daughter, np.exp(edges["log_probability"])),
        is_reviewed=True,
    )


def _splice(old: Block, new: Block, rows: Bools, gone: Ints) -> Splice:
    frame = np.concatenate([old.cells.frame, new.cells.frame])
    label = np.concatenate([old.cells.label, new.cells.label])
    key = frame * (int(label.max(initial=0)) + 1) + label
    n = len(old.cells)
    kept = np.concatenate([~np.isin(key[:n], key[n:][rows]), rows])
    kept[gone] = False
    row = np.flatnonzero(kept)
    row = row[np.argsort(key[row])]
    place = np.searchsorted(key[row], key)
    place = np.where(key[row][np.minimum(place, len(row) - 1)] == key, place, -1)
    number = place[:n], place[n:]
    own = (kept[:n][old.daughter] & (number[0][old.mother] >= 0), rows[new.daughter] & (number[1][new.mother] >= 0))
    edge = np.flatnonzero(np.concatenate(own))
    ends = [
        np.concatenate([number[0][getattr(old, name)], number[1][getattr(new, name)]])
        for name in ("mother", "daughter")
    ]
    far = np.concatenate([old.gap, new.gap]) > 0
    order = np.lexsort((*(each[edge] for each in ends), far[edge], frame[row][ends[1][edge]]))
    return Splice(row, number, edge[order])


def _ends(old: Block, new: Block, way: Splice, name: str) -> Ints:
    numbers = [number[getattr(block, name)] for number, block in zip(way.number, (old, new), strict=True)]
    return np.concatenate(numbers)[way.edge]


def _cells(old: Block, new: Block, way: Splice) -> Cells:
    frame = np.concatenate([old.frame_of, new.frame_of + int(np.searchsorted(old.frames, new.frames[0]))])[way.row]
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(old.cells, name), getattr(new.cells, name)])[way.row] for name in PLACED
    }
    ends = np.searchsorted(frame, np.arange(len(old.frames) + 1)).astype(np.int64)
    cells = old.cells
    return Cells(cells.frames, cells.background, cells.digest, ends, **columns, time=cells.time)


def _problem(old: Block, new: Block, way: Splice, mother: Ints, daughter: Ints, probability: Floats) -> Problem | None:
    """The problem that says what is believed of both."""
    if old.problem is None or new.problem is None:
        return None
    dividing = np.concatenate([marginals(problem).edge_dividing for problem in (old.problem, new.problem)])[way.edge]
    return problem_of(ObjectEdges(mother, daughter, probability, dividing), len(way.row))
