"""The family around a cell: its ancestors, and all that descends from them, over some frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from dunno.report.forest import lanes
from dunno.review.review import Review

BACK, AHEAD = 24, 24
MOST_RELATIVES = 400
"""Cells of a family that are shown at most."""


def family(review: Review, row: int, back: int = BACK, ahead: int = AHEAD) -> dict[str, Any]:
    """The family of a daughter as reported now: cells, links with probabilities, and where to draw them.

    A cell has a place in time, its row in the review's table (none in the first frame) and a lane; daughters of a division get
    lanes beside each other.
    """
    t = review.table.pair_of(row)
    index = review.table.index(row)
    first, root = _climb(review, t + 1, index, back)
    cells, links = _descend(review, first, root, min(t + 1 + ahead, review.table.n_pairs))
    return {
        "cells": _with_lanes(cells, links),
        "links": [{"from": a, "to": b, "probability": p} for a, b, p in links],
        "here": next((k for k, cell in enumerate(cells) if (cell["t"], cell["index"]) == (t + 1, index)), None),
    }


def _climb(review: Review, t: int, index: int, back: int) -> tuple[int, int]:
    """The earliest ancestor within some frames: its place in time and its index there."""
    oldest = t - back
    while t > max(oldest, 0) and (link := review.link_into(t - 1, index)) is not None:
        t, index, _ = link
    return t, index


def _descend(
    review: Review, first: int, root: int, last: int
) -> tuple[list[dict[str, Any]], list[tuple[int, int, float]]]:
    number = {(first, root): 0}
    cells, links = [_cell(review, first, root)], []
    for t in range(first, last):
        for when, mother, daughter, probability in zip(*map(np.ndarray.tolist, review.links_into(t)), strict=True):
            if (when, mother) not in number or len(cells) >= MOST_RELATIVES:
                continue
            if (t + 1, daughter) not in number:
                number[t + 1, daughter] = len(cells)
                cells.append(_cell(review, t + 1, daughter))
            links.append((number[when, mother], number[t + 1, daughter], round(probability, 4)))
    return cells, links


def _cell(review: Review, t: int, index: int) -> dict[str, Any]:
    detections = review.frame_cells(t)
    row = None if t == 0 else int(review.table.rows(t - 1)[index])
    return {"t": t, "index": index, "frame": detections.frame, "label": int(detections.label[index]), "row": row}


def _with_lanes(cells: list[dict[str, Any]], links: list[tuple[int, int, float]]) -> list[dict[str, Any]]:
    daughters: dict[int, list[int]] = {}
    for mother, daughter, _ in links:
        daughters.setdefault(mother, []).append(daughter)
    lane = lanes(0, daughters)
    return [{**cell, "lane": lane.get(k, 0.0)} for k, cell in enumerate(cells)]
