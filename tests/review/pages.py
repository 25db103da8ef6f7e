"""Waiting for the review's page, which drops answers while it is busy."""

from typing import Any


def idle(page: Any) -> None:
    """Wait until the page takes answers."""
    page.wait_for_selector("body:not([data-busy])")


def ready(page: Any) -> None:
    """Wait until a page that was just opened shows its first question, and takes answers."""
    page.wait_for_selector("#history li svg")
    idle(page)


def told(page: Any, words: str) -> None:
    """Wait until the page has said this, and is done with it. The help holds some of the same words."""
    from playwright.sync_api import expect

    expect(page.locator("#told")).to_contain_text(words)
    idle(page)


def family(page: Any) -> None:
    """Wait until the family of the cell in question is drawn, not that of the one before."""
    page.wait_for_function("document.getElementById('family').dataset.row === document.body.dataset.row")
