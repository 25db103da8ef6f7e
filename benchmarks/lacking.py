"""Divisions that an annotation seems to lack: a cell ends where two new ones begin on either side of it, unnamed as its daughters.

    DUNNO_DATA=... python -m benchmarks.lacking [--movie Fluo-N2DL-HeLa/02] [-o lacking.png]

A Markdown row for each: the frame of the mother, labels, how far the daughters are from it in diameters, the angle between them as
seen from it, and their common area over its own. `-o` draws each as a row of pictures, from three frames before to two after, with
outlines of the mother (yellow) and the daughters (blue).
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from dunno import Movie, read
from dunno.types import Floats, Truth

REACH, LEAST_ANGLE, AREAS = 1.5, 90.0, (0.5, 2.0)
"""Daughters are within so many diameters of the mother, at least at this angle, and together of about its area."""

BEFORE, AFTER, HALF = 3, 2, 30
"""How many frames are drawn before and after the mother's last one, and how many pixels to either side of it."""


@dataclass(frozen=True)
class Lacking:
    """A division that is not annotated; labels in the annotation's masks."""

    frame: int
    mother: int
    daughters: tuple[int, int]
    place: Floats
    distances: tuple[float, float]
    angle: float
    area: float


def lacking(movie: Movie, truth: Truth) -> list[Lacking]:
    """All of a movie."""
    named = set(truth.mother.tolist())
    found: list[Lacking] = []
    for t in range(len(movie) - 1):
        ends = {int(each) for each in truth.track[truth.last == truth.frames[t]]} - named
        begins = {int(each) for each in truth.track[(truth.first == truth.frames[t + 1]) & (truth.mother == 0)]}
        for mother in sorted(ends):
            each = [_seen(movie, truth, t, mother, pair) for pair in combinations(sorted(begins), 2)]
            near = [one for one in each if one is not None]
            found += sorted(near, key=lambda one: sum(one.distances))[:1]
    return found


def _seen(movie: Movie, truth: Truth, t: int, mother: int, pair: tuple[int, int]) -> Lacking | None:
    """The three cells as a division, if they look like one."""
    before, after = movie.detections(t), movie.detections(t + 1)
    own = _rows(truth, t, before.label, (mother,))
    others = _rows(truth, t + 1, after.label, pair)
    if len(own) != 1 or len(others) != 2:
        return None
    place, diameter = before.centroid[own[0]], float(before.diameter[own[0]])
    ways = after.centroid[others] - place
    distances = np.linalg.norm(ways, axis=1)
    cosine = float(ways[0] @ ways[1] / max(float(distances.prod()), 1e-9))
    angle = float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
    area = float(after.area[others].sum() / before.area[own[0]])
    if distances.max() > REACH * diameter or angle < LEAST_ANGLE or not AREAS[0] <= area <= AREAS[1]:
        return None
    labels = [int(after.label[each]) for each in others]
    near, far = sorted((distances / diameter).tolist())
    frame = int(movie.frames[t])
    return Lacking(frame, int(before.label[own[0]]), (labels[0], labels[1]), place, (near, far), angle, area)


def _rows(truth: Truth, t: int, label: np.ndarray, tracks: tuple[int, ...]) -> list[int]:
    """Rows of the masks of some tracks in a frame."""
    named = [int(each) for track in tracks for each in truth.labels[t][truth.tracks[t] == track]]
    return [int(np.searchsorted(label, each)) for each in named]


def draw(movie: Movie, found: list[Lacking], path: Path) -> None:
    """A row of pictures for each."""
    from matplotlib.figure import Figure

    columns = range(-BEFORE, AFTER + 1)
    figure = Figure(figsize=(1.6 * len(columns), 1.75 * len(found)), layout="constrained")
    axes = figure.subplots(len(found), len(columns), squeeze=False)
    for row, each in zip(axes, found, strict=True):
        at = movie.frames.tolist().index(each.frame)
        middle = np.rint(each.place / np.array(movie.scale)).astype(int)
        box = tuple(slice(max(k - HALF, 0), k + HALF + 1) for k in middle)
        for axis, offset in zip(row, columns, strict=True):
            axis.set_axis_off()
            t = at + offset
            if 0 <= t < len(movie):
                axis.set_title(f"frame {movie.frames[t]}", fontsize=8)
                axis.imshow(movie.images(t)[box], cmap="gray")
                for labels, colour in (((each.mother,), "gold"), (each.daughters, "deepskyblue")):
                    mask = np.isin(movie.masks(t)[box], labels)
                    if mask.any():
                        axis.contour(mask, [0.5], colors=colour, linewidths=1)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--movie", default="Fluo-N2DL-HeLa/02")
    parser.add_argument("-o", "--output", type=Path, default=None)
    given = parser.parse_args()
    movie, truth = read(Path(os.environ["DUNNO_DATA"]) / given.movie, truth=True)
    found = lacking(movie, truth)
    print("| frame | mother | daughters | distances / diameter | angle | area of both / mother's |")
    print("|---|---|---|---|---|---|")
    for each in found:
        one, other = each.daughters
        near, far = each.distances
        print(
            f"| {each.frame} | {each.mother} | {one}, {other} | {near:.1f}, {far:.1f} | {each.angle:.0f}° | {each.area:.2f} |"
        )
    if given.output is not None and found:
        draw(movie, found, given.output)


if __name__ == "__main__":
    main()
