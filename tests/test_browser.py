"""The browser that the tests of pages look through."""

from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_a_page_is_shown_and_what_goes_wrong_on_it_is_seen(visit: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<h1>cells</h1><img src='gone.png' alt=''><script>console.error('odd'); throw new Error('bad')</script>"
    )
    page = visit(path)
    assert page.get_by_role("heading").inner_text() == "cells"
    kinds = {problem.split(":")[0] for problem in page.problems}
    assert kinds == {"error", "exception", "not loaded"}
    page.problems.clear()


def test_a_quiet_page_has_no_problems(visit: Callable[..., Any], screenshot: Callable[..., Path]) -> None:
    page = visit("data:text/html,<title>quiet</title><p>cells", viewport={"width": 320, "height": 200})
    assert page.title() == "quiet"
    assert page.problems == []
    assert screenshot(page, "quiet").stat().st_size > 0
