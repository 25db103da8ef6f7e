"""A real browser plays whole reviews of a simulated colony, with the truth as the reviewer."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dunno import evaluation
from dunno.cli.review import opened_in_browser
from dunno.review import Review
from dunno.review.audit import was_wrong
from dunno.review.export import reviewed_tracking
from dunno.simulate import Colony
from dunno.tracking import Tracking
from dunno.truth import true_mothers
from dunno.types import Truth
from tests.review.outputs import relabelled
from tests.review.pages import idle, ready
from tests.review.serving import Served, serving

SIZE = {"width": 1440, "height": 1000}


@pytest.fixture
def served(output: Path) -> Iterator[Served]:
    with serving(output, "--who", "truth") as running:
        yield running


class Reviewer:
    """Reads the question off the page, and knows the answer."""

    def __init__(self, page: Any, output: Path, truth: Truth) -> None:
        self.page = page
        self.answers: dict[tuple[int, int], int | None] = {}
        for pair in Tracking.read(output).pairs:
            true = true_mothers(truth, pair)
            labels = [int(pair.mothers.label[m]) if m >= 0 else None for m in true.mother.tolist()]
            self.answers |= {
                (pair.daughter_frame, int(d)): m for d, m in zip(pair.daughters.label, labels, strict=True)
            }

    def wait(self) -> None:
        idle(self.page)

    def question(self) -> tuple[int, int]:
        """The frame and label that the page asks about."""
        found = re.search(r"cell (\d+) of frame (\d+)", self.page.inner_text("#question"))
        assert found is not None
        return int(found.group(2)), int(found.group(1))

    def number(self) -> int | None:
        """The number of the right answer, if it has one."""
        mother = self.answers[self.question()]
        rows = self.page.locator("#candidates button").all_inner_texts()
        words = "no mother" if mother is None else f"cell {mother}"
        found = [int(row.split()[0]) for row in rows if re.search(rf"{words}(?!\d)", row)]
        return found[0] if found else None

    def expected(self) -> float:
        return float(self.page.inner_text("#expected"))

    def done(self) -> bool:
        return "a good place to stop" in self.page.inner_text("#advice")


def started(visit: Callable[..., Any], served: Served, **options: Any) -> Any:
    page = visit(served.address, **{"viewport": SIZE, **options})
    ready(page)
    return page


def check_log(output: Path, reviewer: Reviewer, crowd: Colony, before: float) -> None:
    with Review.open(output, read_only=True) as review:
        answers = [answer.decision for answer in review.standing if answer.decision.kind != "skip"]
        assert len(answers) > 10
        assert all(reviewer.answers[d.frame, d.label] == d.mother for d in answers)
        after = evaluation.score(reviewed_tracking(review), crowd.truth).daughter_accuracy
        assert after > before
        assert any(was_wrong(answer) for answer in review.standing)


@pytest.mark.timeout(600)
def test_a_whole_review_by_keyboard(
    served: Served, output: Path, crowd: Colony, visit: Callable[..., Any], screenshot: Callable[..., Path]
) -> None:
    before = evaluation.score(Tracking.read(output), crowd.truth).daughter_accuracy
    page = started(visit, served)
    assert "token" not in page.url
    reviewer = Reviewer(page, output, crowd.truth)
    first = reviewer.expected()
    screenshot(page, "review-light")
    for _ in range(150):
        if reviewer.done():
            break
        number = reviewer.number()
        page.keyboard.press("s" if number is None else str(number))
        reviewer.wait()
    assert reviewer.done()
    assert reviewer.expected() < 0.3 * first
    screenshot(page, "review-at-the-end")
    check_log(output, reviewer, crowd, before)


@pytest.mark.timeout(600)
def test_a_whole_review_by_mouse(
    served: Served, output: Path, crowd: Colony, visit: Callable[..., Any], screenshot: Callable[..., Path]
) -> None:
    before = evaluation.score(Tracking.read(output), crowd.truth).daughter_accuracy
    page = started(visit, served, color_scheme="dark")
    reviewer = Reviewer(page, output, crowd.truth)
    screenshot(page, "review-dark")
    for k in range(150):
        if reviewer.done():
            break
        number, mother = reviewer.number(), reviewer.answers[reviewer.question()]
        cell = page.locator(f'#before path.cell[data-label="{mother}"]')
        if mother is not None and k % 3 == 0 and cell.count():
            cell.dispatch_event("click")  # any cell of the earlier frame, numbered or not
        elif number is None:
            page.click("#skip")
        else:
            page.click(f"#candidates li:nth-child({number or page.locator('#candidates li').count()}) button")
        reviewer.wait()
    assert reviewer.done()
    check_log(output, reviewer, crowd, before)


def test_everything_has_a_key(
    served: Served, visit: Callable[..., Any], output: Path, screenshot: Callable[..., Path]
) -> None:
    from playwright.sync_api import expect

    page = started(visit, served)
    wait = partial(idle, page)
    first = page.inner_text("#question")
    expected = page.inner_text("#expected")
    page.keyboard.press("Enter")  # accept
    wait()
    assert "comes from" in page.inner_text("#told") or "no mother" in page.inner_text("#told")
    second = page.inner_text("#question")
    assert second != first
    page.keyboard.press("ArrowLeft")
    wait()
    assert page.inner_text("#question") == first
    assert "your answer" in page.inner_text("#candidates")
    page.keyboard.press("ArrowRight")
    wait()
    assert page.inner_text("#question") == second
    page.keyboard.press("u")
    wait()
    assert page.inner_text("#question") == first
    assert page.inner_text("#expected") == expected
    page.keyboard.press("r")
    wait()
    page.keyboard.press("Enter")
    wait()
    for _ in range(2):
        page.keyboard.press("u")  # without waiting in between: none is lost
    expect(page.locator("#expected")).to_have_text(expected)
    wait()
    page.keyboard.press("r")
    wait()
    page.keyboard.press("s")
    wait()
    page.keyboard.press("]")
    wait()
    frame = int(page.inner_text("#frame-after"))
    page.keyboard.press("[")
    wait()
    assert int(page.inner_text("#frame-after")) in (frame, frame - 1)
    page.keyboard.press("ArrowDown")
    marked = page.inner_text("#chosen-mother")
    page.keyboard.press("d")
    wait()
    assert page.inner_text("#chosen-mother") == marked
    told = page.inner_text("#told")
    assert f"{marked[0].upper()}{marked[1:]} of frame" in told or "cannot divide" in told
    before = page.get_attribute("#before", "viewBox")
    page.keyboard.press("+")
    assert page.get_attribute("#before", "viewBox") != before
    page.keyboard.press("f")
    assert page.get_attribute("#before", "viewBox") == before
    page.keyboard.press("c")
    assert page.locator("#contrast").input_value() == "1.3"
    page.keyboard.press("b")
    assert page.get_attribute("#blink-toggle", "aria-pressed") == "false"
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    screenshot(page, "review-help")
    page.keyboard.press("Escape")
    with Review.open(output, read_only=True) as review:
        assert {"skip"} <= {answer.decision.kind for answer in review.standing}


def test_looking_with_the_mouse(served: Served, visit: Callable[..., Any]) -> None:
    page = started(visit, served)
    wait = partial(idle, page)
    page.locator("#timeline").click(position={"x": 5, "y": 30})
    wait()
    assert page.inner_text("#frame-after") == "1"
    assert page.inner_text("#kicker") == "you chose this cell yourself"
    question, whole = page.inner_text("#question"), page.get_attribute("#before", "viewBox")
    box = page.locator("#before").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.wheel(0, -300)
    near = page.get_attribute("#before", "viewBox")
    assert near != whole
    assert page.get_attribute("#after", "viewBox") == near
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 140, steps=4)
    page.mouse.up()
    assert page.get_attribute("#before", "viewBox") != near
    wait()
    assert page.inner_text("#question") == question  # a drag is no answer
    page.click("#fit")
    page.check("#starts")
    wait()
    page.select_option("#order", "time")
    wait()
    page.fill("#first-frame", "3")
    page.locator("#first-frame").press("Tab")
    wait()
    assert int(page.inner_text("#frame-after")) >= 3 or "audit" in page.inner_text("#kicker")


def test_the_end_is_told_and_can_be_left(served: Served, visit: Callable[..., Any]) -> None:
    page = started(visit, served)
    page.keyboard.press("Enter")
    idle(page)
    page.fill("#first-frame", "999")
    page.locator("#first-frame").press("Tab")
    page.wait_for_selector("#end:not([hidden])")
    idle(page)
    assert "Nothing is left to ask" in page.inner_text("#end")
    page.click("body", position={"x": 5, "y": 5})
    page.keyboard.press("u")
    page.wait_for_selector("#main:not([hidden])")
    idle(page)
    assert page.inner_text("#told") == "Taken back."


def test_a_server_that_is_gone_is_told(served: Served, visit: Callable[..., Any]) -> None:
    page = started(visit, served)
    question = page.inner_text("#question")
    served.process.kill()
    served.process.wait()
    page.keyboard.press("Enter")
    page.wait_for_selector("#told.refused")
    assert "is dunno review still running?" in page.inner_text("#told")
    assert page.inner_text("#question") == question
    page.problems.clear()  # the browser notes what it could not load


def test_a_refused_answer_says_why_and_stays(served: Served, visit: Callable[..., Any]) -> None:
    page = started(visit, served)
    wait = partial(idle, page)
    page.keyboard.press("x")  # the reported mother disappears
    wait()
    assert "disappears" in page.inner_text("#told")
    question = page.inner_text("#question")
    mother = page.inner_text("#chosen-mother").split()[-1]
    page.locator(f'#before path.cell[data-label="{mother}"]').dispatch_event("click")
    page.wait_for_selector("#told.refused")
    assert "was decided to disappear; undo that first" in page.inner_text("#told")
    assert page.inner_text("#question") == question
    assert [p for p in page.problems if "409" not in p] == []
    page.problems.clear()  # the browser notes the refusal


def test_a_small_screen_and_what_is_not_calibrated(
    softmax: Path, visit: Callable[..., Any], screenshot: Callable[..., Path]
) -> None:
    with serving(softmax) as running:
        page = started(visit, running, viewport={"width": 420, "height": 900})
        assert page.is_visible("#uncalibrated")
        assert page.inner_text("#uncalibrated") == "probabilities untested"
        assert "no joint posterior" in page.inner_text("#audit")
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
        screenshot(page, "review-small")


def test_a_file_leads_to_the_page_which_can_then_be_loaded_again(
    served: Served, visit: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    with opened_in_browser(served.address) as file:
        page = visit(file, viewport=SIZE)
        ready(page)
    page.reload()
    ready(page)
    assert "token" not in page.url


def test_the_page_says_that_masks_have_changed_since_they_were_tracked(
    output: Path, tmp_path: Path, visit: Callable[..., Any]
) -> None:
    with serving(output, "--masks", str(relabelled(output, tmp_path / "masks"))) as running:
        page = visit(running.address, viewport=SIZE)
        page.get_by_text(re.compile(r"frame \d: the masks have changed since they were measured")).wait_for()
        page.problems.clear()  # the browser notes what the server refuses
