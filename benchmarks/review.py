"""How fast a review is: opening a long movie, one decision, the next question.

python -m benchmarks.review

Times are those of the working thread, given beside that of the marginals of one frame pair in the same run.
"""

from __future__ import annotations

import json
import resource
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.clock import fastest
from dunno import Tracker
from dunno.assignment import marginals
from dunno.io import block_files
from dunno.io.writing import RUN_FILE
from dunno.review import Decision, Review
from dunno.review.desk import Desk
from dunno.runs.run import track_into
from dunno.simulate import colony
from dunno.types import Block, PairPosterior

CELLS, FRAMES, LONG = 1000, 17, 1001
ANSWERS = 30


def main() -> None:
    """Make a movie of 1,000 cells, review it, then make it 1,000 frames long and open that."""
    with tempfile.TemporaryDirectory() as folder:
        simulated = colony(cells=CELLS, frames=FRAMES, motion=0.2, seed=0, room=1.2)
        simulated.save(Path(folder) / "01")
        simulated.movie.path = str(Path(folder) / "01")
        out = Path(folder) / "out"
        track_into(Tracker(), simulated.movie, out)
        report_answers(out)
        lengthen(out, LONG)
        started = time.thread_time()
        with Review.open(out, read_only=True) as review:
            seconds = time.thread_time() - started
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
            print(
                f"{len(review.table):,} daughters in {review.table.n_pairs:,} frame pairs opened in {seconds:.1f} s, {peak:.0f} MiB"
            )


def report_answers(out: Path) -> None:
    """Answer questions with what is reported, and time each part."""
    with Review.open(out) as review:
        desk = Desk(review)
        problem = review.original(0).problem
        assert problem is not None
        peer = fastest(5, marginals, problem)
        times: dict[str, list[float]] = {"decision": [], "next question": [], "both, with all that the page shows": []}
        for _ in range(ANSWERS):
            question = review.next()
            assert question is not None
            began = time.thread_time()
            desk.answer(accepted(review.pair(question.pair), question.label))
            decided = time.thread_time()
            review.next()
            found = time.thread_time()
            desk.ask()
            for name, seconds in zip(
                times, (decided - began, found - decided, time.thread_time() - began), strict=True
            ):
                times[name].append(1e3 * seconds)
        print(f"{CELLS:,} cells: marginals of a frame pair take {peer:.1f} ms")
        for name, each in times.items():
            middle, worst = np.median(each), np.max(each)
            print(f"  {name}: {middle:.0f} ms ({middle / peer:.1f} × marginals), at most {worst:.0f} ms")


def accepted(pair: PairPosterior, label: int) -> Decision:
    """The reported decision as an answer."""
    daughter = int(np.searchsorted(pair.daughters.label, label))
    edge = np.flatnonzero(pair.selected & (pair.daughter == daughter))
    if not len(edge):
        return Decision("no mother", pair.daughter_frame, label)
    return Decision("mother", pair.daughter_frame, label, int(pair.mothers.label[pair.mother[edge[0]]]))


def lengthen(out: Path, n_frames: int) -> None:
    """Repeat an output's pairs until it has so many frames; nobody looks at pixels to open it."""
    whole = Block.joined(list(block_files.linked_blocks(out)))
    shutil.rmtree(out / block_files.PAIRS_FOLDER)
    (out / "review.jsonl").unlink()
    (out / block_files.PAIRS_FOLDER).mkdir()
    size = len(whole.own)
    for index, first in enumerate(range(0, n_frames - 1, size)):
        block = whole.part(0, min(size, n_frames - 1 - first))
        frames = np.arange(first, first + len(block.frames))
        shifted = replace(block, cells=replace(block.cells, frames=frames))
        block_files.write_block(block_files.block_file(out / block_files.PAIRS_FOLDER, index), shifted)
    content = json.loads((out / RUN_FILE).read_text())
    content["parameters"]["frames"] = list(range(n_frames))
    (out / RUN_FILE).write_text(json.dumps(content))


if __name__ == "__main__":
    main()
