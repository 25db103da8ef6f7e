"""The committed stub of the C++ core is what its bindings say now."""

import subprocess
import sys
from pathlib import Path

import dunno


def test_the_stub_is_current(tmp_path: Path) -> None:
    fresh = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "dunno._core", "-o", str(fresh)]
    subprocess.run(command, check=True)
    committed = Path(dunno.__file__).with_name("_core.pyi")
    assert committed.read_text() == fresh.read_text(), "run `make stub` and commit the result"
