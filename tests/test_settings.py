"""Numbers that decide a result say their unit and where they are from, on one page."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_settings", ROOT / "docs" / "make_settings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_source_says(make: ModuleType) -> None:
    assert (ROOT / "docs" / "settings.md").read_text() == make.rendered(), "run: python docs/make_settings.py"


def test_every_source_is_there(make: ModuleType) -> None:
    page = make.rendered()
    for command in set(re.findall(r"\| (?:speed, )?benchmarks\.(\w+) \|", page)):
        assert (ROOT / "benchmarks" / f"{command}.py").exists(), command
    for path in set(re.findall(r"\| (docs/\S+) \|", page)):
        assert (ROOT / path).exists(), path


def test_a_number_without_a_source_is_refused(make: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "bare.py").write_text("LIMIT = 3.0\n")
    with pytest.raises(ValueError, match="LIMIT lacks"):
        list(make.settings(tmp_path / "bare.py"))
