"""Which masks hold which annotated cells, of the real movies with a program's masks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dunno import Movie, read
from dunno.types.labels import LabelImage, count_overlaps, measure

MASKS = {
    "iPSC-07/01": "iPSC-07/01_GT/TRA",
    "iPSC-07/02": "iPSC-07/02_GT/TRA",
    "iPSC-07/03": "iPSC-07/03_GT/TRA",
    "iPSC-02/01": "iPSC-02/01_GT/TRA",
    "PhC-C2DL-PSC/01": "PhC-C2DL-PSC/01_ST/SEG",
}
"""Movies of which there are a program's masks (`_RES`), and where their annotated cells are drawn in full."""

QUARTER = 0.25
"""A cell is held by the mask that covers most of it, if that is so much of it at least."""


def with_annotation(data: Path, name: str) -> tuple[Movie, Movie]:
    """A movie with a program's masks, and with the annotation's."""
    return read(data / name, masks=data / f"{name}_RES"), read(data / name, masks=data / MASKS[name])


def cells_held(masks: LabelImage, annotated: LabelImage) -> dict[int, list[int]]:
    """By mask, the annotated cells that it holds."""
    place = measure(annotated, "annotation")
    area = dict(zip(place.label.tolist(), place.area.tolist(), strict=True))
    best: dict[int, tuple[int, int]] = {}
    for cell, mask, pixels in zip(*(each.tolist() for each in count_overlaps(annotated, masks)), strict=True):
        if pixels >= QUARTER * area[cell]:
            best[cell] = max(best.get(cell, (0, 0)), (pixels, mask))
    held: dict[int, list[int]] = {}
    for cell, (_, mask) in best.items():
        held.setdefault(mask, []).append(cell)
    return held


def numbers_held(movie: Movie, annotated: Movie) -> np.ndarray:
    """(N,) how many annotated cells each mask of a movie holds, frame by frame."""
    counts = []
    for t in range(len(movie)):
        held = cells_held(movie.masks(t), annotated.masks(t))
        counts += [len(held.get(label, ())) for label in movie.detections(t).label.tolist()]
    return np.array(counts)
