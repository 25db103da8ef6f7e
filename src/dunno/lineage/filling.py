"""Cells filled in where a link skips frames, for tools that need every frame of a track; they are marked as such.

A link across a gap becomes steps from frame to frame, each as probable as the link, over cells on the straight line from mother to
daughter. A mother that divides across a gap stays one cell until the last step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.types import Block, Cells, Floats, Ints
from dunno.types.block import AS_DAUGHTER, AS_MOTHER

Step = tuple[int, int, float, float]
"""Rows of mother and daughter, cost, and log probability."""


@dataclass(frozen=True, eq=False)
class _Fillers:
    """Cells that are filled in, a row each, and the steps over them, in which they are numbered after all real cells."""

    t: Ints  # (F,) position of each one's frame
    place: Floats  # (F, d) its centre
    area: Floats  # (F,) its area
    borrowed: Ints  # (F, 2) frame and row within it of the cell whose mask it borrows
    steps: list[Step]  # From real cells and fillers to others


def filled(block: Block) -> Block:
    """A whole movie without links across gaps, but with cells filled in on their way; its problem is left out."""
    fillers = _fillers(block)
    n, frames = len(block.cells), np.arange(len(block.frames))
    order = np.lexsort((np.arange(n + len(fillers.t)), np.concatenate([block.frame_of, fillers.t])))
    row = np.argsort(order)  # of real cells, then of fillers
    counts = np.diff(block.begin) + np.bincount(fillers.t, minlength=len(frames))
    cells = _with_fillers(block.cells, fillers, order, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    kept = ~(block.selected & (block.gap > 0))
    step = np.array(fillers.steps, np.float64).reshape(-1, 4)
    ends = step[:, :2].astype(np.int64).T
    columns: dict[str, Any] = {
        "mother": row[np.concatenate([block.mother[kept], ends[0]])],
        "daughter": row[np.concatenate([block.daughter[kept], ends[1]])],
        "gap": np.concatenate([block.gap[kept], np.zeros(len(step), np.int64)]),
        "cost": np.concatenate([block.cost[kept], step[:, 2]]),
        "log_probability": np.concatenate([block.log_probability[kept], step[:, 3]]),
        "selected": np.concatenate([block.selected[kept], np.ones(len(step), np.bool_)]),
    }
    far = columns["gap"] > 0
    frame = np.repeat(frames, counts)[columns["daughter"]]
    near_order = (np.where(far, 0, columns[name]) for name in ("mother", "daughter"))
    edges = np.lexsort((*near_order, 2 * frame + far))
    columns = {name: values[edges] for name, values in columns.items()}
    for name, unknown in (AS_DAUGHTER | AS_MOTHER).items():
        values = getattr(block, name)
        columns[name] = np.concatenate([values, np.full(len(fillers.t), unknown, values.dtype)])[order]
    here = np.bincount(row[ends[1]], np.exp(step[:, 3]), minlength=len(cells))
    none = np.exp(np.concatenate([block.log_no_mother, np.zeros(len(fillers.t))]))[order]
    with np.errstate(divide="ignore"):
        columns["log_no_mother"] = np.log(np.clip(none - here, 0.0, 1.0))
    columns |= {name: np.full(len(cells), np.nan) for name in ("p_segment", "p_cell")}
    return replace(block, cells=cells, **columns, samples=np.empty((0, len(cells)), np.int64), problem=None)


def _fillers(block: Block) -> _Fillers:
    """What is filled in for all links across gaps, frame by frame."""
    n, d, frames = len(block.cells), block.cells.centroid.shape[1], block.frames
    t, place, area, borrowed, steps = list[int](), list[Floats](), list[float](), list[list[int]](), list[Step]()
    link = np.flatnonzero(block.selected & (block.gap > 0))
    late = block.frame_of[block.daughter[link]]
    link = link[np.lexsort((link, block.mother[link], late))]
    ends = np.stack([block.frame_of[block.daughter[link]], block.mother[link]])
    for group in np.split(link, np.flatnonzero(np.diff(ends, axis=1).any(axis=0)) + 1) if len(link) else []:
        mother, daughters = int(block.mother[group[0]]), block.daughter[group]
        first, last = int(block.frame_of[mother]), int(block.frame_of[daughters[0]])
        goal, size = block.cells.centroid[daughters].mean(axis=0), float(block.cells.area[daughters].mean())
        best = group[np.argmax(block.log_probability[group])]
        row = mother
        for between in range(first + 1, last):
            share = (int(frames[between]) - int(frames[first])) / (int(frames[last]) - int(frames[first]))
            t.append(between)
            place.append((1 - share) * block.cells.centroid[mother] + share * goal)
            area.append((1 - share) * float(block.cells.area[mother]) + share * size)
            borrowed.append([int(frames[first]), mother - int(block.begin[first])])
            steps.append((row, n + len(t) - 1, float(block.cost[best]), float(block.log_probability[best])))
            row = n + len(t) - 1
        for e in group.tolist():
            steps.append((row, int(block.daughter[e]), float(block.cost[e]), float(block.log_probability[e])))
    columns = np.array(t, np.int64), np.array(place).reshape(-1, d), np.array(area)
    return _Fillers(*columns, np.array(borrowed, np.int64).reshape(-1, 2), steps)


def _with_fillers(cells: Cells, fillers: _Fillers, order: Ints, ends: Ints) -> Cells:
    """The cells with fillers after those of each frame, under labels that are not taken."""
    largest = np.array([cells.label[cells.rows(t)].max(initial=0) for t in range(cells.n_frames)], np.int64)
    before = np.concatenate([[0], np.cumsum(np.bincount(fillers.t, minlength=cells.n_frames))])
    by_frame = np.argsort(fillers.t, kind="stable")
    label = np.empty(len(by_frame), np.int64)
    label[by_frame] = largest[fillers.t[by_frame]] + 1 + np.arange(len(by_frame)) - before[fillers.t[by_frame]]
    return Cells(
        frames=cells.frames,
        background=cells.background,
        digest=cells.digest,
        ends=ends,
        label=np.concatenate([cells.label, label])[order],
        centroid=np.concatenate([cells.centroid, fillers.place])[order],
        area=np.concatenate([cells.area, fillers.area])[order],
        bbox=np.concatenate([cells.bbox, np.zeros((len(label), *cells.bbox.shape[1:]), np.int64)])[order],
        filled_from=np.concatenate([np.full((len(cells), 2), -1, np.int64), fillers.borrowed])[order],
    )
