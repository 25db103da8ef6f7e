"""From links to tracks: the pairs' results, told frame by frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from dunno.types import Bools, Detections, Floats, Ints, PairPosterior


@dataclass(frozen=True, eq=False)
class FrameRecord:
    """All that is known about one frame's cells once the pairs on both sides are solved.

    Attributes:
        detections: The cells.
        node: (n,) a number for each cell, unique in the movie.
        track: (n,) the track it belongs to, counted from 1.
        entropy: (n,) of its mother's identity; NaN in the first frame.
        p_appear: (n,) P(⊥); NaN in the first frame.
        p_disappear: (n,) NaN in the last frame and where the method does not know.
        p_divide: (n,) NaN in the last frame and where the method does not know.
        reviewed: (n,) whether a person decided whose daughter it is; `None` where the movie was not reviewed.
    """

    detections: Detections
    node: Ints
    track: Ints
    entropy: Floats
    p_appear: Floats
    p_disappear: Floats
    p_divide: Floats
    reviewed: Bools | None = None

    @property
    def frame(self) -> int:
        """Original index of the frame."""
        return self.detections.frame


@dataclass(frozen=True)
class TrackRow:
    """A track: a cell from its birth to its division or loss.

    Attributes:
        track: Its number.
        first: Original index of its first frame.
        last: Original index of its last frame.
        mother: The track it came from, or 0.
        confidence: Probability that all of its links are right, the frame pairs being independent; 1 without links.
        least: Probability of its least certain link; 1 without links.
    """

    track: int
    first: int
    last: int
    mother: int
    confidence: float = 1.0
    least: float = 1.0


@dataclass
class TrackNumbers:
    """Numbers tracks while pairs arrive in frame order.

    A daughter carries her mother's track on where she is the only one; where the mother divides, each daughter starts
    a track of her own. `rows` holds a mutable `[first, last, mother]` for every track; frames are original indices.
    `log_confidence` and `log_least` tell how sure a track's links are; those that are certain are left out.
    """

    log_confidence: dict[int, float] = field(default_factory=dict)
    log_least: dict[int, float] = field(default_factory=dict)
    current: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    rows: dict[int, list[int]] = field(default_factory=dict)

    def begin(self, detections: Detections) -> Ints:
        """Number the first frame's cells."""
        self.current = self._new(np.zeros(len(detections), np.int64), detections.frame)
        return self.current

    def follow(self, pair: PairPosterior) -> Ints:
        """Number the pair's daughters."""
        mother, daughter = pair.mother[pair.selected], pair.daughter[pair.selected]
        load = np.bincount(mother, minlength=len(pair.mothers))
        from_track = np.zeros(len(pair.daughters), np.int64)
        from_track[daughter] = self.current[mother]
        carried = np.zeros(len(pair.daughters), np.bool_)
        carried[daughter] = load[mother] == 1
        numbers = np.where(carried, from_track, 0)
        numbers[~carried] = self._new(from_track[~carried], pair.daughter_frame)
        log_probability = np.zeros(len(pair.daughters))
        log_probability[daughter] = pair.log_probability[pair.selected]
        for track, value in zip(numbers[carried].tolist(), log_probability[carried].tolist(), strict=True):
            self.rows[track][1] = pair.daughter_frame
            if value < 0:
                self.log_confidence[track] = self.log_confidence.get(track, 0.0) + value
                self.log_least[track] = min(self.log_least.get(track, 0.0), value)
        self.current = numbers
        return numbers

    def _new(self, mothers: Ints, frame: int) -> Ints:
        numbers = len(self.rows) + 1 + np.arange(len(mothers))
        for track, mother in zip(numbers.tolist(), mothers.tolist(), strict=True):
            self.rows[track] = [frame, frame, mother]
        return numbers

    def table(self) -> list[TrackRow]:
        """List all tracks so far."""
        return [
            TrackRow(
                track, first, last, mother, self._exp(self.log_confidence, track), self._exp(self.log_least, track)
            )
            for track, (first, last, mother) in self.rows.items()
        ]

    def _exp(self, logs: dict[int, float], track: int) -> float:
        return float(np.exp(logs.get(track, 0.0)))


def records(
    pairs: Iterable[PairPosterior], numbers: TrackNumbers
) -> Iterator[tuple[FrameRecord, PairPosterior | None]]:
    """Yield each frame's record with the pair in which its cells are mothers (`None` for the last frame)."""
    before: PairPosterior | None = None
    track, n_nodes = numbers.current, 0
    for pair in pairs:
        if before is None:
            track = numbers.begin(pair.mothers)
        yield _record(pair.mothers, track, n_nodes, before, pair), pair
        n_nodes += len(pair.mothers)
        track = numbers.follow(pair)
        before = pair
    if before is not None:
        yield _record(before.daughters, track, n_nodes, before, None), None


def _record(
    cells: Detections, track: Ints, first_node: int, before: PairPosterior | None, after: PairPosterior | None
) -> FrameRecord:
    unknown = np.full(len(cells), np.nan)
    disappear = None if after is None else after.log_disappear
    divide = None if after is None else after.log_divide
    return FrameRecord(
        detections=cells,
        node=first_node + np.arange(len(cells)),
        track=track,
        entropy=unknown if before is None else before.entropy,
        p_appear=unknown if before is None else np.exp(before.log_no_mother),
        p_disappear=unknown if disappear is None else np.exp(disappear),
        p_divide=unknown if divide is None else np.exp(divide),
        reviewed=_reviewed(len(cells), before, after),
    )


def _reviewed(n: int, before: PairPosterior | None, after: PairPosterior | None) -> Bools | None:
    """(n,) whether a person decided on each cell; nobody did in the first frame."""
    if before is not None:
        return before.reviewed
    return None if after is None or after.reviewed is None else np.zeros(n, np.bool_)
