"""Tracking a movie into an output folder, as `dunno track` does."""

from __future__ import annotations

import heapq
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dunno.blocks import BLOCK
from dunno.errors import OutputError
from dunno.io import blocks
from dunno.io.csv import CsvWriter
from dunno.io.ctc import CtcWriter
from dunno.io.geff import GeffWriter
from dunno.io.writing import RUN_FILE, Writer, drain, whole
from dunno.tracker import Tracker
from dunno.types import Movie, PairPosterior

SCHEMA = 1
LEAST_CERTAIN = 10


@dataclass(frozen=True, order=True)
class DoubtfulLink:
    """A link, ordered so that the least certain comes first."""

    probability: float
    mother_frame: int
    mother: int
    frame: int
    daughter: int


@dataclass
class Summary:
    """What a run found, counted while the pairs pass by."""

    frames: int = 1
    cells: int = 0
    candidates: int = 0
    links: int = 0
    divisions: int = 0
    appearing: int = 0
    disappearing: int = 0
    tracks: int = 0
    mean_confidence: float | None = None
    expected_wrong_links: float = 0.0
    least_certain: list[DoubtfulLink] = field(default_factory=list)

    def watch(self, pairs: Iterable[PairPosterior]) -> Iterator[PairPosterior]:
        """Count each pair and hand it on."""
        total = 0.0
        for pair in pairs:
            if self.frames == 1:
                self.cells = len(pair.mothers)
            total += float(pair.probability[pair.selected].sum())
            self._count(pair)
            self.mean_confidence = total / self.links if self.links else None
            self.expected_wrong_links = self.links - total
            yield pair

    def _count(self, pair: PairPosterior) -> None:
        load = np.bincount(pair.mother[pair.selected], minlength=len(pair.mothers))
        links = int(pair.selected.sum())
        self.frames += 1
        self.cells += len(pair.daughters)
        self.candidates += len(pair.mother)
        self.links += links
        self.divisions += int((load >= 2).sum())
        self.appearing += len(pair.daughters) - links
        self.disappearing += int((load == 0).sum())
        self.least_certain = heapq.nsmallest(LEAST_CERTAIN, [*self.least_certain, *_least_certain(pair)])


def _least_certain(pair: PairPosterior) -> Iterator[DoubtfulLink]:
    edges = np.flatnonzero(pair.selected)
    for edge in edges[np.argsort(pair.log_probability[edges], kind="stable")[:LEAST_CERTAIN]]:
        yield DoubtfulLink(
            float(np.exp(pair.log_probability[edge])),
            pair.mother_frame,
            int(pair.mothers.label[pair.mother[edge]]),
            pair.daughter_frame,
            int(pair.daughters.label[pair.daughter[edge]]),
        )


@dataclass(frozen=True)
class Run:
    """A finished run: where it is, who made it and what it found."""

    folder: Path
    about: dict[str, Any]
    summary: Summary
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """What `run.json` holds."""
        return {
            "schema": SCHEMA,
            "dunno": self.about["version"],
            "parameters": self.about,
            "mask_source": self.about["mask_source"],
            "step": self.about["step"],
            "calibrated": self.about["calibrated"],
            "summary": asdict(self.summary),
            "timings": {"seconds": round(self.seconds, 3)},
        }


def track_into(
    tracker: Tracker,
    movie: Movie,
    folder: str | Path,
    *,
    overwrite: bool = False,
    ctc: bool = False,
    progress: Callable[[Iterator[PairPosterior], int], Iterator[PairPosterior]] = lambda pairs, total: pairs,
) -> Run:
    """Track a movie and write `tracks.geff`, `edges.csv`, `detections.csv` and `run.json`, all of them or nothing.

    Args:
        tracker: How.
        movie: What.
        folder: Where; must not exist unless `overwrite`.
        overwrite: Replace an earlier output.
        ctc: Also write a Cell Tracking Challenge result into `ctc/`.
        progress: Wraps the stream of pairs, knowing how many will come.
    """
    started = time.perf_counter()
    for place in (movie.path, movie.masks_path):
        if place is not None and Path(place).resolve().is_relative_to(Path(folder).resolve()):
            raise OutputError(f"{folder}: holds the movie itself ({place}); choose another output")
    with whole(folder, overwrite) as partial:
        plan = tracker.plan(movie)
        about = tracker.about(movie, plan)
        partial.mkdir()
        writers: list[Writer] = [
            GeffWriter(partial / "tracks.geff", about, movie.has_scale),
            CsvWriter(partial),
        ]
        if ctc:
            writers.append(CtcWriter(partial / "ctc", movie))
        summary = Summary()
        pairs = summary.watch(blocks.keep(tracker.stream(movie, plan), partial / blocks.FOLDER, BLOCK))
        summary.tracks = len(drain(progress(pairs, len(movie) - 1), writers))
        if tracker.links is not None and tracker.links.unmatched:
            (partial / "unmatched_links.txt").write_text("\n".join(tracker.links.unmatched) + "\n")
        run = Run(Path(folder), about, summary, time.perf_counter() - started)
        (partial / RUN_FILE).write_text(json.dumps(run.to_dict(), indent=2) + "\n")
    return run
