"""Masks that are spoiled on purpose: some missing, false, joined or cut, for a few frames each, with their truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dunno.errors import InputError
from dunno.types import Detections, Floats, Ints, Movie, Truth
from dunno.types.labels import LabelImage, relabelled

LONGEST_FAULT = 5
"""Faults last 1 to so many frames."""

MERGING_REACH = 1.6
"""Neighbours are joined whose centres are no farther apart than so many times the sum of their radii."""

FALSE_RADIUS = 0.6
"""Of a false mask, as a fraction of the usual radius."""


@dataclass(frozen=True)
class FaultShares:
    """Which share of all masks is spoiled in which way."""

    missed: float = 0.0  # Not there, while the cell is
    false: float = 0.0  # There, where no cell is; as a share of the cells
    merged: float = 0.0  # Joined with a touching or near neighbour's
    split: float = 0.0  # Cut in two

    def __post_init__(self) -> None:
        for name, share in vars(self).items():
            if not 0 <= share <= 0.3:
                raise InputError(f"{name} is {share}; expected a share of the masks between 0 and 0.3")

    def __bool__(self) -> bool:
        return any(vars(self).values())


class Join(NamedTuple):
    """A mask that takes another's pixels."""

    label: int
    taken: int


@dataclass
class FrameFaults:
    """What is done to one frame's masks, by label."""

    missed: set[int] = field(default_factory=set)
    split: set[int] = field(default_factory=set)
    joins: list[Join] = field(default_factory=list)
    false: list[tuple[Floats, float]] = field(default_factory=list)

    @property
    def touched(self) -> set[int]:
        """All labels that something happens to."""
        return self.missed | self.split | {label for join in self.joins for label in join}


@dataclass(frozen=True, eq=False)
class Spoiled:
    """A movie with spoiled masks, and the truth about them."""

    movie: Movie
    truth: Truth


@dataclass(frozen=True)
class TrackMarkers:
    """A movie's masks with the tracks in the place of their labels."""

    movie: Movie
    truth: Truth

    def __len__(self) -> int:
        return len(self.movie)

    def __getitem__(self, t: int) -> LabelImage:
        return relabelled(self.movie.masks(t), self.truth.labels[t], self.truth.tracks[t].astype(np.uint32))


class SpoiledMasks:
    """A movie's masks with faults, made when a frame is asked for."""

    def __init__(self, movie: Movie, faults: list[FrameFaults]) -> None:
        self.movie = movie
        self.faults = faults

    def __len__(self) -> int:
        return len(self.movie)

    def __getitem__(self, t: int) -> NDArray[np.uint32]:
        masks = np.array(self.movie.masks(t), np.uint32)
        faults, scale = self.faults[t], np.array(self.movie.scale)
        free = int(masks.max(initial=0)) + 1
        for label in sorted(faults.missed):
            masks[masks == label] = 0
        for label, taken in faults.joins:
            _join(masks, label, taken)
        for label in sorted(faults.split):
            free += _cut(masks, label, free, scale)
        for centre, radius in faults.false:
            free += _blob(masks, centre, radius, free, scale)
        return masks


def spoil(movie: Movie, truth: Truth, faults: FaultShares, seed: int = 0) -> Spoiled:
    """Spoil some of a movie's masks, each fault for 1 to 5 frames.

    Args:
        movie: With good masks.
        truth: About them.
        faults: How many are spoiled, in which way.
        seed: Makes it repeatable.
    """
    rng = np.random.default_rng([seed, 314159])
    cells = [movie.detections(t).without_pixels() for t in range(len(movie))]
    plan = [FrameFaults() for _ in cells]
    planned = _Planner(cells, truth, plan, rng)
    planned.each("merged", faults.merged)
    planned.each("split", faults.split)
    planned.each("missed", faults.missed)
    planned.false(faults.false)
    masks = SpoiledMasks(movie, plan)
    images = _Images(movie) if movie.has_images else None
    made = Movie(
        masks, images, scale=movie.scale if movie.has_scale else None, interval=movie.interval, name=movie.name,
        mask_source="spoiled",
    )  # fmt: skip
    return Spoiled(made, _truth_of(masks, truth, movie))


class _Images:
    """The movie's images, as they are."""

    def __init__(self, movie: Movie) -> None:
        self.movie = movie

    def __len__(self) -> int:
        return len(self.movie)

    def __getitem__(self, t: int) -> NDArray[Any]:
        return self.movie.images(t)


@dataclass
class _Planner:
    """Chooses which masks are spoiled; no mask is spoiled twice."""

    cells: list[Detections]
    truth: Truth
    plan: list[FrameFaults]
    rng: np.random.Generator

    def each(self, kind: str, share: float) -> None:
        """Faults of one kind, until they touch the share of all masks."""
        wanted = share * sum(map(len, self.cells))
        tries = 0
        while wanted >= 1 and tries < 100 * wanted + 100:
            tries += 1
            t = int(self.rng.integers(len(self.cells)))
            tracks = self.truth.tracks[t][self.truth.tracks[t] > 0]
            if len(tracks):
                wanted -= self._event(kind, t, int(self.rng.choice(tracks)))

    def _event(self, kind: str, t: int, track: int) -> int:
        """One fault over a few frames; returns how many masks it spoils."""
        partner = self._neighbour(t, track) if kind == "merged" else 0
        spoiled = 0
        for frame in range(t, min(t + int(self.rng.integers(1, LONGEST_FAULT + 1)), len(self.cells))):
            label, other = self._label(frame, track), self._label(frame, partner)
            taken = self.plan[frame].touched
            if label == 0 or label in taken or (kind == "merged" and (other == 0 or other in taken)):
                break
            if kind == "merged":
                self.plan[frame].joins.append(Join(label, other))
            else:
                getattr(self.plan[frame], kind).add(label)
            spoiled += 1
        return spoiled

    def _label(self, t: int, track: int) -> int:
        own = self.truth.labels[t][self.truth.tracks[t] == track] if track else np.empty(0)
        return int(own[0]) if len(own) else 0

    def _neighbour(self, t: int, track: int) -> int:
        """The track of the nearest mask, if it is near enough to be joined; 0 if not."""
        cells = self.cells[t]
        here = np.flatnonzero(cells.label == self._label(t, track))
        if len(here) == 0 or len(cells) < 2:
            return 0
        away = np.linalg.norm(cells.centroid - cells.centroid[here[0]], axis=1)
        away[here[0]] = np.inf
        radius = _radius(cells)
        other = int(np.argmin(away))
        if away[other] > MERGING_REACH * (radius[other] + radius[here[0]]):
            return 0
        return int(self.truth.tracks[t][np.searchsorted(self.truth.labels[t], cells.label[other])])

    def false(self, share: float) -> None:
        """False masks where there is room, which stay for a few frames."""
        wanted = share * sum(map(len, self.cells))
        everywhere = np.concatenate([cells.centroid for cells in self.cells])
        if wanted < 1 or len(everywhere) == 0:
            return
        radius = FALSE_RADIUS * float(np.median(np.concatenate([_radius(cells) for cells in self.cells])))
        low, high = everywhere.min(axis=0), everywhere.max(axis=0)
        for _ in range(int(100 * wanted)):
            if wanted < 1:
                return
            t, centre = int(self.rng.integers(len(self.cells))), self.rng.uniform(low, high)
            for frame in range(t, min(t + int(self.rng.integers(1, LONGEST_FAULT + 1)), len(self.cells))):
                if not self._has_room(frame, centre, radius):
                    break
                self.plan[frame].false.append((centre, radius))
                wanted -= 1

    def _has_room(self, t: int, centre: Floats, radius: float) -> bool:
        cells = self.cells[t]
        away = np.linalg.norm(cells.centroid - centre, axis=1)
        others = [np.linalg.norm(place - centre) for place, _ in self.plan[t].false]
        return bool((away > _radius(cells) + radius).all()) and all(other > 2 * radius for other in others)


def _radius(cells: Detections) -> Floats:
    d = cells.centroid.shape[1]
    return np.asarray((cells.area / (np.pi if d == 2 else 4 * np.pi / 3)) ** (1 / d))


def _join(masks: NDArray[np.uint32], label: int, taken: int) -> None:
    """One mask takes another's pixels, and those of background on the straight line between their centres."""
    ends = [np.argwhere(masks == each).mean(axis=0) for each in (label, taken)]
    steps = int(np.abs(ends[1] - ends[0]).max()) + 1
    line = np.rint(np.linspace(ends[0], ends[1], 2 * steps)).astype(np.int64)
    for shift in (0, 1):
        place = tuple(np.minimum(line + shift, np.array(masks.shape) - 1).T)
        masks[place] = np.where(masks[place] == 0, label, masks[place])
    masks[masks == taken] = label


def _cut(masks: NDArray[np.uint32], label: int, free: int, scale: Floats) -> int:
    """Cut a mask in two across its long axis; returns the number of new labels."""
    pixels = np.argwhere(masks == label)
    if len(pixels) < 4:
        return 0
    place = pixels * scale
    _, axes = np.linalg.eigh(np.cov(place.T))
    along = (place - place.mean(axis=0)) @ axes[:, -1]
    beyond = along > np.quantile(along, 0.6)  # the larger piece holds the cell
    if not beyond.any():
        return 0
    masks[tuple(pixels[beyond].T)] = free
    return 1


def _blob(masks: NDArray[np.uint32], centre: Floats, radius: float, free: int, scale: Floats) -> int:
    """Draw a false mask on the background; returns the number of new labels."""
    middle, reach = np.rint(centre / scale).astype(np.int64), np.ceil(radius / scale).astype(np.int64)
    low, high = np.maximum(middle - reach, 0), np.minimum(middle + reach + 1, masks.shape)
    box = masks[tuple(slice(a, b) for a, b in zip(low, high, strict=True))]
    grid = np.stack(np.meshgrid(*[np.arange(a, b) for a, b in zip(low, high, strict=True)], indexing="ij"), -1) * scale
    inside = (((grid - centre) ** 2).sum(-1) <= radius**2) & (box == 0)
    if not inside.any():
        return 0
    box[inside] = free
    return 1


def _truth_of(masks: SpoiledMasks, truth: Truth, movie: Movie) -> Truth:
    """The truth about the spoiled masks: which cells each of them holds."""
    labels, tracks, others = [], [], []
    for t, (faults, old) in enumerate(zip(masks.faults, truth.labels, strict=True)):
        found = np.unique(masks[t])
        own = found[found > 0].astype(np.int64)
        known = np.isin(own, old)
        track = np.zeros(len(own), np.int64)
        track[known] = truth.tracks[t][np.searchsorted(old, own[known])]
        labels.append(own)
        tracks.append(track)
        others.append(np.array([*_held(faults, own, t, truth)], np.int64).reshape(-1, 2).T)
    return Truth(
        truth.track, truth.first, truth.last, truth.mother, truth.frames, tuple(labels), tuple(tracks), truth.present,
        tuple(others) if any(each.size for each in others) else (), TrackMarkers(movie, truth),
    )  # fmt: skip


def _held(faults: FrameFaults, own: Ints, t: int, truth: Truth) -> Iterator[tuple[int, int]]:
    for label, taken in faults.joins:
        track = int(truth.tracks[t][np.searchsorted(truth.labels[t], taken)])
        if track and label in own:
            yield int(np.searchsorted(own, label)), track
