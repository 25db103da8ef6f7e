"""From links to tracks: the pairs' results, told frame by frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dunno.types import Bools, Detections, Floats, Ints, PairPosterior

LONGEST = 16
"""How many frames back a link may begin."""


@dataclass(frozen=True, eq=False)
class FrameRecord:
    """All that is known about one frame's cells once the pairs on both sides are solved.

    Attributes:
        detections: The cells.
        node: (n,) a number for each cell, unique in the movie.
        track: (n,) the track it belongs to, counted from 1.
        entropy: (n,) of its mother's identity; NaN in the first frame.
        p_appear: (n,) that it has no mother, here or in an earlier frame; NaN in the first frame.
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


class TrackNumbers:
    """Numbers tracks while pairs arrive in frame order.

    A daughter carries her mother's track on where she is the only one; where the mother divides, each daughter starts a track of
    her own. Tables grow by doubling, 40 bytes a track; `current` holds the tracks of the last frame's cells.
    """

    def __init__(self) -> None:
        self.current: Ints = np.empty(0, np.int64)
        self._recent: dict[int, Ints] = {}  # tracks of the last frames' cells, by original index of the frame
        self._n = 0
        self._rows: Ints = np.empty((1024, 3), np.int64)  # first frame, last frame, mother; frames are original indices
        self._log: Floats = np.empty((1024, 2))  # of the confidence, and of the least certain link

    def __len__(self) -> int:
        return self._n

    def begin(self, detections: Detections) -> Ints:
        """Number the first frame's cells."""
        self.current = self._new(np.zeros(len(detections), np.int64), detections.frame)
        self._recent = {detections.frame: self.current}
        return self.current

    def follow(self, pair: PairPosterior) -> Ints:
        """Number the pair's daughters."""
        mother, daughter = pair.mother[pair.selected], pair.daughter[pair.selected]
        load = np.bincount(mother, minlength=len(pair.mothers))
        from_track = np.zeros(len(pair.daughters), np.int64)
        from_track[daughter] = self.current[mother]
        carried = np.zeros(len(pair.daughters), np.bool_)
        carried[daughter] = load[mother] == 1
        log_probability = np.zeros(len(pair.daughters))
        log_probability[daughter] = np.minimum(pair.log_probability[pair.selected], 0.0)
        self._across_gaps(pair, from_track, carried, log_probability)
        numbers = np.where(carried, from_track, 0)
        numbers[~carried] = self._new(from_track[~carried], pair.daughter_frame)
        self._carry(numbers[carried] - 1, pair.daughter_frame, log_probability[carried])
        self.current = numbers
        self._recent = dict([*[*self._recent.items()][1 - LONGEST :], (pair.daughter_frame, numbers)])
        return numbers

    def _across_gaps(self, pair: PairPosterior, from_track: Ints, carried: Bools, log_probability: Floats) -> None:
        """Fill in the daughters whose mothers are in earlier frames."""
        if pair.gaps is None or not pair.gaps.selected.any():
            return
        gaps = pair.gaps.only(pair.gaps.selected)
        ends = list(zip(gaps.mother_frame.tolist(), gaps.mother.tolist(), strict=True))
        tracks = np.array([self._recent[frame][mother] for frame, mother in ends])
        from_track[gaps.daughter] = tracks
        carried[gaps.daughter] = [ends.count(end) == 1 for end in ends]
        log_probability[gaps.daughter] = np.minimum(gaps.log_probability, 0.0)

    def _carry(self, row: Ints, frame: int, log_probability: Floats) -> None:
        self._rows[row, 1] = frame
        self._log[row, 0] += log_probability
        self._log[row, 1] = np.minimum(self._log[row, 1], log_probability)

    def _new(self, mothers: Ints, frame: int) -> Ints:
        end = self._n + len(mothers)
        if end > len(self._rows):
            longer = max(2 * len(self._rows), end)
            self._rows = np.resize(self._rows, (longer, 3)).astype(np.int64, copy=False)
            self._log = np.resize(self._log, (longer, 2)).astype(np.float64, copy=False)
        self._rows[self._n : end, :2] = frame
        self._rows[self._n : end, 2] = mothers
        self._log[self._n : end] = 0.0
        numbers = self._n + 1 + np.arange(len(mothers))
        self._n = end
        return numbers

    def table(self) -> list[TrackRow]:
        """List all tracks so far."""
        columns = (*self._rows[: self._n].T.tolist(), *np.exp(self._log[: self._n]).T.tolist())
        return [TrackRow(track, *values) for track, values in enumerate(zip(*columns, strict=True), 1)]


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
        p_appear=unknown if before is None else before.p_appear,
        p_disappear=unknown if disappear is None else np.exp(disappear),
        p_divide=unknown if divide is None else np.exp(divide),
        reviewed=_reviewed(len(cells), before, after),
    )


def _reviewed(n: int, before: PairPosterior | None, after: PairPosterior | None) -> Bools | None:
    """(n,) whether a person decided on each cell; nobody did in the first frame."""
    if before is not None:
        return before.reviewed
    return None if after is None or after.reviewed is None else np.zeros(n, np.bool_)
