"""Blocks of results on disk, one per file, with everything that was computed.

`dunno track` leaves them in `OUT/pairs/`: the report, the review and a resumed run read them, a block at a time. A file holds the
columns of a block's table (`dunno.types.Block`); those in which nothing is known are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dunno.assignment import Problem, Triples
from dunno.errors import InputError
from dunno.io.array_files import open_arrays, write_arrays
from dunno.io.schema import PAIRS
from dunno.io.writing import RUN_FILE
from dunno.lineage.gap_links import one_link_each
from dunno.types import Block, BrokenFrame, Cells
from dunno.types.block import AS_DAUGHTER, AS_MOTHER, OF_EDGES
from dunno.types.detections import PLACED

PAIRS_FOLDER = "pairs"
PROBLEM = ("cost", "appear", "disappear", "divide", "dividing_cost")
TRIPLES = {"first_edge": np.int32, "second_edge": np.int32, "cost": np.float64}


def block_file(folder: str | Path, index: int) -> Path:
    """Where block `index` of an output's pairs lies."""
    return Path(folder) / f"{index:06d}.npz"


def write_block(path: Path, block: Block, broken: Sequence[BrokenFrame] = ()) -> None:
    """Write a block, and which of its frames could not be read, whole or not at all."""
    columns = AS_DAUGHTER | AS_MOTHER
    arrays: dict[str, Any] = {
        "frames": block.frames,
        "ends": block.begin,
        "first": np.int64(block.first),
        "flags": np.array([block.has_events, block.is_reviewed]),
        **{f"cell_{name}": getattr(block.cells, name) for name in PLACED},
        **{name: getattr(block, name) for name in OF_EDGES},
        **{name: column for name in columns if _is_known(column := getattr(block, name), columns[name])},
        **({"broken": np.array([json.dumps(asdict(each)) for each in broken])} if broken else {}),
    }
    if block.problem is not None:
        given = {name: getattr(block.problem, name) for name in PROBLEM}
        arrays |= {f"problem_{name}": values for name, values in given.items() if values is not None}
        if (triples := block.problem.triples) is not None:
            arrays |= {f"triples_{name}": getattr(triples, name).astype(kind) for name, kind in TRIPLES.items()}
    write_arrays(path, PAIRS, arrays)


def _is_known(column: np.ndarray, unknown: float) -> bool:
    return not bool(np.all(np.isnan(column) if np.isnan(unknown) else column == unknown))


def read_block(path: Path) -> Block:
    """Read a block, as it was but for pixels and samples."""
    with open_arrays(path, PAIRS) as arrays:
        return _block(arrays, _problem(arrays))


def read_results(path: Path) -> tuple[Block, list[BrokenFrame]]:
    """Read what an export tells of a block: all but the problem that it was computed from; and its broken frames."""
    with open_arrays(path, PAIRS) as arrays:
        broken = [BrokenFrame(**json.loads(each)) for each in arrays["broken"].tolist()] if "broken" in arrays else []
        return _block(arrays, None), broken


def _block(arrays: Mapping[str, Any], problem: Problem | None) -> Block:
    frames = arrays["frames"]
    if len(frames) < 2:
        raise ValueError("it holds no pairs")
    nothing = np.full(len(frames), np.nan), np.zeros(len(frames), np.uint64)
    cells = Cells(frames, *nothing, arrays["ends"], **{name: arrays[f"cell_{name}"] for name in PLACED})
    known = {name: arrays[name] for name in (*OF_EDGES, *AS_DAUGHTER, *AS_MOTHER) if name in arrays}
    has_events, is_reviewed = arrays["flags"].tolist()
    about = {"problem": problem, "has_events": has_events, "is_reviewed": is_reviewed}
    block = Block.of(cells, int(arrays["first"]), **known, **about)
    _check(block)
    return block


def _check(block: Block) -> None:
    """Refuse a table whose columns do not fit each other."""
    n, edges = len(block.cells), len(block.mother)
    whole = len(block.begin) == len(block.frames) + 1 and block.begin[-1] == n and (np.diff(block.begin) >= 0).all()
    cells = (
        *(getattr(block.cells, name) for name in PLACED),
        *(getattr(block, name) for name in AS_DAUGHTER | AS_MOTHER),
    )
    fits = all(len(each) == n for each in cells) and all(len(getattr(block, name)) == edges for name in OF_EDGES)
    if not (whole and fits and 0 <= block.first < len(block.frames) - 1):
        raise ValueError("its columns do not fit each other")
    ends = np.concatenate([block.mother, block.daughter])
    if len(ends) and not (0 <= ends.min() and ends.max() < n):
        raise ValueError("an edge leads to no cell")


def _problem(arrays: Mapping[str, Any]) -> Problem | None:
    if "problem_cost" not in arrays:
        return None
    cost, appear, disappear, divide = (arrays[f"problem_{name}"] for name in PROBLEM[:-1])
    triples = Triples(*(arrays[f"triples_{name}"] for name in TRIPLES)) if "triples_cost" in arrays else None
    dividing = arrays["problem_dividing_cost"] if "problem_dividing_cost" in arrays else None
    ends = (arrays["mother"], arrays["daughter"], cost, len(appear), len(appear))
    return Problem(*ends, appear, disappear, divide, dividing, triples)


def is_whole(path: Path) -> bool:
    """Whether a block is there and can be read; one that is damaged is computed again."""
    try:
        return path.is_file() and len(read_block(path).frames) > 1
    except InputError:
        return False


def linked_blocks(folder: str | Path) -> Iterator[Block]:
    """Yield all blocks of an output, in frame order, with the links that are reported, one in memory at a time."""
    yield from one_link_each(stored_blocks(folder))


def n_blocks(folder: str | Path) -> int:
    """How many blocks an output has."""
    return len(list((Path(folder) / PAIRS_FOLDER).glob("*.npz")))


def stored_blocks(folder: str | Path) -> Iterator[Block]:
    """Yield the block of each file of an output, in frame order; a file that is missing is named."""
    files = sorted((Path(folder) / PAIRS_FOLDER).glob("*.npz"))
    if not files:
        raise InputError(
            f"{folder}: has no {PAIRS_FOLDER}/ folder; it was made by an older version, track the movie again"
        )
    frame, last = None, _last_frame(Path(folder))
    for index, path in enumerate(files):
        block = read_block(path)
        if path.name != block_file("", index).name or frame not in (None, int(block.frames[block.first])):
            raise InputError(f"{block_file(path.parent, index)}: is missing; {PAIRS.cure}")
        frame = int(block.frames[-1])
        yield block
    if last is not None and frame != last:
        raise InputError(f"{block_file(files[0].parent, len(files))}: is missing; {PAIRS.cure}")


def _last_frame(folder: Path) -> int | None:
    """The last frame of an output, as its `run.json` has it; `None` where there is none, which is not said here."""
    try:
        return int(json.loads((folder / RUN_FILE).read_text())["parameters"]["frames"][-1])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def keep(blocks: Iterable[Block], folder: Path) -> Iterator[Block]:
    """Write blocks to disk, and hand them on."""
    folder.mkdir()
    for index, block in enumerate(blocks):
        write_block(block_file(folder, index), block)
        yield block
