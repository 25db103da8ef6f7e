"""Draws `gallery.png`: three of the least certain links of the demo's colony, as its report shows them, in a real browser.

python docs/figures/make_gallery.py      (needs chromium and playwright: pip install "dunno[test]")
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from dunno.cli import run

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SHOWN = 3


def main() -> None:
    """Make the demo, open its report, keep a picture of the first row of its gallery."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        sys.exit("needs a browser: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        if run(["demo", "-o", f"{folder}/demo"]):
            sys.exit("the demo failed")
        photograph(Path(folder) / "demo" / "tracks" / "report.html", Path(__file__).with_name("gallery.png"), program)


def photograph(report: Path, picture: Path, program: str) -> None:
    """Keep the gallery's first row, at twice the screen's resolution."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1200, "height": 900}, device_scale_factor=1.5, color_scheme="light")
        page.goto(report.absolute().as_uri())
        page.add_style_tag(
            content=f".doubt:nth-child(n + {SHOWN + 1}) {{ display: none }} .gallery {{ padding: 1rem }}"
        )
        page.locator(".gallery").screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
