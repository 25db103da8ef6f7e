"""Frame pairs on disk, a block of them per file, with everything that was computed.

`dunno track` leaves them in `OUT/pairs/`: the report, the review and a resumed run read them, a block at a time. A file holds
its pairs' arrays one after the other, with the number of rows that each frame or pair has of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dunno.assignment import Problem, Triples
from dunno.errors import InputError
from dunno.io.array_files import open_arrays, write_arrays
from dunno.io.schema import PAIRS
from dunno.io.writing import RUN_FILE
from dunno.lineage.gaps import one_link_each
from dunno.types import BrokenFrame, Detections, GapEdges, GapWeights, Held, PairPosterior

FOLDER = "pairs"

PER_CELL = ("label", "centroid", "area", "bbox")
PER_EDGE = ("mother", "daughter", "cost", "log_probability", "selected")
PER_DAUGHTER = ("log_no_mother", "entropy")
PER_MOTHER = ("log_disappear", "log_divide", "border_share")
PROBLEM = ("cost", "appear", "disappear", "divide", "dividing_cost")
GAPS = ("mother_frame", "mother", "mother_label", "daughter", "gap", "cost", "log_probability", "selected")
PER_GAP, PER_SISTER = ("dividing_cost", "lost", "appear"), ("sister_edge", "sister_frame", "sister", "sister_cost")
HELD = ("p_false", "p_two")
COMPUTED_FROM = ("problem_", "n_triples", "weight_", "n_sisters")
"""How the names begin of what only sampling and reviewing need."""
TRIPLES = {"first_edge": np.int32, "second_edge": np.int32, "cost": np.float64}


def block_file(folder: str | Path, index: int) -> Path:
    """Where block `index` of an output's pairs lies."""
    return Path(folder) / f"{index:06d}.npz"


def write_block(path: Path, pairs: Sequence[PairPosterior], broken: Sequence[BrokenFrame] = ()) -> None:
    """Write consecutive pairs, and which of their frames could not be read, whole or not at all."""
    if not pairs:
        raise ValueError("a block has at least one pair")
    cells = [pairs[0].mothers, *(pair.daughters for pair in pairs)]
    arrays: dict[str, Any] = {
        "frames": np.array([each.frame for each in cells]),
        "n_cells": np.array([len(each) for each in cells]),
        "n_edges": np.array([len(pair.mother) for pair in pairs]),
        **{f"cell_{name}": _joined(cells, name) for name in PER_CELL},
        **{name: _joined(pairs, name) for name in (*PER_EDGE, *PER_DAUGHTER)},
        **{name: _joined(pairs, name) for name in PER_MOTHER if getattr(pairs[0], name) is not None},
        **({"broken": np.array([json.dumps(asdict(each)) for each in broken])} if broken else {}),
    }
    arrays |= _gap_arrays([pair.gaps for pair in pairs])
    together = [pair.log_together for pair in pairs]
    if any(each is not None for each in together):
        rows = [np.zeros(len(p.daughters)) if each is None else each for p, each in zip(pairs, together, strict=True)]
        arrays["log_together"] = np.concatenate(rows)
    arrays |= _held_arrays([pairs[0].mothers_held, *(pair.daughters_held for pair in pairs)], arrays["n_cells"])
    problems = [pair.problem for pair in pairs if pair.problem is not None]
    if len(problems) == len(pairs):
        given = [name for name in PROBLEM if getattr(problems[0], name) is not None]
        arrays |= {f"problem_{name}": _joined(problems, name) for name in given}
        arrays |= _triple_arrays([problem.triples for problem in problems])
    write_arrays(path, PAIRS, arrays)


def _joined(parts: Sequence[Any], name: str) -> np.ndarray:
    return np.concatenate([getattr(part, name) for part in parts])


def _gap_arrays(each: Sequence[GapEdges | None]) -> dict[str, Any]:
    """Edges across gaps with how many each pair has of them, -1 for None; nothing where none has any."""
    listed = [gaps for gaps in each if gaps is not None]
    if not listed:
        return {}
    columns: dict[str, Any] = {f"gap_{name}": _joined(listed, name) for name in GAPS}
    weights = [gaps.weights for gaps in listed if gaps.weights is not None]
    if len(weights) == len(listed):
        columns |= {f"weight_{name}": _joined(weights, name) for name in (*PER_GAP, *PER_SISTER)}
        columns["n_sisters"] = np.array([0 if gaps is None else _n_sisters(gaps) for gaps in each])
    return {"n_gaps": np.array([-1 if gaps is None else len(gaps) for gaps in each]), **columns}


def _n_sisters(gaps: GapEdges) -> int:
    return 0 if gaps.weights is None else len(gaps.weights.sister)


def _gaps(arrays: dict[str, Any], n_pairs: int) -> list[GapEdges | None]:
    if "n_gaps" not in arrays:
        return [None] * n_pairs
    rows = _bounds(np.maximum(arrays["n_gaps"], 0))
    sisters = _bounds(arrays["n_sisters"]) if "n_sisters" in arrays else rows
    return [
        None
        if n < 0
        else GapEdges(**{name: arrays[f"gap_{name}"][own] for name in GAPS}, weights=_weights(arrays, own, those))
        for n, own, those in zip(arrays["n_gaps"].tolist(), rows, sisters, strict=True)
    ]


def _weights(arrays: dict[str, Any], own: slice, sisters: slice) -> GapWeights | None:
    if "n_sisters" not in arrays:
        return None
    columns = {name: arrays[f"weight_{name}"][own] for name in PER_GAP}
    return GapWeights(**columns, **{name: arrays[f"weight_{name}"][sisters] for name in PER_SISTER})


def _held_arrays(each: Sequence[Held | None], n_cells: np.ndarray) -> dict[str, Any]:
    """How many cells the masks hold, NaN where it is not known; nothing where nothing is."""
    if all(held is None for held in each):
        return {}
    known = [Held(*np.full((2, n), np.nan)) if held is None else held for n, held in zip(n_cells, each, strict=True)]
    return {f"cell_{name}": _joined(known, name) for name in HELD}


def _held(arrays: dict[str, Any], cell: slice) -> Held | None:
    if f"cell_{HELD[0]}" not in arrays:
        return None
    columns = [arrays[f"cell_{name}"][cell] for name in HELD]
    return None if np.isnan(columns).all() else Held(*columns)


def _triple_arrays(each: Sequence[Triples | None]) -> dict[str, Any]:
    """Divisions' costs with how many each problem has of them, -1 for None; nothing where none has any."""
    listed = [triples for triples in each if triples is not None]
    if not listed:
        return {}
    counts = np.array([-1 if triples is None else len(triples) for triples in each])
    columns = {f"problem_triples_{name}": _joined(listed, name).astype(kind) for name, kind in TRIPLES.items()}
    return {"n_triples": counts, **columns}


def read_block(path: Path) -> list[PairPosterior]:
    """Read the pairs of one file, as they were but for pixels and samples."""
    with open_arrays(path, PAIRS) as arrays:
        return _listed(dict(arrays))


def read_results(path: Path) -> tuple[list[PairPosterior], list[BrokenFrame]]:
    """Read what an export tells of a block: its pairs without what they were computed from, and its broken frames."""
    with open_arrays(path, PAIRS) as arrays:
        needed = {name: arrays[name] for name in arrays if not name.startswith(COMPUTED_FROM)}
        return _listed(needed), _broken(arrays)


def _listed(arrays: dict[str, Any]) -> list[PairPosterior]:
    pairs = list(_pairs(arrays))
    if not pairs:
        raise ValueError("it holds no pairs")
    return pairs


def _broken(arrays: Mapping[str, Any]) -> list[BrokenFrame]:
    return [BrokenFrame(**json.loads(each)) for each in arrays["broken"].tolist()] if "broken" in arrays else []


def is_whole(path: Path) -> bool:
    """Whether a block is there and can be read; one that is damaged is computed again."""
    try:
        return path.is_file() and bool(read_block(path))
    except InputError:
        return False


def _pairs(arrays: dict[str, Any]) -> Iterator[PairPosterior]:
    frames, n_cells, n_edges = arrays["frames"].tolist(), arrays["n_cells"], arrays["n_edges"]
    cell, edge = _bounds(n_cells), _bounds(n_edges)
    of_mother, of_daughter = _bounds(n_cells[:-1]), _bounds(n_cells[1:])
    cells = [
        Detections(**{name: arrays[f"cell_{name}"][cell[t]] for name in PER_CELL}, frame=frame)
        for t, frame in enumerate(frames)
    ]
    triples, gaps = _triples(arrays, len(n_edges)), _gaps(arrays, len(n_edges))
    for t in range(len(n_edges)):
        part = {name: arrays[name][edge[t]] for name in PER_EDGE}
        part |= {name: arrays[name][of_daughter[t]] for name in PER_DAUGHTER}
        part |= {name: arrays[name][of_mother[t]] for name in PER_MOTHER if name in arrays}
        if "log_together" in arrays and arrays["log_together"][of_daughter[t]].any():
            part["log_together"] = arrays["log_together"][of_daughter[t]]
        problem = None
        if "problem_cost" in arrays:
            rows = {"cost": edge, "dividing_cost": edge, "appear": of_daughter}
            terms = {n: arrays[f"problem_{n}"][rows.get(n, of_mother)[t]] for n in PROBLEM if f"problem_{n}" in arrays}
            ends = (part["mother"], part["daughter"], terms.pop("cost"), len(cells[t]), len(cells[t + 1]))
            problem = Problem(*ends, **terms, triples=triples[t])
        part |= {"mothers_held": _held(arrays, cell[t]), "daughters_held": _held(arrays, cell[t + 1])}
        yield PairPosterior(mothers=cells[t], daughters=cells[t + 1], **part, problem=problem, gaps=gaps[t])


def _triples(arrays: dict[str, Any], n_pairs: int) -> list[Triples | None]:
    if "n_triples" not in arrays:
        return [None] * n_pairs
    counts, columns = arrays["n_triples"], [arrays[f"problem_triples_{name}"] for name in TRIPLES]
    rows = _bounds(np.maximum(counts, 0))
    return [
        None if n < 0 else Triples(*(column[own] for column in columns)) for n, own in zip(counts, rows, strict=True)
    ]


def _bounds(counts: np.ndarray) -> list[slice]:
    ends = np.concatenate([[0], np.cumsum(counts)]).tolist()
    return [slice(first, end) for first, end in pairwise(ends)]


def stored_pairs(folder: str | Path) -> Iterator[PairPosterior]:
    """Yield all pairs of an output, in frame order, a block in memory at a time."""
    yield from one_link_each(pair for block in stored_blocks(folder) for pair in block)


def stored_blocks(folder: str | Path) -> Iterator[list[PairPosterior]]:
    """Yield the pairs of each file of an output, in frame order; a file that is missing is named."""
    files = sorted((Path(folder) / FOLDER).glob("*.npz"))
    if not files:
        raise InputError(f"{folder}: has no {FOLDER}/ folder; it was made by an older version, track the movie again")
    frame, last = None, _last_frame(Path(folder))
    for index, path in enumerate(files):
        pairs = read_block(path)
        if path.name != block_file("", index).name or frame not in (None, pairs[0].mother_frame):
            raise InputError(f"{block_file(path.parent, index)}: is missing; {PAIRS.cure}")
        frame = pairs[-1].daughter_frame
        yield pairs
    if last is not None and frame != last:
        raise InputError(f"{block_file(files[0].parent, len(files))}: is missing; {PAIRS.cure}")


def _last_frame(folder: Path) -> int | None:
    """The last frame of an output, as its `run.json` has it; `None` where there is none, which is not said here."""
    try:
        return int(json.loads((folder / RUN_FILE).read_text())["parameters"]["frames"][-1])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def keep(pairs: Iterable[PairPosterior], folder: Path, block: int) -> Iterator[PairPosterior]:
    """Write pairs to disk, `block` per file, and hand them on."""
    folder.mkdir()
    waiting: list[PairPosterior] = []
    index = 0
    for pair in pairs:
        waiting.append(pair)
        if len(waiting) == block:
            write_block(block_file(folder, index), waiting)
            waiting, index = [], index + 1
        yield pair
    if waiting:
        write_block(block_file(folder, index), waiting)
