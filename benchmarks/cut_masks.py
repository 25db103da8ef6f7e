"""Segments of a folder of label images, in plain NumPy: masks, their parts by two- and three-means, unions of near ones.

    python -m benchmarks.cut_masks MASKS

A slow double of what the core measures: benchmarks and tests make their hypotheses with it where nothing else is there.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tifffile

from dunno.segments.segments import Segments
from dunno.types import Bools, Floats, Ints

ROUNDS = 5
"""Of k-means."""

LEAST_AREA, LEAST_SHARE = 8, 0.12
"""Of a part, in pixels and as a share of its mask."""

SMALLEST_CUT = 0.45
"""Masks below this share of a usual mask's area are not cut."""

THREE = 1.5
"""Masks above this many usual areas are cut into three as well."""

SEEN_SHARE, SEEN_AREA = 0.3, 8
"""What of another frame's mask must lie on a mask to seed a cut of it."""

NEAR = 3
"""Masks at most so many pixels apart may be one."""

LARGEST_UNION = 2.5
"""In usual areas."""

BORDER = 3
"""Masks as near to the field's border are at it."""


@dataclass(frozen=True)
class Frame:
    """A label image as lists of pixels."""

    image: Ints
    labels: Ints
    pixels: list[Floats]
    """Of each label, (n, 2)."""


def read_frame(path: Path) -> Frame:
    """A label image."""
    image = tifffile.imread(path).astype(np.int64)
    places = np.stack(np.nonzero(image), axis=1)
    label = image[tuple(places.T)]
    order = np.argsort(label, kind="stable")
    labels, begin = np.unique(label[order], return_index=True)
    return Frame(image, labels, np.split(places[order].astype(np.float64), begin[1:]))


def k_means(pixels: Floats, centres: Floats, rounds: int = ROUNDS) -> Ints:
    """(n,) the part of each pixel; parts may be empty."""
    for k in range(rounds):
        part = ((pixels[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        if k < rounds - 1 and len(np.unique(part)) == len(centres):
            centres = np.array([pixels[part == p].mean(axis=0) for p in range(len(centres))])
    return part


def along_axis(pixels: Floats, k: int) -> Floats:
    """(k, 2) centres along the longest axis."""
    centre = pixels.mean(axis=0)
    spread, axes = np.linalg.eigh((pixels - centre).T @ (pixels - centre) / len(pixels))
    step = axes[:, -1] * np.sqrt(max(spread[-1], 0.25))
    return centre + np.linspace(1.0, -1.0, k)[:, None] * step * (0.8 if k == 2 else 1.2)


class Cutter:
    """Collects the segments of a movie."""

    def __init__(self, frames: list[Frame]) -> None:
        self.frames = frames
        areas = np.array([len(p) for frame in frames for p in frame.pixels])
        self.usual = float(np.median(areas[areas >= 0.1 * np.percentile(areas, 95)]))
        self.rows: list[tuple[object, ...]] = []
        self.cuts: list[list[int]] = []
        self.parts: list[Bools | Ints] = []
        self.first = np.concatenate([[0], np.cumsum([len(frame.labels) for frame in frames])])

    def run(self) -> Segments:
        """All of them."""
        for t, frame in enumerate(self.frames):
            for k, pixels in enumerate(frame.pixels):
                self.rows.append(
                    self._row(t, (int(self.first[t]) + k, -1), pixels, k_means(pixels, along_axis(pixels, 2)))
                )
        for t in range(len(self.frames)):
            self._cut(t)
        for t in range(len(self.frames)):
            self._join(t)
        frame, masks, place, area, border, halves, balance = (list(column) for column in zip(*self.rows, strict=True))
        return Segments(
            np.array(frame),
            np.array(masks),
            np.array(place),
            np.array(area, np.float64),
            np.array(border),
            np.array(halves),
            np.array(balance),
            np.array(self.cuts, np.int64).reshape(-1, 3),
            len(self.frames),
            np.array(self.frames[0].image.shape, np.float64),
        )

    def _row(self, t: int, masks: tuple[int, int], pixels: Floats, half: Ints | None) -> tuple[object, ...]:
        low, high = pixels.min(axis=0), np.array(self.frames[t].image.shape) - 1 - pixels.max(axis=0)
        area, halves, balance = len(pixels), np.full(2, np.nan), np.nan
        if half is not None:
            ends = [pixels[half == h] for h in (0, 1)]
            halves, balance = np.zeros(2), 0.0
            if min(len(end) for end in ends) > 0:
                halves = (ends[0].mean(axis=0) - ends[1].mean(axis=0)) / np.sqrt(area)
                balance = float(np.log(len(ends[0]) / len(ends[1])))
        at_border = bool(min(low.min(), high.min()) < BORDER)
        return t, masks, pixels.mean(axis=0), area, at_border, halves, balance

    def _cut(self, t: int) -> None:
        frame = self.frames[t]
        seeds = [self._seen(t, other) for other in (t - 1, t + 1) if 0 <= other < len(self.frames)]
        for k, pixels in enumerate(frame.pixels):
            if len(pixels) < 20 or len(pixels) < SMALLEST_CUT * self.usual:
                continue
            made: list[Floats] = []
            self._add_cut(t, k, k_means(pixels, along_axis(pixels, 2)), made)
            for seen in seeds:
                for pair in seen.get(k, ()):
                    self._add_cut(t, k, k_means(pixels, pair, 1), made)
            if len(pixels) > THREE * self.usual:
                self._add_cut(t, k, k_means(pixels, along_axis(pixels, 3)), made)

    def _add_cut(self, t: int, k: int, part: Ints, made: list[Floats]) -> None:
        pixels = self.frames[t].pixels[k]
        parts = [pixels[part == p] for p in np.unique(part)]
        if len(parts) < 2 or min(len(p) for p in parts) < max(LEAST_AREA, LEAST_SHARE * len(pixels)):
            return
        centres = np.array([p.mean(axis=0) for p in parts])
        tolerance = LEAST_SHARE * np.sqrt(len(pixels))
        for other in made:
            if len(other) == len(centres) and any(
                (np.linalg.norm(centres - order, axis=1) < tolerance).all() for order in (other, other[::-1])
            ):
                return
        made.append(centres)
        first = len(self.rows)
        self.rows += [self._row(t, (int(self.first[t]) + k, -1), p, None) for p in parts]
        self.cuts.append([*range(first, len(self.rows))] + [-1] * (3 - len(parts)))
        self.parts.append(part)

    def _overlaps(self, t: int, other: int) -> list[tuple[int, int, int]]:
        """Masks of t, masks of the other frame, pixels in common."""
        here, there = self.frames[t], self.frames[other]
        both = (here.image > 0) & (there.image > 0)
        pair, count = np.unique(np.stack([here.image[both], there.image[both]], axis=1), axis=0, return_counts=True)
        own = np.searchsorted(here.labels, pair[:, 0]), np.searchsorted(there.labels, pair[:, 1])
        return list(zip(own[0].tolist(), own[1].tolist(), count.tolist(), strict=True))

    def _seen(self, t: int, other: int) -> dict[int, list[Floats]]:
        """By mask of t, pairs of centres of the other frame's masks that lie mostly on it."""
        found: dict[int, list[tuple[int, int]]] = {}
        for k, j, n in self._overlaps(t, other):
            if n >= max(SEEN_SHARE * len(self.frames[other].pixels[j]), SEEN_AREA):
                found.setdefault(k, []).append((n, j))
        pairs = {}
        for k, seen in found.items():
            best = [j for _, j in sorted(seen, reverse=True)[:3]]
            centre = [self.frames[other].pixels[j].mean(axis=0) for j in best]
            pairs[k] = [np.array([centre[a], centre[b]]) for a in range(len(best)) for b in range(a)]
        return pairs

    def _join(self, t: int) -> None:
        frame = self.frames[t]
        pairs = self._near(t)
        for other in (t - 1, t + 1):
            if 0 <= other < len(self.frames):
                pairs |= self._on_one(t, other)
        for a, b in sorted(pairs):
            pixels = np.concatenate([frame.pixels[a], frame.pixels[b]])
            if len(pixels) > LARGEST_UNION * self.usual:
                continue
            half = np.repeat([0, 1], [len(frame.pixels[a]), len(frame.pixels[b])])
            self.rows.append(self._row(t, (int(self.first[t]) + a, int(self.first[t]) + b), pixels, half))

    def _near(self, t: int) -> set[tuple[int, int]]:
        frame, found = self.frames[t], set()
        for y in range(NEAR + 1):
            for x in range(-NEAR, NEAR + 1):
                if (y, x) <= (0, 0) or y * y + x * x > NEAR * NEAR:
                    continue
                h, w = frame.image.shape
                one, two = frame.image[: h - y, max(0, -x) : w - max(0, x)], frame.image[y:, max(0, x) : w - max(0, -x)]
                differ = (one != two) & (one > 0) & (two > 0)
                for pair in set(zip(one[differ].tolist(), two[differ].tolist(), strict=True)):
                    a, b = np.searchsorted(frame.labels, sorted(pair)).tolist()
                    found.add((a, b))
        return found

    def _on_one(self, t: int, other: int) -> set[tuple[int, int]]:
        """Pairs of masks that lie mostly on one mask of the other frame."""
        found: dict[int, list[tuple[int, int]]] = {}
        for k, j, n in self._overlaps(t, other):
            if 2 * n >= len(self.frames[t].pixels[k]):
                found.setdefault(j, []).append((n, k))
        best = [[k for _, k in sorted(own, reverse=True)[:4]] for own in found.values()]
        return {(min(a, b), max(a, b)) for own in best for i, a in enumerate(own) for b in own[:i]}


@dataclass(frozen=True)
class CutMovie:
    """Segments, with what is needed to paint them."""

    segments: Segments
    labels: Ints
    """(M,) of each mask in its image."""
    parts: list[Ints]
    """Of each cut, the part of each pixel of its mask."""
    files: list[Path]


def cut_masks(folder: Path, n_frames: int | None = None) -> CutMovie:
    """The segments of all label images in a folder."""
    files = sorted(folder.glob("*.tif"))[:n_frames]
    frames = [read_frame(path) for path in files]
    cutter = Cutter(frames)
    segments = cutter.run()
    return CutMovie(segments, np.concatenate([frame.labels for frame in frames]), cutter.parts, files)


def main() -> None:
    """Print how many there are."""
    parser = argparse.ArgumentParser()
    parser.add_argument("masks", type=Path)
    begun = time.perf_counter()
    segments = cut_masks(parser.parse_args().masks).segments
    n_cuts, n_unions = len(segments.cuts), len(segments.unions)
    print(f"{segments.n_masks} masks, {n_cuts} cuts, {n_unions} unions, {time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main()
