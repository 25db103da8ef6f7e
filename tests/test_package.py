"""The wheel works where there is no compiler, and the packed source builds."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
ON_PATH_OF_PIP = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
pytestmark = pytest.mark.timeout(900)


def call(*words: object, **options: object) -> str:
    """Run a program; what it printed, or a failure that shows it."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return str(done.stdout)


def build_wheel(source: Path, into: Path, build: Path, *settings: str) -> Path:
    """Build one wheel with the packages of this environment, without network."""
    pytest.importorskip("scikit_build_core")
    where = ["--config-settings", f"build-dir={build}"]
    options = ["--no-build-isolation", "--no-deps", "--disable-pip-version-check", "-q", "-w", into]
    call(sys.executable, "-m", "pip", "wheel", *options, *where, *settings, source, env=ON_PATH_OF_PIP)
    [wheel] = into.glob("*.whl")
    return wheel


def needed(names: list[str]) -> Iterator[Distribution]:
    """What packages need, and what that needs, as installed here; extras left out."""
    waiting, seen = list(names), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        found = distribution(name)
        if name != "dunno":
            yield found
        asked = [Requirement(line) for line in found.requires or []]
        waiting += [each.name for each in asked if each.marker is None or each.marker.evaluate({"extra": ""})]


def environment(folder: Path, wheel: Path, *others: str) -> Path:
    """An environment with the wheel and what it says that it needs, no more; returns its Python.

    What it needs is not downloaded again, but shown by links to what is installed here.
    """
    call(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    site = Path(call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    for found in needed(["dunno", *others]):
        for top in {file.parts[0] for file in found.files or [] if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(found.locate_file(top))
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--disable-pip-version-check"]
    call(*pip, "--no-deps", "--no-index", wheel)
    return python


def without_compiler(python: Path, *words: object, cwd: Path) -> str:
    """Run `python` with nothing on PATH: no compiler, no cmake."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CXX", "CC")}
    return call(python, *words, env={**env, "PATH": str(cwd)}, cwd=cwd)


def test_the_wheel_works_in_an_empty_environment_without_a_compiler(tmp_path: Path) -> None:
    """Compiled in the folder in which it was compiled before, so that only what changed is compiled."""
    wheel = build_wheel(ROOT, tmp_path / "dist", ROOT / "build" / "{wheel_tag}")
    check_contents(wheel)
    python = environment(tmp_path / "empty", wheel, "pytest", "pytest-timeout", "hypothesis")
    home = without_compiler(python, "-c", "import dunno; print(dunno.__file__)", cwd=tmp_path).strip()
    assert Path(home).is_relative_to(tmp_path / "empty")

    told = without_compiler(python, "-m", "dunno", "demo", cwd=tmp_path)
    assert (tmp_path / "dunno-demo" / "tracks" / "report.html").exists()
    assert "report.html" in told and "what next" in told
    movie = tmp_path / "dunno-demo" / "01"
    without_compiler(python, "-m", "dunno", "track", movie, "-o", "out", "--frames", "0:4", "--quiet", cwd=tmp_path)
    assert (tmp_path / "out" / "edges.csv").exists()

    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ROOT, "-c", ROOT / "pyproject.toml"]
    told = without_compiler(python, *words, ROOT / "tests" / "assignment" / "test_solve.py", cwd=tmp_path)
    assert " passed" in told


def check_contents(wheel: Path) -> None:
    """It is for this Python, and holds every file of the source."""
    tag = f"cp3{sys.version_info.minor}-" if sys.version_info < (3, 12) else "cp312-abi3-"
    assert tag in wheel.name
    held = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src" / "dunno"
    files = [path for path in source.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".so", ".pyd")]
    assert {f"dunno/{path.relative_to(source).as_posix()}" for path in files} <= held
    assert any(name.startswith("dunno/_core.") and name.endswith((".so", ".pyd")) for name in held)


def test_the_packed_source_builds_from_itself(tmp_path: Path) -> None:
    """Compiled without optimising, which takes half the time."""
    code = f"from scikit_build_core.build import build_sdist; build_sdist({str(tmp_path)!r})"
    call(sys.executable, "-c", code, cwd=ROOT)
    [packed] = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        kind = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.3 and older know none
        archive.extractall(tmp_path / "source", **kind)  # type: ignore[arg-type]
    [source] = (tmp_path / "source").iterdir()
    assert not (source / "tests").exists() and not (source / "docs").exists()
    plain = ["--config-settings", "cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O0"]
    assert build_wheel(source, tmp_path / "dist", tmp_path / "build", *plain).name.startswith("dunno-")


@pytest.mark.skipif(shutil.which("uvx") is None, reason="needs uv: pip install uv")
def test_uv_runs_it_from_a_checkout(tmp_path: Path) -> None:
    told = call("uvx", "--python", sys.executable, "--from", ROOT, "dunno", "--version", cwd=tmp_path)
    assert told.startswith("dunno 0.")
    assert not (ROOT / "uv.lock").exists()
