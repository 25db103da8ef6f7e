"""Ways of cutting masks that hold two or three annotated cells: how well the parts overlap the cells.

    DUNNO_DATA=... python -m benchmarks.parts [--movies iPSC-07/01,...] [--every N]

A Markdown row per movie: the mean over masks of the intersection over union of each part with its cell. `neck` is what `dunno`
does: a watershed of the distance to the outline, and two-means where that has one summit. `image` is a watershed of the smoothed
image from its two clearest summits, `neighbours` gives each pixel to the nearer of the two masks of a neighbouring frame that lie
in this one, and `annotation` to the nearer cell: what no cut of the mask can surpass. HeLa 02 has heavy faults, as in
`benchmarks.mask_sets`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.segmentation import watershed

from benchmarks.held import MASKS, cells_held, with_annotation
from benchmarks.mask_sets import FAULTS
from dunno import Movie, read
from dunno.segments.drawing import Drawn, draw
from dunno.segments.pixels import cut
from dunno.simulate import spoil

SPOILED = "Fluo-N2DL-HeLa/02"
EVERY = {"PhC-C2DL-PSC/01": 15, "iPSC-07/03": 2, SPOILED: 2}
SMOOTHED = 2.0
"""Pixels by which the image is smoothed before its watershed: of 1, 2 and 3, none does better than two-means."""

SEED = 0.3
"""A mask of a neighbouring frame counts where so much of it lies in this one."""

Pixels = NDArray[np.bool_]
HEADER = "| movie | masks of two | two-means | neck | image | annotation | with neighbours | neck | neighbours | of three | three-means | neck | annotation |"  # noqa: E501


class Case(NamedTuple):
    """A mask in its box, the annotated cells that it holds, and what is drawn of it."""

    mask: Pixels
    cells: list[Pixels]
    neck: NDArray[np.int64]
    image: NDArray[np.float64] | None
    neighbours: list[Pixels]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--movies", default=",".join([*MASKS, SPOILED]))
    parser.add_argument("--every", type=int)
    given = parser.parse_args()
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    data = Path(os.environ["DUNNO_DATA"])
    for name in given.movies.split(","):
        movies = with_annotation(data, name) if name in MASKS else spoiled(data / name)
        cases = list(cases_of(*movies, given.every or EVERY.get(name, 1)))
        two, three = ([case for case in cases if len(case.cells) == n] for n in (2, 3))
        near = [case for case in two if len(case.neighbours) == 2]
        columns = [
            *(mean(two, way) for way in (by_means, by_neck, by_image, by_annotation)), str(len(near)),
            *(mean(near, way) for way in (by_neck, by_neighbours)), str(len(three)),
            *(mean(three, way) for way in (by_means, by_neck, by_annotation)),
        ]  # fmt: skip
        print(f"| {name} | {len(two)} | {' | '.join(columns)} |", flush=True)


def spoiled(path: Path) -> tuple[Movie, Movie]:
    """A movie with heavy faults, and without."""
    movie, truth = read(path, truth=True)
    faults = FAULTS["heavy"]
    assert faults is not None
    return spoil(movie, truth, faults).movie, movie


def cases_of(movie: Movie, annotated: Movie, every: int) -> Iterator[Case]:
    """The masks that hold two annotated cells, or three."""
    for t in range(0, len(movie), every):
        masks, cells, truth = np.asarray(movie.masks(t)), movie.detections(t), np.asarray(annotated.masks(t))
        held = {mask: own for mask, own in cells_held(masks, truth).items() if len(own) in (2, 3)}
        rows = np.searchsorted(cells.label, sorted(held))
        into = np.array([len(held[mask]) for mask in sorted(held)], np.int64)
        parts = cut(masks, None, cells, rows, into, np.ones(2))
        kept = np.ones(len(parts.row), np.bool_)
        for row, n in zip(rows.tolist(), into.tolist(), strict=True):
            own = np.flatnonzero(parts.row == row)
            if n == 3 and len(own) == 4:  # the larger one of the first two is cut again
                kept[own[np.argmax(parts.cells.area[own[:2]])]] = False
        drawn = draw(
            masks.astype(np.int64),
            cells,
            np.ones(2),
            Drawn(*(c[kept] for c in (parts.row, parts.number, 10**6 + parts.number))),
        )
        others = [np.asarray(movie.masks(s)) for s in (t - 1, t + 1) if 0 <= s < len(movie)]
        image = ndimage.gaussian_filter(movie.images(t).astype(float), SMOOTHED) if movie.has_images else None
        for mask in sorted(held):
            own = masks == mask
            found = [truth == cell for cell in held[mask]]
            near = neighbours(own, others)
            box = ndimage.find_objects(np.any([own, *found, *near], axis=0).astype(np.int8))[0]
            yield Case(
                own[box], [each[box] for each in found], np.where(own, drawn, 0)[box],
                None if image is None else image[box], [each[box] for each in near],
            )  # fmt: skip


def neighbours(mask: Pixels, others: list[NDArray[np.integer]]) -> list[Pixels]:
    """The two masks of a neighbouring frame that lie in this one, if there are two; the frame before counts first."""
    for other in others:
        label, pixels = np.unique(other[mask & (other > 0)], return_counts=True)
        large = pixels >= SEED * np.bincount(other.ravel())[label]
        if large.sum() >= 2:
            first = np.argsort(-pixels[large], kind="stable")[:2]
            return [other == each for each in label[large][first]]
    return []


def mean(cases: list[Case], way: Callable[[Case], NDArray[np.int64] | None]) -> str:
    """Of the overlap of parts and cells."""
    overlaps = [overlap(parts, case.cells) for case in cases if (parts := way(case)) is not None]
    return f"{np.mean(overlaps):.3f}" if overlaps else "–"


def overlap(parts: NDArray[np.int64], cells: list[Pixels]) -> float:
    """The mean intersection over union of cells and parts, the best way round."""
    names = [name for name in np.unique(parts).tolist() if name]
    table = np.zeros((len(cells), max(len(cells), len(names))))
    for j, name in enumerate(names):
        part = parts == name
        table[:, j] = [(part & cell).sum() / (part | cell).sum() for cell in cells]
    return max(
        float(np.mean(table[range(len(cells)), order])) for order in permutations(range(table.shape[1]), len(cells))
    )


def by_neck(case: Case) -> NDArray[np.int64]:
    """What `dunno` draws."""
    return case.neck


def by_means(case: Case) -> NDArray[np.int64]:
    """Two-means, or three, of the mask's pixels, beginning along its long axis."""
    places = np.argwhere(case.mask).astype(float)
    value, axes = np.linalg.eigh(np.cov(places.T))
    k = len(case.cells)
    start = np.linspace(-0.4 * k, 0.4 * k, k)[:, None] * axes[:, -1] * np.sqrt(value[-1])
    centres = places.mean(axis=0) + start
    for _ in range(50):
        nearest = np.argmin(((places[:, None] - centres) ** 2).sum(axis=2), axis=1)
        centres = np.array([places[nearest == i].mean(axis=0) for i in range(k)])
    return on(case.mask, nearest)


def by_image(case: Case) -> NDArray[np.int64] | None:
    """A watershed from the two clearest summits of the image."""
    if case.image is None:
        return None
    seeds = summits(case.image, case.mask)
    return by_means(case) if seeds is None else watershed(-case.image, seeds, mask=case.mask).astype(np.int64)


def by_neighbours(case: Case) -> NDArray[np.int64]:
    """Each pixel to the nearer mask of a neighbouring frame."""
    return on(case.mask, nearer(case.neighbours)[case.mask])


def by_annotation(case: Case) -> NDArray[np.int64]:
    """Each pixel to the nearer cell."""
    return on(case.mask, nearer(case.cells)[case.mask])


def on(mask: Pixels, number: NDArray[np.integer]) -> NDArray[np.int64]:
    """The numbers of a mask's pixels, from 1 on, as an image."""
    image = np.zeros(mask.shape, np.int64)
    image[mask] = number + 1
    return image


def nearer(regions: list[Pixels]) -> NDArray[np.int64]:
    """Which region is nearest to each pixel; of those in several, the one in which it lies deepest."""
    away = [ndimage.distance_transform_edt(~region) - ndimage.distance_transform_edt(region) for region in regions]
    return np.argmin(away, axis=0)


def summits(image: NDArray[np.float64], mask: Pixels) -> NDArray[np.int64] | None:
    """The two that a saddle parts from which the lower one rises highest; `None` where there is one only."""
    height = np.pad(np.where(mask, image, -np.inf), 1, constant_values=-np.inf)
    width = height.shape[1]
    flat = height.ravel()
    lake: dict[int, int] = {}
    best, found = 0.0, None

    def root(pixel: int) -> int:
        while lake[pixel] != pixel:
            pixel = lake[pixel] = lake[lake[pixel]]
        return pixel

    for pixel in np.argsort(-flat, kind="stable")[: mask.sum()].tolist():
        lake[pixel] = pixel
        around = (pixel + step for step in (-1, 1, -width, width, -width - 1, -width + 1, width - 1, width + 1))
        tops = sorted({root(other) for other in around if other in lake}, key=lambda top: -flat[top])
        for top in tops:
            if top != tops[0] and flat[top] - flat[pixel] > best:
                best, found = flat[top] - flat[pixel], (tops[0], top)
            lake[top] = tops[0]
        lake[pixel] = tops[0] if tops else pixel
    if found is None:
        return None
    seeds = np.zeros(height.size, np.int64)
    seeds[list(found)] = 1, 2
    return seeds.reshape(height.shape)[1:-1, 1:-1]


if __name__ == "__main__":
    main()
