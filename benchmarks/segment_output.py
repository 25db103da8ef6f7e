"""An answer about segments as a folder that `shared/prototypes/score.py` reads: masks, detections, edges, tracks."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tifffile

from benchmarks.cut_masks import CutMovie, read_frame
from dunno.segments.answer import Answer
from dunno.segments.holdings import Content
from dunno.segments.model import Structure
from dunno.segments.posterior import SegmentPosterior
from dunno.segments.ways import STAYING
from dunno.types import Floats, Ints


@dataclass(frozen=True)
class Tracks:
    """Objects that are there, in the order of their frames.

    Attributes:
        objects: (K,) rows of objects.
        label: (O,) in its frame, 0 for objects that are not there.
        track: (O,) likewise.
        divides: (O,) whether it has two daughters.
    """

    objects: Ints
    label: Ints
    track: Ints
    divides: Ints


def tracks_of(structure: Structure, answer: Answer) -> Tracks:
    """Numbers the answer's objects and their tracks."""
    holdings, segments = structure.holdings, structure.segments
    objects = np.flatnonzero(np.isin(holdings.state, answer.state))
    frame = segments.frame[holdings.segment[objects]]
    objects = objects[np.argsort(frame, kind="stable")]
    frame = np.sort(frame)
    n = len(holdings.state)
    label, track = np.zeros(n, np.int64), np.zeros(n, np.int64)
    label[objects] = np.arange(len(objects)) - np.searchsorted(frame, frame) + 1
    divides = np.bincount(answer.mother, minlength=n) == 2
    mother = np.full(n, -1)
    mother[answer.daughter] = answer.mother
    n_tracks = 0
    for o in objects.tolist():
        if mother[o] >= 0 and not divides[mother[o]]:
            track[o] = track[mother[o]]
        else:
            n_tracks += 1
            track[o] = n_tracks
    return Tracks(objects, label, track, divides)


def link_probability(structure: Structure, posterior: SegmentPosterior, answer: Answer) -> Floats:
    """(K,) of each link of the answer, given that the daughter's segment is chosen, whether cell or debris."""
    holdings, h = structure.holdings, structure.hypotheses
    n = len(structure.segments.frame)
    pair = holdings.segment[h.mother] * n + holdings.segment[h.daughter]
    unique, row = np.unique(pair, return_inverse=True)
    total = np.bincount(row, posterior.way[h.way], len(unique))
    chosen = np.bincount(holdings.segment, posterior.state[holdings.state], n)
    own = holdings.segment[answer.mother] * n + holdings.segment[answer.daughter]
    joint = total[np.searchsorted(unique, own)]
    return np.asarray(np.minimum(joint / np.maximum(chosen[holdings.segment[answer.daughter]], 1e-12), 1.0))


def mask_divides(structure: Structure, posterior: SegmentPosterior, tracks: Tracks) -> Floats:
    """(O,) P(divide) of objects that are there: their own, and a share of what others of their mask have."""
    mask = structure.hypotheses.object_mask
    there = np.zeros(len(mask), bool)
    there[tracks.objects] = True
    n = structure.segments.n_masks
    own = np.where(there, posterior.divide, 0.0)
    rest = np.bincount(mask, posterior.divide - own, n) / np.maximum(np.bincount(mask[there], minlength=n), 1)
    return np.asarray(np.where(there, own + rest[mask], 0.0))


def write(movie: CutMovie, structure: Structure, posterior: SegmentPosterior, answer: Answer, out: Path) -> None:
    """The folder."""
    (out / "masks").mkdir(parents=True, exist_ok=True)
    tracks = tracks_of(structure, answer)
    frames = np.array([int("".join(c for c in path.stem if c.isdigit())[-3:]) for path in movie.files])
    _paint(movie, structure, answer, tracks, out)
    _write_detections(structure, posterior, tracks, frames, out)
    frame = frames[structure.segments.frame[structure.holdings.segment]]
    with (out / "edges.csv").open("w") as file:
        table = csv.writer(file)
        table.writerow("mother_frame mother frame daughter cost probability selected".split())
        for a, b, p in zip(answer.mother, answer.daughter, link_probability(structure, posterior, answer), strict=True):
            table.writerow([frame[a], tracks.label[a], frame[b], tracks.label[b], 0, f"{p:.5f}", 1])
    (out / "run.json").write_text(json.dumps({"calibrated": True, "verdict": "-"}))


def _write_detections(
    structure: Structure, posterior: SegmentPosterior, tracks: Tracks, frames: Ints, out: Path
) -> None:
    holdings, segments = structure.holdings, structure.segments
    divide = mask_divides(structure, posterior, tracks)
    frame = frames[segments.frame[holdings.segment]]
    last: dict[int, int] = {}
    first: dict[int, int] = {}
    with (out / "detections.csv").open("w") as file:
        table = csv.writer(file)
        table.writerow("frame label track p_divide y x area kind".split())
        for o in tracks.objects.tolist():
            s = holdings.segment[o]
            kind = Content(holdings.content[holdings.state[o]]).name + ("" if holdings.is_cell[o] else " debris")
            where = [f"{x:.1f}" for x in segments.place[s]]
            table.writerow(
                [frame[o], tracks.label[o], tracks.track[o], f"{divide[o]:.5f}", *where, int(segments.area[s]), kind]
            )
            first.setdefault(tracks.track[o], o)
            last[tracks.track[o]] = o
    with (out / "tracks.csv").open("w") as file:
        table = csv.writer(file)
        table.writerow("track first_frame last_frame mother_track ending".split())
        for track, o in last.items():
            ending = "division" if tracks.divides[o] else "end"
            table.writerow([track, frame[first[track]], frame[o], "", ending])


def _paint(movie: CutMovie, structure: Structure, answer: Answer, tracks: Tracks, out: Path) -> None:
    holdings, segments = structure.holdings, structure.segments
    for t, path in enumerate(movie.files):
        frame = read_frame(path)
        image = np.zeros(frame.image.shape, np.uint16)
        for mask in np.flatnonzero(segments.frame[: segments.n_masks] == t).tolist():
            state = int(answer.state[mask])
            content, source = holdings.content[state], int(holdings.source[state])
            if content == Content.NOTHING:
                continue
            if content == Content.JOINED:
                other = answer.state[segments.masks[source, 0]]
                labels = tracks.label[holdings.objects(np.array([other]), 0)]
                part = np.zeros(1, np.int64)
            else:
                objects = _objects(holdings.state, state)
                labels, part = tracks.label[objects], np.zeros(1, np.int64)
            if content in STAYING:
                rank = {int(s): k for k, s in enumerate(segments.cuts[source]) if s >= 0}
                by_rank = np.zeros(3, np.int64)
                for o, label in zip(objects, labels, strict=True):
                    by_rank[rank[int(holdings.segment[o])]] = label
                labels, part = by_rank, np.unique(movie.parts[source], return_inverse=True)[1]
            pixels = frame.pixels[int(np.searchsorted(frame.labels, movie.labels[mask]))].astype(np.int64)
            image[tuple(pixels.T)] = labels[part]
        tifffile.imwrite(out / "masks" / path.name, image, compression="zlib")


def _objects(state_of: Ints, state: int) -> Ints:
    first, end = np.searchsorted(state_of, [state, state + 1])
    return np.arange(first, end)
