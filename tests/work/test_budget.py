"""A limit of memory: what does not fit ends in one line."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dunno.errors import InputError
from dunno.tracking.gate import find_candidates
from dunno.types import Detections
from dunno.work.budget import bytes_of

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


def test_every_mother_of_a_crowd_is_refused_before_it_is_tried() -> None:
    crowd = Detections(np.arange(20_000) + 1, np.zeros((20_000, 2)), np.ones(20_000), np.zeros((20_000, 4), np.int64))
    with pytest.raises(InputError, match=r"400,000,000 candidates; .*give a gate"):
        find_candidates(crowd, crowd, np.inf)
