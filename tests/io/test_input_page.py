"""docs/input.md is made from the rooms."""

import importlib.util
from pathlib import Path

from dunno.io.links import sources
from dunno.io.readers import readers

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_lists_every_form_with_its_example() -> None:
    spec = importlib.util.spec_from_file_location("make_input", DOCS / "make_input.py")
    assert spec is not None
    assert spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    page = (DOCS / "input.md").read_text()
    assert page == make.rendered(page), "run: python docs/make_input.py"
    for each in (*readers(), *sources()):
        assert each.example in page
