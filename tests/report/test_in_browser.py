"""The page in a real browser, as a person sees and uses it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dunno.report import write_report

pytestmark = pytest.mark.filterwarnings("ignore:masks are taken from")

Visit = Callable[..., Any]
Screenshot = Callable[..., Path]


@pytest.fixture(scope="module")
def report(tracks: Path, sequence: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    return write_report(tracks, folder / "report.html", truth=sequence.parent / "01_GT" / "TRA")


def marker(page: Any) -> tuple[float, float]:
    return tuple(float(page.locator("#marker").get_attribute(name)) for name in ("cx", "cy"))


def test_all_pictures_load(visit: Visit, report: Path) -> None:
    page = visit(report)
    sizes = page.evaluate("[...document.images].map(image => [image.complete, image.naturalWidth, image.width])")
    assert len(sizes) == 48
    assert all(complete and natural > 0 and shown > 80 for complete, natural, shown in sizes)


def test_the_slider_moves_marker_and_words_by_keyboard(visit: Visit, report: Path) -> None:
    page = visit(report)
    slider, sentence = page.get_by_role("slider", name="Links to check"), page.get_by_role("status")
    slider.focus()
    slider.press("Home")
    assert "check the 0 least certain links" in sentence.inner_text()
    start = marker(page)
    slider.press("ArrowRight")
    assert "check the 1 least certain link (" in sentence.inner_text()
    assert slider.get_attribute("aria-valuetext") == "1 link"
    one = marker(page)
    assert one[0] > start[0] and one[1] > start[1]  # to the right, and down
    slider.press("End")
    assert marker(page)[0] > one[0]
    told = sentence.inner_text()
    assert told == page.evaluate("JSON.parse(document.getElementById('control').dataset.steps).at(-1)[2]")


def test_the_slider_moves_by_mouse(visit: Visit, report: Path) -> None:
    page = visit(report)
    slider = page.get_by_role("slider")
    slider.scroll_into_view_if_needed()
    box, before = slider.bounding_box(), page.get_by_role("status").inner_text()
    page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2)
    assert page.get_by_role("status").inner_text() != before
    share = int(slider.input_value()) / int(slider.get_attribute("max"))
    assert share == pytest.approx(0.8, abs=0.05)


def test_without_scripts_the_page_still_reads(visit: Visit, report: Path) -> None:
    page = visit(report, java_script_enabled=False)
    assert page.locator("#control").is_hidden()
    assert "least certain links" in page.locator("#sentence").inner_text()
    assert page.locator("#marker").get_attribute("cx")


def test_headings_lead_through_the_page(visit: Visit, report: Path) -> None:
    page = visit(report)
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.get_by_role("heading", level=2).all_inner_texts() == [
        "At a glance",
        "Are the promises kept?",
        "Beside the truth",
        "What to look at first: the 24 least certain cells",
        "What was done to the masks?",
        "Lineages, and how sure they are",
        "How sure are the links?",
        "When is it uncertain?",
        "How much does checking help?",
        "What was run",
    ]
    contents = page.get_by_role("navigation").get_by_role("link")
    assert contents.all_inner_texts() == page.get_by_role("heading", level=2).all_inner_texts()
    assert all(page.locator(each.get_attribute("href")).count() == 1 for each in contents.all())
    assert page.get_by_role("heading", level=3).count() == 25
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"


def test_tables_open_by_keyboard(visit: Visit, report: Path) -> None:
    page = visit(report)
    summary = page.get_by_text("The numbers: links by probability")
    table = page.get_by_role("table", name="Links by probability")
    assert not table.is_visible()
    summary.focus()
    summary.press("Enter")
    assert table.is_visible()
    assert table.get_by_role("row").count() == 21


CONTRAST = """() => {
  const luminance = (colour) => {
    const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = colour.match(/[\\d.]+/g).map(v => linear(Number(v) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
  };
  const worst = {};
  const words = "p, h1, h2, h3, li, dt, dd span, figcaption, summary, th, td, strong, .chart text";
  for (const element of document.querySelectorAll(words)) {
    const svg = element.tagName === "text", style = getComputedStyle(element);
    const [a, b] = [svg ? style.fill : style.color, behind(svg ? element.closest("figure") : element)].map(luminance);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) worst[element.className?.baseVal ?? element.className + element.tagName] = ratio;
  }
  return worst;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_in_light_and_dark(visit: Visit, report: Path, screenshot: Screenshot, scheme: str) -> None:
    page = visit(report, color_scheme=scheme, viewport={"width": 1200, "height": 900})
    assert page.evaluate(CONTRAST) == {}  # the ratio that the accessibility guidelines (AA) ask for
    screenshot(page, f"report-{scheme}")


@pytest.mark.parametrize("width", [320, 390, 768, 1600])
def test_nothing_is_wider_than_the_window(visit: Visit, report: Path, screenshot: Screenshot, width: int) -> None:
    page = visit(report, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    screenshot(page, f"report-{width}")


def test_it_prints_on_white_without_controls(visit: Visit, report: Path, screenshot: Screenshot) -> None:
    page = visit(report, color_scheme="dark", viewport={"width": 700, "height": 990})
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.get_by_role("slider").is_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    screenshot(page, "report-print")
    assert page.pdf().startswith(b"%PDF")
