"""What a run found, counted while the blocks pass by: the one source of what the screen, `run.json` and the report say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from dunno.lineage.endings import BORDER, DIVISION, END, ENDINGS, FALSE, LOST
from dunno.lineage.tracks import NumberedBlock, TrackRow
from dunno.runs.doubtful_links import DoubtfulLink, DoubtfulLinks
from dunno.tracking.division_count import DivisionBeliefs, count_divisions
from dunno.types import Bools, BrokenFrame, Floats, RunInfo

LEAST_CERTAIN = 10  # links; display
FEWEST_DIVISIONS = 3.0  # divisions; judged: fewer say nothing of how fast cells double
GONE_ENDINGS = frozenset(ENDINGS[kind] for kind in (BORDER, LOST, FALSE))


@dataclass(frozen=True)
class Summary:
    """What a run found; tracks that are taken for debris are counted in `debris_tracks` alone, unless `with_debris`.

    Cells of a broken frame's neighbours count as neither appearing nor disappearing. A track is whole that is seen from the first
    frame or its birth on, until it divides or the movie ends. `expected_missing_links` is how many true links are not among
    somebody else's, and `expected_missing_divisions` how many of their mothers divide and are not linked to two daughters; `None`
    where the links are dunno's own, or the method knows no divisions. `repairs` is how many masks were split, joined and left out.
    """

    frames: int = 1
    cells: int = 0
    cells_at_start: int = 0
    cells_at_end: int = 0
    candidates: int = 0
    links: int = 0
    gap_links: int = 0
    divisions: int = 0
    expected_divisions: float | None = None  # Sum of their probabilities; None where the method does not know
    divisions_interval: tuple[int, int] | None = None  # 95 %, of how many there are
    doubling_time: float | None = None  # In `time_unit`, by how often cells divide
    doubling_time_interval: tuple[float, float] | None = None
    time_unit: str = "frames"  # Or `hours`
    appearing: int = 0
    disappearing: int = 0
    tracks: int = 0
    whole_tracks: int = 0
    complete_cycles: int = 0  # Tracks whose birth and division were both seen
    median_length: float | None = None  # Of tracks, in frames
    debris_tracks: int = 0
    with_debris: bool = False
    mean_confidence: float | None = None
    expected_wrong_links: float = 0.0
    expected_missing_links: float | None = None
    expected_missing_divisions: float | None = None
    least_certain: Sequence[DoubtfulLink] = ()
    broken: Sequence[BrokenFrame] = ()
    repairs: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def of_dict(cls, content: dict[str, Any]) -> Summary:
        """The reverse of `to_dict`; what older versions did not count is left at its default."""
        known = {each.name: content[each.name] for each in fields(cls) if each.name in content}
        for name in ("divisions_interval", "doubling_time_interval"):
            known[name] = None if known.get(name) is None else tuple(known[name])
        known["least_certain"] = [DoubtfulLink(**each) for each in content["least_certain"]]
        known["broken"] = [BrokenFrame(**each) for each in content["broken"]]
        return cls(**known)


class Census:
    """Counts blocks like a writer, tracks of debris if asked for; `summary` is there once all are counted."""

    def __init__(self, about: RunInfo, with_debris: bool = False) -> None:
        self._about, self._with_debris = about, with_debris
        self.doubtful, self.broken = DoubtfulLinks(), list[BrokenFrame]()
        self.noted: list[DoubtfulLink] = []  # of the latest block, those among the least certain so far
        self.debris: frozenset[int] = frozenset()
        self.summary = Summary()
        self._frames, self._candidates, self._order = 1, 0, list[int]()
        self._by_track = np.zeros((len(COUNTED), 1024))
        self._dividing: list[DivisionBeliefs] = []
        self._missing = 0.0 if about.links else None
        self._missing_divisions: float | None = None

    def note_broken(self, frames: Iterable[BrokenFrame]) -> None:
        """Note frames that could not be read, each once."""
        known = {each.frame for each in self.broken}
        self.broken += [each for each in frames if each.frame not in known]

    def write(self, numbered: NumberedBlock) -> None:
        """Count a block."""
        block, rows = numbered.block, numbered.rows
        first_frame = len(self._order) - numbered.frames.start
        self._order += block.frames[numbered.frames.start : numbered.frames.stop].tolist()
        self._frames += len(block.own)
        self._candidates += len(block.mother)
        track, last = numbered.track[rows], int(numbered.track.max(initial=0))
        if last >= self._by_track.shape[1]:
            self._by_track = np.concatenate([self._by_track, np.zeros((len(COUNTED), last + 1))], axis=1)
        link = block.links
        self._add("cells", track)
        self._dividing.append(DivisionBeliefs.of(numbered, first_frame))
        self._add("appeared", track, np.isnan(numbered.incoming[rows]).astype(np.float64))
        into = numbered.track[block.daughter[link]]
        self._add("links", into)
        self._add("gap_links", into, (block.gap[link] > 0).astype(np.float64))
        self._add("wrong", into, 1 - block.probability[link])
        self.noted = self.doubtful.follow(numbered)
        if self._missing is not None:
            self._count_missing(numbered)

    def _add(self, name: str, track: Any, values: Floats | None = None) -> None:
        known = slice(None) if values is None else ~np.isnan(values)
        np.add.at(self._by_track[COUNTED.index(name)], track[known], 1.0 if values is None else values[known])

    def _count_missing(self, numbered: NumberedBlock) -> None:
        """What somebody else's links leave out."""
        block = numbered.block
        self._missing = (self._missing or 0.0) + float(np.nansum(block.probability[(block.gap == 0) & ~block.selected]))
        for pair in block.pairs():
            if pair.log_divide is not None:
                missing = float(np.nansum(np.exp(pair.log_divide[~pair.divides])))
                self._missing_divisions = (self._missing_divisions or 0.0) + missing

    def finish(self, tracks: Sequence[TrackRow]) -> None:
        """Sum up."""
        self.debris = frozenset(row.track for row in tracks if row.is_debris)
        counted = np.array([self._with_debris or not row.is_debris for row in tracks], np.bool_)
        rows = [row for row, own in zip(tracks, counted.tolist(), strict=True) if own]
        each = dict(zip(COUNTED, self._by_track[:, 1 : len(tracks) + 1][:, counted], strict=True))
        links, first, last = float(each["links"].sum()), self._order[0], self._order[-1]
        begins = np.array([row.first != first and not row.mother for row in rows], np.bool_)
        ends = np.array([row.ending for row in rows])
        divided, born = ends == ENDINGS[DIVISION], np.array([row.mother > 0 for row in rows], np.bool_)
        self.summary = Summary(
            frames=self._frames,
            cells=int(each["cells"].sum()),
            cells_at_start=sum(row.first == first for row in rows),
            cells_at_end=sum(row.last == last for row in rows),
            candidates=self._candidates,
            links=int(links),
            gap_links=int(each["gap_links"].sum()),
            divisions=int(divided.sum()),
            **self._divisions(tracks, counted, float(each["cells"].sum())),
            appearing=int(sum(each["appeared"][begins & ~self._beside_broken(rows, -1)])),
            disappearing=int((np.isin(ends, [*GONE_ENDINGS]) & ~self._beside_broken(rows, 1)).sum()),
            tracks=len(rows),
            whole_tracks=int((~begins & (divided | (ends == ENDINGS[END]))).sum()),
            complete_cycles=int((born & divided).sum()),
            median_length=float(np.median([self._length(row) for row in rows])) if rows else None,
            debris_tracks=len(self.debris),
            with_debris=self._with_debris,
            mean_confidence=1 - float(each["wrong"].sum()) / links if links else None,
            expected_wrong_links=float(each["wrong"].sum()),
            expected_missing_links=self._missing,
            expected_missing_divisions=self._missing_divisions,
            least_certain=self.doubts(LEAST_CERTAIN),
            broken=self.broken,
        )

    def close(self) -> None:
        """No file is kept open."""

    def doubts(self, most: int) -> list[DoubtfulLink]:
        """The least certain links, one for each doubt."""
        return self.doubtful.listed(most, frozenset() if self._with_debris else self.debris)

    def _divisions(self, tracks: Sequence[TrackRow], counted: Bools, cells: float) -> dict[str, Any]:
        """How many divisions there are and how fast cells double, with intervals."""
        if not self._about.joint or self._about.links:
            return {}
        beliefs = DivisionBeliefs.joined(self._dividing).among(counted)
        found = count_divisions(beliefs.by_track(tracks, self._order, cells), self._about.division_doubt)
        expected, low, high = found
        told: dict[str, Any] = {"expected_divisions": expected, "divisions_interval": (low, high)}
        if expected < FEWEST_DIVISIONS or low == 0:
            return told
        minutes = self._about.interval
        unit = 1.0 if minutes is None else minutes / 60
        ends = expected, max(high, expected), min(low, expected)
        time, least, most = (float(unit * np.log(2) * cells / number) for number in ends)
        told |= {"doubling_time": time, "doubling_time_interval": (least, most)}
        return told | {"time_unit": "frames" if minutes is None else "hours"}

    def _beside_broken(self, rows: Sequence[TrackRow], step: int) -> Bools:
        """Which tracks begin after a frame that could not be read (step −1), or end before one (step 1)."""
        broken, place = {each.frame for each in self.broken}, {frame: t for t, frame in enumerate(self._order)}
        ends = (place[row.first if step < 0 else row.last] + step for row in rows)
        beside = [0 <= t < len(self._order) and self._order[t] in broken for t in ends]
        return np.array(beside, np.bool_)

    def _length(self, row: TrackRow) -> float:
        """In frames that were looked at."""
        return (row.last - row.first) / self._about.step + 1


COUNTED = ("cells", "appeared", "links", "gap_links", "wrong")
"""What is summed up by track."""
