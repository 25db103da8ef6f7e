"""A whole embryo in 3D: memory, time, wrong links beside promised ones, and divisions, at several frame rates.

DUNNO_DATA=... python -m benchmarks.embryo [--every 1,3,6,10] [-- MORE OPTIONS OF dunno track]

Each row is `dunno track` with all defaults in a process of its own, and `dunno evaluate` beside the curated lineage.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_megabytes


def main(arguments: list[str]) -> None:
    """Print a row for each frame rate."""
    steps = arguments[arguments.index("--every") + 1] if "--every" in arguments else "1,3,6,10"
    more = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
    folder = Path(os.environ["DUNNO_DATA"]) / "Celegans-embryo"
    print("| every | links | wrong | promised | found / promised | divisions right of true | reported | s | peak MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        for step in map(int, steps.split(",")):
            print(row(step, measured(folder, step, Path(work), more)), flush=True)


def measured(folder: Path, step: int, work: Path, more: list[str]) -> dict[str, Any]:
    """Track every n-th frame, and evaluate."""
    dunno, out = [sys.executable, "-m", "dunno"], str(work / f"every{step}")
    track = [*dunno, "track", str(folder / "points.csv"), "--scale", "1,1,1", "--every", str(step), "-o", out, "-q"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    peak = peak_megabytes([*track, *more])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    evaluate = [*dunno, "evaluate", out, "--truth", str(folder / "truth.csv"), "--bootstrap", "0", "--json"]
    found = json.loads(subprocess.run(evaluate, check=True, capture_output=True, text=True).stdout)
    return {**found, "peak": peak, "processor": spent, "wall": time.perf_counter() - began}


def row(step: int, found: dict[str, Any]) -> str:
    """A line of the table."""
    wrong, promised, divisions = found["swaps"], found["promised_wrong"], found["divisions"]
    return (
        f"| {step} | {found['n_links']:,} | {wrong:,} | {promised:,.0f} | {wrong / promised:.2f} | "
        f"{divisions['right']} of {divisions['true']} | {divisions['reported']} | {found['processor']:.1f} | "
        f"{found['peak']:.0f} |"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
