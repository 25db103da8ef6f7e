"""From links to tracks: the pairs' results, told frame by frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from dunno.lineage.endings import DIVISION, END, ENDINGS, endings_of
from dunno.types import Bools, Detections, Floats, Held, Ints, PairPosterior
from dunno.types.labels import LabelImage

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
        family: (n,) the first track of the family that it belongs to.
        held: How many cells the masks hold; `None` where each is taken for one.
    """

    detections: Detections
    node: Ints
    track: Ints
    entropy: Floats
    p_appear: Floats
    p_disappear: Floats
    p_divide: Floats
    reviewed: Bools | None = None
    family: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    held: Held | None = None

    @property
    def frame(self) -> int:
        """Original index of the frame."""
        return self.detections.frame

    def relabelled(self, masks: LabelImage, labels: np.ndarray) -> np.ndarray:
        """The frame's masks with another label, of which there is one per cell; masks of other cells are left out."""
        if len(labels) == 0:
            return np.zeros(masks.shape, labels.dtype)
        own = self.detections.label
        place = np.searchsorted(own, masks)
        place[place == len(own)] = 0
        return np.where(own[place] == masks, labels[place], labels.dtype.type(0))


@dataclass(frozen=True)
class TrackRow:
    """A track: a cell from its birth to its division or loss.

    Attributes:
        track: Its number.
        first: Original index of its first frame.
        last: Original index of its last frame.
        mother: The track it came from, or 0.
        confidence: Probability that all of its links are right; 1 without links. Frame pairs are independent, unless edges across
            gaps tie them: then each link's probability is that given the one before.
        least: Probability of its least certain link; 1 without links.
        ending: How it ends, one of `dunno.lineage.endings.ENDINGS`.
        p_ending: Probability that its last cell ended so; `None` where the method does not know.
    """

    track: int
    first: int
    last: int
    mother: int
    confidence: float = 1.0
    least: float = 1.0
    ending: str = ENDINGS[END]
    p_ending: float | None = 1.0


class TrackNumbers:
    """Numbers tracks while pairs arrive in frame order.

    A daughter carries her mother's track on where she is the only one; where the mother divides, each daughter starts a track of
    her own. Where two masks become one, both tracks end, and the mask that holds both cells starts one; so do those that come
    out of it. Tables grow by doubling, 72 bytes a track; `current` holds the tracks of the last frame's cells.
    """

    def __init__(self) -> None:
        self.current: Ints = np.empty(0, np.int64)
        self._recent: dict[int, Ints] = {}  # tracks of the last frames' cells, by original index of the frame
        self._n = 0
        self._rows: Ints = np.empty((1024, 3), np.int64)  # first frame, last frame, mother; frames are original indices
        self._log: Floats = np.empty((1024, 2))  # of the confidence, and of the least certain link
        self._ending: Ints = np.empty(1024, np.int64)
        self._p_ending: Floats = np.empty((1024, 2))  # of the ending, and of a division instead
        self._family: Ints = np.zeros(1025, np.int64)  # the first track of each track's family; of none, 0

    def __len__(self) -> int:
        return self._n

    def begin(self, detections: Detections) -> Ints:
        """Number the first frame's cells."""
        self.current = self._new(np.zeros(len(detections), np.int64), detections.frame)
        self._recent = {detections.frame: self.current}
        return self.current

    def follow(self, pair: PairPosterior) -> Ints:
        """Number the pair's daughters."""
        mother, daughter = pair.mother[pair.links], pair.daughter[pair.links]
        load = pair.load
        from_track = np.zeros(len(pair.daughters), np.int64)
        from_track[daughter] = self.current[mother]
        carried = np.zeros(len(pair.daughters), np.bool_)
        carried[daughter] = load[mother] == 1
        log_probability = np.zeros(len(pair.daughters))
        log_probability[daughter] = np.minimum(pair.log_probability[pair.links], 0.0)
        if pair.daughters.filled_from is not None:
            log_probability[pair.daughters.is_filled] = 0.0  # the link that ends the gap counts
        self._across_gaps(pair, from_track, carried, log_probability)
        if pair.log_together is not None:
            log_probability = np.minimum(log_probability + pair.log_together, 0.0)
        merged = np.bincount(daughter, minlength=len(pair.daughters)) > 1
        if pair.mothers_held is not None:
            merged[daughter] |= pair.holds_two[mother] & (load[mother] > 1)
        if merged.any():
            carried[merged], from_track[merged] = False, 0
        numbers, begins = from_track, ~carried
        numbers[begins] = self._new(from_track[begins], pair.daughter_frame)
        self._carry(numbers[carried] - 1, pair.daughter_frame, log_probability[carried])
        goes_on = np.zeros(len(pair.mothers), np.bool_)
        goes_on[mother] = carried[daughter] & (numbers[daughter] == self.current[mother])
        self._end(pair, ~goes_on)
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
        alone = np.array([ends.count(end) == 1 for end in ends])
        carried[gaps.daughter] = alone
        divided = tracks[~alone] - 1
        self._ending[divided], self._p_ending[divided, 0] = DIVISION, self._p_ending[divided, 1]
        log_probability[gaps.daughter] = np.minimum(gaps.log_probability, 0.0)

    def _carry(self, row: Ints, frame: int, log_probability: Floats) -> None:
        self._rows[row, 1] = frame
        self._log[row, 0] += log_probability
        self._log[row, 1] = np.minimum(self._log[row, 1], log_probability)
        self._ending[row], self._p_ending[row, 0] = END, 1.0

    def _end(self, pair: PairPosterior, ends: Bools) -> None:
        """Say how those of the last frame's tracks end that nothing carries on; later links across gaps may know better."""
        if not ends.any():
            return
        row, told = self.current[ends] - 1, endings_of(pair)
        self._ending[row] = told.kind[ends]
        self._p_ending[row, 0], self._p_ending[row, 1] = told.probability[ends], told.p_divide[ends]

    def _new(self, mothers: Ints, frame: int) -> Ints:
        end = self._n + len(mothers)
        if end > len(self._rows):
            longer = max(2 * len(self._rows), end)
            self._rows = np.resize(self._rows, (longer, 3)).astype(np.int64, copy=False)
            self._log = np.resize(self._log, (longer, 2)).astype(np.float64, copy=False)
            self._family = np.resize(self._family, longer + 1).astype(np.int64, copy=False)
            self._ending = np.resize(self._ending, longer).astype(np.int64, copy=False)
            self._p_ending = np.resize(self._p_ending, (longer, 2)).astype(np.float64, copy=False)
        self._rows[self._n : end, :2] = frame
        self._rows[self._n : end, 2] = mothers
        self._log[self._n : end] = 0.0
        self._ending[self._n : end], self._p_ending[self._n : end] = END, 1.0
        numbers = self._n + 1 + np.arange(len(mothers))
        self._family[numbers] = np.where(mothers > 0, self._family[mothers], numbers)
        self._n = end
        return numbers

    def family(self, track: Ints) -> Ints:
        """(n,) the first track of the family of each track."""
        return self._family[track]

    def table(self) -> list[TrackRow]:
        """List all tracks so far."""
        endings = [ENDINGS[kind] for kind in self._ending[: self._n].tolist()]
        columns = (
            *self._rows[: self._n].T.tolist(),
            *np.exp(self._log[: self._n]).T.tolist(),
            endings,
            [None if np.isnan(p) else p for p in self._p_ending[: self._n, 0].tolist()],
        )
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
        yield _record(pair.mothers, track, numbers.family(track), n_nodes, before, pair), pair
        n_nodes += len(pair.mothers)
        track = numbers.follow(pair)
        before = pair
    if before is not None:
        yield _record(before.daughters, track, numbers.family(track), n_nodes, before, None), None


def _record(
    cells: Detections,
    track: Ints,
    family: Ints,
    first_node: int,
    before: PairPosterior | None,
    after: PairPosterior | None,
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
        family=family,
        held=_told(before, after),
    )


def _reviewed(n: int, before: PairPosterior | None, after: PairPosterior | None) -> Bools | None:
    """(n,) whether a person decided on each cell; nobody did in the first frame."""
    if before is not None:
        return before.reviewed
    return None if after is None or after.reviewed is None else np.zeros(n, np.bool_)


def _told(before: PairPosterior | None, after: PairPosterior | None) -> Held | None:
    """How many cells a frame's masks hold; of the first frame only the pair after it knows."""
    if before is not None:
        return before.daughters_held
    return None if after is None else after.mothers_held
