"""The tables in the docs are those of the committed results."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.fixture
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_tables", DOCS / "benchmark" / "make_tables.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize(
    ("page", "table"),
    [("benchmark/joint-posterior.md", "joint_posterior"), ("methods.md", "methods"), ("benchmark/README.md", "claims")],
)
def test_a_page_shows_the_table_of_the_results(tables: ModuleType, page: str, table: str) -> None:
    lines = list(getattr(tables, table)(tables.read_rows(tables.TABLE)))
    assert len(lines) > 10
    assert "\n".join(lines) in (DOCS / page).read_text()


def test_the_figures_and_the_claims_of_the_run_are_there() -> None:
    folder = DOCS / "benchmark"
    page = (folder / "report.html").read_text()
    for name in ("ece", "temperatures", "sparsification", "sparsification_curves", "overhead", "motion"):
        assert (folder / "figures" / f"{name}.svg").is_file()
        assert f"figures/{name}.svg" in page
