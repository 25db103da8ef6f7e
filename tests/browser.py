"""A real browser for tests of pages: Debian's Chromium, driven by Playwright.

    def test_it_opens(visit, screenshot):
        page = visit("file:///…/report.html", color_scheme="dark")
        page.get_by_role("slider").press("ArrowRight")
        screenshot(page, "report-dark")

A test fails if one of its pages wrote an error or a warning to the console, threw an exception, or could not load something;
`page.problems` has what was seen so far, and may be cleared where an error is what the test wants.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SCREENSHOTS = Path(__file__).parent.parent / "build" / "screenshots"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60_000
"""Milliseconds that a page may take for anything, what is expected of it included; the machine may be busy."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium with a fresh profile; skips where there is none.

    Once per module, not per session: while Playwright runs, no other test in this thread may use asyncio.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'dunno[test]'")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("needs a browser: apt-get install chromium")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, headless=True, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """`visit(url, **options)` opens a page in a context of its own (options: those of `browser.new_context`)."""
    contexts, pages = [], []

    def opened(url: str | Path, **options: Any) -> Any:
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.problems = watch(page)
        contexts.append(context)
        pages.append(page)
        page.goto(url.absolute().as_uri() if isinstance(url, Path) else url)
        return page

    yield opened
    problems = [problem for page in pages for problem in page.problems]
    for context in contexts:
        context.close()
    assert problems == []


def watch(page: Any) -> list[str]:
    """A list that grows with whatever goes wrong on a page."""
    problems: list[str] = []

    def console(told: Any) -> None:
        if told.type in LOUD and WATCHING not in told.location.get("url", ""):
            problems.append(f"{told.type}: {told.text}")

    def failed(request: Any) -> None:
        if WATCHING not in request.url and request.failure != "net::ERR_ABORTED":  # given up when a page is left
            problems.append(f"not loaded: {request.url[:200]}")

    page.on("console", console)
    page.on("pageerror", lambda error: problems.append(f"exception: {error}"))
    page.on("requestfailed", failed)
    return problems


LOUD = ("error", "warning")
WATCHING = "/api/changes/"
"""What the review's page asks again and again, also while a test ends its server."""


@pytest.fixture
def screenshot() -> Callable[..., Path]:
    """`screenshot(page, name, **options)` keeps a picture of the whole page in build/screenshots/."""

    def taken(page: Any, name: str, **options: Any) -> Path:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        page.screenshot(path=path, **{"full_page": True, **options})
        return path

    return taken
