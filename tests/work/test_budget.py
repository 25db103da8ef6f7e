"""A limit of memory: what does not fit ends in one line."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dunno.cli import run
from dunno.errors import InputError
from dunno.runs import plate
from dunno.simulate import colony as simulate
from dunno.tracking.gate import find_candidates
from dunno.types import Detections
from dunno.work import budget
from dunno.work.budget import LEAST_BUDGET, bytes_of, usual_limit

LIMITED = """
import sys
from dunno import _core
from dunno.work.budget import limit_memory
assert limit_memory("300MB") == 300_000_000
import numpy as np
places = np.zeros((20_000, 2))
try:
    _core.within(places, places, 1.0)
except MemoryError as error:
    print("refused", error)
"""

STARVED = """
import os
import resource
import zlib
import numpy as np
from dunno.assignment import Problem, k_best, marginals, sample, solve_batch
from dunno.types.labels import measure
from dunno.types.neighbours import within

rng = np.random.default_rng(0)
places = rng.uniform(0, 32, (1_000, 2))
later = places + rng.normal(0, 0.3, places.shape)
daughter, mother = within(later, places, 2.5, 12)
cost = ((later[daughter] - places[mother]) ** 2).sum(axis=1) / 0.18
problem = Problem(mother, daughter, cost, 1_000, 1_000, 4.0, 4.0, 3.0)
masks = np.arange(90_000, dtype=np.int32).reshape(300, 300)
works = {
    "within": lambda: within(later, places, 2.5, 12)[1],
    "measure": lambda: measure(masks, "masks").area,
    "solve_batch": lambda: solve_batch(problem, np.stack([cost, 1.5 * cost])).edge,
    "k_best": lambda: k_best(problem, 5).cost,
    "sample": lambda: sample(problem, 3, seed=1),
    **{name: lambda name=name: marginals(problem, name).edge for name in ("auto", "bp", "rough")},
}

def data():
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmData"))

def told(work, more=None):
    # what a process of its own says that may take so much more memory
    if (child := os.fork()) == 0:
        if more is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (data() + more, resource.RLIM_INFINITY))
        try:
            digest = zlib.crc32(work().tobytes()) % 250
        except MemoryError:
            os._exit(251)
        os._exit(digest)
    return os.waitpid(child, 0)[1]

for name, work in works.items():
    whole, found = told(work), [told(work, int(4096 * 2 ** (k / 2))) for k in range(34)]
    print(name, whole >> 8, found.count(251 << 8), found.count(whole), len(found))
"""


def test_wherever_memory_ends_the_core_says_so() -> None:
    anew = {"MALLOC_MMAP_THRESHOLD_": "4096", "MALLOC_TRIM_THRESHOLD_": "4096"}  # nothing that was freed is kept
    command = [sys.executable, "-c", STARVED]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **anew})
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 8
    for name, whole, *counts in lines:
        refused, right, tried = map(int, counts)
        assert int(whole) < 250 and refused > 2 and right > 2 and refused + right == tried, (name, whole, counts)


def test_what_the_core_cannot_have_is_a_memory_error() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("refused")


def test_a_run_that_does_not_fit_ends_in_one_line_that_says_what_would_help(tmp_path: Path) -> None:
    rng, lines = np.random.default_rng(0), ["frame,id,y,x"]
    lines += [f"{t},{k},{y},{x}" for t in (0, 1) for k, (y, x) in enumerate(rng.uniform(0, 100, (60_000, 2)), 1)]
    (tmp_path / "spots.csv").write_text("\n".join(lines) + "\n")
    track = ["track", str(tmp_path / "spots.csv"), "-o", str(tmp_path / "out"), "-q", "--memory", "250MB"]
    done = subprocess.run([sys.executable, "-m", "dunno", *track], capture_output=True, text=True, check=False)
    told = [line for line in done.stderr.splitlines() if line.startswith("dunno:")]
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert len(told) == 1
    assert "the memory is not enough" in told[0]
    assert "a smaller gate (--max-distance)" in told[0]


@pytest.mark.parametrize("text", ["much", "2 pounds", "-1GB", "10MB"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"--memory .*expected"):
        bytes_of(text)


def test_movies_that_are_tracked_at_once_share_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = tmp_path / "meminfo"
    free.write_text("MemTotal: 99 kB\nMemAvailable: 16000000 kB\n")
    monkeypatch.setattr(budget, "Path", lambda name: free)
    assert usual_limit() == 8_192_000_000
    assert usual_limit(4) == 2_048_000_000
    assert usual_limit(64) == LEAST_BUDGET
    asked: list[str | None] = []
    monkeypatch.setattr(plate, "track_movies", lambda work, *others: asked.append(work.job.choices.memory) or [])
    for name in ("a", "b"):
        simulate(cells=3, frames=3).save(tmp_path / name / "01")
    track = ["track", str(tmp_path / "a/01"), str(tmp_path / "b/01"), "-o", str(tmp_path / "out"), "--workers", "2"]
    for more in ([], ["--memory", "3GB"]):
        with pytest.raises(KeyError):  # nobody has tracked them
            run([*track, *more, "--overwrite"])
    assert asked == ["4096000000", "3GB"]


def test_every_mother_of_a_crowd_is_refused_before_it_is_tried() -> None:
    crowd = Detections(np.arange(20_000) + 1, np.zeros((20_000, 2)), np.ones(20_000), np.zeros((20_000, 4), np.int64))
    with pytest.raises(InputError, match=r"400,000,000 candidates; .*give a gate"):
        find_candidates(crowd, crowd, np.inf)
