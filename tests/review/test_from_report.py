"""From a report's gallery and lineage trees into the review, in a real browser."""

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dunno.report import write_report
from dunno.report.review_address import FIRST_PORT, PORTS
from dunno.review import Review
from tests.review.pages import idle, ready
from tests.review.serving import Served, serving

SIZE = {"width": 1400, "height": 900}


@pytest.fixture
def report(output: Path) -> Path:
    return write_report(output)


def port(output: Path) -> int:
    with Review.open(output, read_only=True) as review:
        return review.port


def both(visit: Callable[..., Any], served: Served, report: Path) -> tuple[Any, Any]:
    """The review and the report as two pages of one browser."""
    page = visit(served.address, viewport=SIZE)
    ready(page)
    other = page.context.new_page()
    other.goto(report.as_uri())
    return page, other


def follow(page: Any, link: Any) -> Any:
    """Click a link that opens a page of its own."""
    with page.context.expect_page() as opened:
        link.dispatch_event("click")
    ready(opened.value)
    return opened.value


def test_the_gallery_and_the_trees_lead_to_the_cell(output: Path, report: Path, visit: Callable[..., Any]) -> None:
    with serving(output) as running:
        assert running.port == port(output)
        _, page = both(visit, running, report)
        for link in (page.locator(".gallery a").nth(2), page.locator(".forest a").first):
            frame, label = re.search(r"/at/(\d+):(\d+)$", link.get_attribute("href")).groups()
            shown = follow(page, link)
            assert shown.inner_text("#question") == f"Where does cell {label} of frame {frame} come from?"
            assert shown.url == f"{running.origin}/"
            shown.keyboard.press("Escape")  # who are you? a second page of the same person
            idle(shown)
            shown.close()


def test_without_a_review_the_command_is_there_to_copy(output: Path, report: Path, visit: Callable[..., Any]) -> None:
    page = visit(report)
    frame, label = re.search(r"/at/(\d+):(\d+)$", page.locator(".gallery a").first.get_attribute("href")).groups()
    assert page.locator(".doubt code").first.inner_text() == f"dunno review OUT --at {frame}:{label}"
    with serving(output, "--at", f"{frame}:{label}") as running:
        review = visit(running.address, viewport=SIZE)
        ready(review)
        assert review.inner_text("#question") == f"Where does cell {label} of frame {frame} come from?"


def test_a_stranger_who_follows_a_link_gets_nothing(output: Path, report: Path, visit: Callable[..., Any]) -> None:
    with serving(output) as running:
        page = visit(report)  # a browser that was never let in
        with page.context.expect_page() as opened:
            page.locator(".gallery a").first.dispatch_event("click")
        opened.value.get_by_text("open the address that dunno review printed").wait_for()
        assert opened.value.url.startswith(f"{running.origin}/")
        assert page.locator("#question").count() == 0


def test_a_port_that_is_taken_is_left_to_its_owner(output: Path) -> None:
    own = port(output)
    assert FIRST_PORT <= own < FIRST_PORT + PORTS
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", own))
        taken.listen()
        with serving(output) as running:
            assert running.port != own
