"""What can be said of masks, families and fields, and two people at once, in a real browser."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dunno.review import Review
from dunno.tracking import Tracking
from tests.review.pages import family, idle, ready, told
from tests.review.serving import Served, serving

SIZE = {"width": 1400, "height": 900}


@pytest.fixture
def served(output: Path) -> Iterator[Served]:
    with serving(output, "--who", "ada") as running:
        yield running


def started(visit: Callable[..., Any], address: str, **options: Any) -> Any:
    page = visit(address, **{"viewport": SIZE, **options})
    ready(page)
    return page


def said(output: Path) -> list[dict[str, Any]]:
    with Review.open(output, read_only=True) as review:
        return [answer.decision.to_dict() for answer in review.standing]


def some_cell(output: Path) -> int:
    """The label of a cell of frame 3 whose line goes on to the last frame."""
    cells = Tracking.read(output).cells
    here = (cells.frame == 3) & np.isin(cells.track, cells.track[cells.frame == 5])
    return int(cells.label[here][0])


def test_everything_can_be_said_and_nothing_lies_below_the_fold(
    served: Served, output: Path, visit: Callable[..., Any], screenshot: Callable[..., Path]
) -> None:
    page = started(visit, served.address)
    assert page.evaluate("document.documentElement.scrollHeight") <= SIZE["height"]
    marked = page.inner_text("#candidates button.marked").split("\n")
    assert page.inner_text("#accept").replace("\n", "") == f"Enter: {marked[1].split('reported')[0].strip()}"
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#accept-words") in page.inner_text("#candidates button.marked").split("\n")[1]
    page.keyboard.press("ArrowUp")  # back to what is reported
    page.keyboard.press("t")
    page.keyboard.press("m")
    page.locator("#after").click(position={"x": 100, "y": 8})  # while the page may still be busy: it waits its turn
    told(page, "A cell is missing")
    page.keyboard.press("o")
    own = page.evaluate("document.querySelector('#after path.daughter').dataset.label")
    target = page.evaluate(
        """(own) => {
          const box = document.querySelector('#after').getBoundingClientRect();
          for (const path of document.querySelectorAll('#after path.cell')) {
            const each = path.getBoundingClientRect(), x = each.x + each.width / 2, y = each.y + each.height / 2;
            const inside = each.x > box.x && each.right < box.right && each.y > box.y && each.bottom < box.bottom;
            if (path.dataset.label !== own && inside) return { x, y, label: Number(path.dataset.label) };
          }
        }""",
        own,
    )
    page.mouse.click(target["x"], target["y"])
    told(page, "are one cell")
    page.keyboard.press("k")
    told(page, "is no cell")
    kinds = [each["kind"] for each in said(output)]
    assert kinds == ["two cells", "missing", "one cell", "no cell"]
    pieces = said(output)[2]
    assert target["label"] in (pieces["label"], pieces["other"])
    screenshot(page, "review-statements")
    page.click("#list-open")
    page.wait_for_selector("#list[open]")
    assert page.locator("#decisions li").count() == 3  # "no cell" took the place of "one cell"
    page.locator("#decisions li button:not(:disabled)").first.click()
    page.wait_for_selector("#list:not([open])", state="attached")
    idle(page)
    page.keyboard.press("u")
    told(page, "Taken back.")
    assert len(said(output)) == 3
    page.click("#export")
    told(page, "Written to")
    exported = Tracking.read(output.with_name(f"{output.name}-reviewed"))
    assert (
        exported.cells.p_segment == 0
    ).sum() == 1  # the smaller piece; the larger one may have been said to hold two


def test_what_is_marked_is_what_enter_records(served: Served, output: Path, visit: Callable[..., Any]) -> None:
    page = started(visit, served.address)
    page.keyboard.press("ArrowDown")
    marked = page.inner_text("#accept-words")
    page.keyboard.press("Enter")
    page.wait_for_selector("#told:not(:empty)")
    idle(page)
    (first,) = said(output)
    assert marked in (
        "no mother",
        f"cell {first.get('mother')}",
        f"cell {first.get('mother')} of frame {first.get('mother_frame')}",
    )


def test_looking_around(served: Served, output: Path, visit: Callable[..., Any]) -> None:
    from playwright.sync_api import expect

    page = started(visit, served.address)
    question = page.inner_text("#question")
    page.keyboard.press("b")
    page.keyboard.press(".")
    assert (page.get_attribute("#scrub", "min"), page.get_attribute("#scrub", "max")) == ("0", "5")
    page.locator("#scrub").fill("0")
    assert page.inner_text("#blink-frame") == "frame 0"
    page.locator("#blink").hover()
    page.mouse.wheel(0, 100)
    expect(page.locator("#blink-frame")).to_have_text("frame 1")
    cell = some_cell(output)
    page.fill("#where", f"3:{cell}")
    page.press("#where", "Enter")
    expect(page.locator("#question")).to_have_text(f"Where does cell {cell} of frame 3 come from?")
    idle(page)
    page.fill("#where", "999:1")
    page.press("#where", "Enter")
    told(page, "frame 999 has no cells")
    family(page)
    page.locator("#family circle").last.dispatch_event("click")
    expect(page.locator("#question")).to_contain_text("of frame 5")
    idle(page)
    page.locator("#overview").click(position={"x": 30, "y": 30})
    idle(page)
    assert re.match(r"Where does cell \d+ of frame \d", page.inner_text("#question"))
    assert question
    page.problems.clear()  # the browser notes the refusal


def test_two_people_are_told_of_each_other(served: Served, output: Path, visit: Callable[..., Any]) -> None:
    ada = started(visit, served.address)
    ada.click("#invite")
    told(ada, "For one more browser")
    ben = visit(ada.inner_text("#told").split(": ", 1)[1], viewport=SIZE)
    ben.wait_for_selector("#asks-name[open]")
    ben.fill("#new-name", "ben")
    ben.press("#new-name", "Enter")
    ben.wait_for_selector("#asks-name", state="hidden")
    idle(ben)  # an answer given before would be dropped
    assert ada.inner_text("#question") != ben.inner_text("#question")
    ben.keyboard.press("Enter")
    told(ada, "ben says: cell")
    with Review.open(output, read_only=True) as review:
        assert [answer.who for answer in review.standing] == ["ben"]


def test_the_page_begins_with_the_cell_that_is_named(output: Path, visit: Callable[..., Any]) -> None:
    from playwright.sync_api import expect

    cell = some_cell(output)
    with serving(output, "--at", f"3:{cell}") as running:
        page = started(visit, running.address)
        assert page.inner_text("#question") == f"Where does cell {cell} of frame 3 come from?"
        page.keyboard.press("Enter")
        expect(page.locator("#question")).not_to_contain_text(f"cell {cell} of frame 3")
