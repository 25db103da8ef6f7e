"""Imperfect masks: everything that is asked of tracking them, beside trackpy, LapTrack and Ultrack, a row for each set and tool.

    DUNNO_DATA=... python -m benchmarks.segments -o build/segments [--sets PSC,heavy] [--seeds 10]
        [--peers trackpy,laptrack,ultrack] [--ultrack PYTHON] [--judge score.py] [--again]

Rows that are there are kept (`--again` tracks and scores anew), so that it can be stopped at any time; then `table.md` and
`rows.csv` are written, with what misses an aim in bold. `--sets` are parts of names. A peer that must be told how far cells move
tries several distances, and the one is kept with which most cells have a track of their own. Ultrack needs its own environment
(`pip install ultrack`), whose Python `--ultrack` names. `--judge` compares with another judge of the same things, a script that
takes OUT MASKS TRUTH [CELLS] and prints JSON.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mask_sets import MaskSet, mask_sets
from dunno import Movie, Tracker, evaluation, read
from dunno.biology import measure
from dunno.errors import DunnoWarning
from dunno.evaluation.challenge import challenge_measures
from dunno.evaluation.divisions import DivisionBin, DivisionScores, division_scores, matched_divisions
from dunno.evaluation.followed_cells import FollowedCells
from dunno.evaluation.held_cells import HeldCells
from dunno.evaluation.held_links import HeldLinks, held_links
from dunno.evaluation.judged_segments import PromiseBin
from dunno.evaluation.mask_scores import MaskScores, mask_scores
from dunno.evaluation.outcomes import RIGHT_LINK, promises
from dunno.evaluation.own_tracks import OwnTracks, own_tracks
from dunno.io.ctc import match_folder
from dunno.io.output import MASKS, read_segments, reopen_given
from dunno.runs.run import track_into
from dunno.tracking import Tracking

Row = dict[str, Any]

SAMPLES = 50

CHALLENGE = ("CT", "TF", "CCA", "BC")

ENOUGH, FEW_DIVISIONS = 20, 30
"""Swaps and divisions are asked about from so many on; bins of P(divide) from so many cells on."""

ENOUGH_SEGMENTS, OFF_SEGMENTS, OFF_DIVISIONS = 50, 0.1, 0.15
"""Bins of P(segment) are asked about from so many on; by how much a bin may be off."""


def main() -> None:
    """Make the rows that are not there, and print the table."""
    given = _arguments()
    warnings.simplefilter("ignore", DunnoWarning)
    work: Path = given.output
    (work / "rows").mkdir(parents=True, exist_ok=True)
    rows = []
    for each in mask_sets(work, given.seeds):
        if not any(part in each.name for part in given.sets.split(",")):
            continue
        if given.again:
            shutil.rmtree(work / "dunno" / _name(each), ignore_errors=True)
        rows.append(_kept(work, each, "dunno", given.again, lambda: by_dunno(each, work, given.judge)))  # noqa: B023
        for peer in [name for name in given.peers.split(",") if name]:
            python = given.ultrack if peer == "ultrack" else sys.executable
            if python:
                rows.append(_kept(work, each, peer, False, lambda: by_peer(each, work, peer, python)))  # noqa: B023
        report(work, [row for row in rows if row])
    print((work / "table.md").read_text())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/segments"))
    parser.add_argument("--sets", default="")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--peers", default="trackpy,laptrack,ultrack")
    parser.add_argument("--ultrack", default=os.environ.get("ULTRACK_PYTHON", ""))
    parser.add_argument("--judge", type=Path, default=None)
    parser.add_argument("--again", action="store_true")
    return parser.parse_args()


def _kept(work: Path, each: MaskSet, tool: str, again: bool, make: Any) -> Row:
    """A row, made only where it is not there; what fails is said and left out."""
    path = work / "rows" / f"{_name(each)}-{tool}.json"
    if path.is_file() and not again:
        return dict(json.loads(path.read_text()))
    print(f"{each.name}: {tool}", file=sys.stderr, flush=True)
    try:
        row = {"set": each.name, "tool": tool, **make()}
    except subprocess.CalledProcessError as error:
        print(f"{each.name}: {tool} failed\n{error.stderr[-2000:]}", file=sys.stderr)
        return {}
    path.write_text(json.dumps(row, indent=1))
    return row


def _name(each: MaskSet) -> str:
    return each.name.replace("/", "-").replace(" ", "-")


def by_dunno(each: MaskSet, work: Path, judge: Path | None) -> Row:
    """Tracked into a folder where it was not yet, read again, and scored."""
    out = work / "dunno" / _name(each)
    clock = out.with_suffix(".seconds")
    if not out.is_dir():
        begun, used = time.time(), time.process_time()
        path = each.movie if each.movie.is_dir() else each.masks
        track_into(Tracker(workers=1), read(path, masks=each.masks), out)
        clock.write_text(f"{time.time() - begun:.1f} {time.process_time() - used:.1f}\n")
    seconds, processor = map(float, clock.read_text().split())
    tracking = Tracking.read(out)
    truth = match_folder(each.truth, tracking.movie, each.cells)
    followed, held = FollowedCells.of(tracking), HeldCells.of(tracking.movie, truth)
    row = _tracks(followed, held, knows=True)
    repairs = evaluation.repair_scores(tracking, reopen_given(out), truth, read_segments(out))
    number = measure(tracking, SAMPLES, 0).figures[0]
    if judge is not None:
        row["judge"] = differences(row, _judged(judge, out, each))
    return {
        **row,
        **_masks(repairs.given, repairs.repaired),
        "det_cells": repairs.cells.det,
        "segments": [_bin(bin_) for bin_ in repairs.segments],
        "objects": [_bin(bin_) for bin_ in repairs.objects] if each.is_complete else [],
        "interval": [number.low, number.high],
        "verdict": tracking.about.verdict,
        "verdicts": {name: told["verdict"] for name, told in (tracking.about.get("verdicts") or {}).items()},
        **challenge_measures(tracking, each.truth, names=CHALLENGE),
        "seconds": seconds,
        "processor": processor,
    }  # fmt: skip


def by_peer(each: MaskSet, work: Path, peer: str, python: str) -> Row:
    """A peer with each of several distances; the best one is kept."""
    found: Row = {}
    for reach in each.reach if peer != "ultrack" else each.reach[-2:-1]:
        out = work / peer / f"{_name(each)}-{reach}"
        if not (out / "tracks.csv").is_file():
            command = [
                python,
                str(Path(__file__).with_name("peer_links.py")),
                peer,
                str(each.masks),
                str(out),
                str(reach),
            ]
            made = subprocess.run(command, check=False, capture_output=True, text=True)
            if made.returncode:  # trackpy gives up where cells are dense and the distance is large
                print(f"{each.name}: {peer} failed at {reach}: {made.stderr.splitlines()[-1]}", file=sys.stderr)
                continue
        movie = read(each.masks)
        own = read(out / MASKS) if (out / MASKS).is_dir() else movie
        truth = match_folder(each.truth, own, each.cells)
        row = _tracks(read_followed(out, own), HeldCells.of(own, truth), knows=False)
        if not found or row["own"] > found["own"]:
            masks = _masks(mask_scores(movie, match_folder(each.truth, movie, each.cells)), mask_scores(own, truth))
            found = {**row, **masks, "reach": reach, "seconds": float((out / "seconds").read_text())}
    return found


def read_followed(out: Path, movie: Movie) -> FollowedCells:
    """The tables of a peer."""
    cells = _columns(out / "detections.csv", "frame", "label", "track")
    links = _columns(out / "edges.csv", "mother_frame", "mother", "frame", "daughter")
    with (out / "tracks.csv").open() as file:
        dividing = {int(row["track"]) for row in csv.DictReader(file) if row["ending"] == "division"}
    row = {key: k for k, key in enumerate(zip(cells[0].tolist(), cells[1].tolist(), strict=True))}
    ends = [[row[key] for key in zip(*pair, strict=True)] for pair in (links[:2].tolist(), links[2:].tolist())]
    last = {track: k for k, track in enumerate(cells[2].tolist())}
    divides = np.zeros(len(row), np.bool_)
    divides[[last[track] for track in dividing]] = True
    position = np.searchsorted(movie.frames, cells[0])
    mother, daughter = (np.array(each, np.int64) for each in ends)
    return FollowedCells(
        movie.frames, position, cells[1], cells[2], np.zeros(len(row)), divides, mother, daughter, np.ones(len(mother))
    )


def _columns(path: Path, *names: str) -> np.ndarray:
    with path.open() as file:
        return (
            np.array([[int(row[name]) for name in names] for row in csv.DictReader(file)], np.int64)
            .reshape(-1, len(names))
            .T
        )


def _tracks(followed: FollowedCells, held: HeldCells, *, knows: bool) -> Row:
    """What can be asked of any tool."""
    divisions = division_scores(followed, held, knows=knows)
    divided = matched_divisions(followed, held, np.flatnonzero(followed.divides))
    tracks, links = own_tracks(followed, held, divided), held_links(followed, held)
    return {**_of_tracks(tracks), **_of_divisions(divisions), **_of_links(links)}


def _of_tracks(tracks: OwnTracks) -> Row:
    told = tracks.to_dict()
    return {
        "cells": tracks.cells, "own": told["own_share"], "whole": told["whole_share"], "cycles": tracks.cycles,
        "true_cycles": tracks.true_cycles,
    }  # fmt: skip


def _of_divisions(found: DivisionScores) -> Row:
    return {
        "reported": found.reported, "right": found.right, "true": found.true, "f1": _number(found.f1), "seen": found.seen,
        "expected": _number(found.expected), "expected_in_all": _number(found.expected_in_all),
        "reported_in_all": found.reported_in_all, "divisions": [_bin(each) for each in found.bins],
    }  # fmt: skip


def _of_links(links: HeldLinks) -> Row:
    told = promises(links.kind, links.probability)
    return {
        "links_right": int((links.kind == RIGHT_LINK).sum()), "recall": links.recall, "swaps": told["swaps"],
        "promised_swaps": told["promised_swaps"],
    }  # fmt: skip


def _masks(given: MaskScores, repaired: MaskScores) -> Row:
    return {
        "det_given": given.det, "det": repaired.det, "det_gain": repaired.det - given.det,
        "seg_given": _number(given.seg), "seg": _number(repaired.seg),
    }  # fmt: skip


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _bin(each: PromiseBin | DivisionBin) -> list[float]:
    count = each.masks if isinstance(each, DivisionBin) else each.count
    return [each.low, each.high, count, each.promised, each.found]


SAME = {
    "whole": "whole", "own": "whole_inside", "reported": "divisions", "right": "right", "true": "true", "f1": "f1",
    "expected": "expected_divisions", "expected_in_all": "all_expected", "swaps": "swaps_found",
    "promised_swaps": "swaps_promised", "recall": "recall",
}  # fmt: skip
"""What the other judge calls them."""

DIGITS = {"whole": 3, "own": 3, "f1": 3, "recall": 4}


def _judged(judge: Path, out: Path, each: MaskSet) -> Row:
    masks = out / MASKS if (out / MASKS).is_dir() else each.masks
    command = [
        sys.executable,
        str(judge),
        str(out),
        str(masks),
        str(each.truth),
        *([str(each.cells)] if each.cells else []),
    ]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def differences(row: Row, other: Row) -> list[str]:
    """Where two judges do not agree."""
    cycles = [] if [row["cycles"], row["true_cycles"]] == other["cycles"] else ["cycles"]
    return cycles + [
        name
        for name, its in SAME.items()
        if abs((row[name] or 0) - (other[its] or 0)) > 0.51 * 10 ** -DIGITS.get(name, 1)
    ]


HEADER = (
    "set", "tool", "own", "whole", "cycles", "F1", "reported / right / true", "Σ P held, all / seen", "95 % number",
    "P(divide) off", "swaps promised / found", "links right", "recall", "DET", "SEG", "P(segment) off", "P(cell) off",
    "CT", "TF", "CCA", "BC(0)", "verdict", "s",
)  # fmt: skip


def report(work: Path, rows: list[Row]) -> None:
    """Write `rows.csv` and `table.md`."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with (work / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    aims = {each.name: each.aims for each in mask_sets(work, 0)}
    peers: dict[str, list[Row]] = {}
    for row in rows:
        peers.setdefault(row["set"], []).append(row)
    lines = [line(row, aims.get(row["set"], {}), peers[row["set"]]) for row in rows]
    table = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER), *lines]
    (work / "table.md").write_text("\n".join(table) + "\n")


def line(row: Row, aims: Any, beside: list[Row]) -> str:
    """A row of the table; for dunno, what misses an aim is bold."""
    mine = row["tool"] == "dunno"
    best = max((each["own"] or 0 for each in beside if each["tool"] != "dunno"), default=0)
    own_missed = mine and (
        row["own"] < aims.get("own", 0) - 5e-4 or (row["cells"] >= ENOUGH_SEGMENTS and row["own"] <= best)
    )
    columns = [
        row["set"], row["tool"], _mark(f"{row['own']:.3f}", own_missed), f"{row['whole']:.3f}",
        _mark(f"{row['cycles']} of {row['true_cycles']}", mine and row["cycles"] < aims.get("cycles", 0)),
        "–" if row["f1"] is None else _mark(f"{row['f1']:.3f}", mine and row["f1"] < aims.get("f1", 0) - 5e-4),
        f"{row['reported']} / {row['right']} / {row['true']}",
    ]  # fmt: skip
    ratio = row["promised_swaps"], row["swaps"]
    off = mine and max(ratio) >= ENOUGH and not 0.67 <= ratio[1] / max(ratio[0], 1e-9) <= 1.5
    swaps = _mark(f"{ratio[0]:.0f} / {row['swaps']}", off) if mine else f"– / {row['swaps']}"
    det = _mark(f"{row['det_given']:.3f} → {row['det']:.3f}", mine and row["det_gain"] < aims.get("det_gain", 0) - 5e-5)
    outlines = [row["seg_given"], row["seg"]]
    seg = " → ".join("–" if value is None else f"{value:.3f}" for value in outlines)
    seg = _mark(seg, mine and None not in outlines and outlines[1] < outlines[0] - 5e-5)
    columns += [
        *(_promises(row) if mine else ["–"] * 3),
        swaps,
        str(row["links_right"]),
        f"{row['recall']:.4f}",
        det,
        seg,
    ]
    columns += [_off(row[name], ENOUGH_SEGMENTS, OFF_SEGMENTS) if mine else "–" for name in ("segments", "objects")]
    columns += ["–" if row.get(name) is None else f"{row[name]:.3f}" for name in ("CT", "TF", "CCA", "BC(0)")]
    columns += [row.get("verdict", "–"), f"{row['seconds']:.0f}"]
    return "| " + " | ".join(columns) + " |"


def _promises(row: Row) -> list[str]:
    """Σ P(divide), the interval of the number of divisions, and bins that are off."""
    low, high = row["interval"]
    all_, seen = row["expected_in_all"], row["seen"]
    off = (row["true"] >= ENOUGH and not 0.67 <= all_ / max(seen, 1) <= 1.5) or (row["true"] == 0 and all_ >= 5)
    expected = _mark(f"{row['expected']:.0f}, {all_:.0f} / {seen}", off)
    return [
        expected,
        _mark(f"{low:.0f} – {high:.0f}", not low <= seen <= high),
        _off(row["divisions"], FEW_DIVISIONS, OFF_DIVISIONS),
    ]


def _off(bins: list[list[float]], enough: int, most: float) -> str:
    """Bins with enough in them in which promised and found differ by too much, as shares."""
    wrong = [
        f"**{low:g}–{high:g}: {promised:.0f} / {found:.0f} of {count:.0f}**"
        for low, high, count, promised, found in bins
        if count >= enough and abs(promised - found) > most * count
    ]
    return ", ".join(wrong) or ("none" if bins else "–")


def _mark(text: str, missed: bool) -> str:
    return f"**{text}**" if missed else text


if __name__ == "__main__":
    main()
