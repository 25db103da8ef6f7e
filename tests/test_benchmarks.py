"""The benchmarks still run; what they measure is for people to read."""

import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def test_the_solver_benchmark_runs() -> None:
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "solve.py", "--quick"], check=True, capture_output=True, text=True
    )
    assert len(done.stdout.splitlines()) == 3


def test_the_memory_benchmark_runs() -> None:
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "memory.py", "--frames", "20"], check=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1].startswith("ratio")
