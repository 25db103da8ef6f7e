"""Takes `review.png`: the review's page with a simulated colony, in a real browser (needs Chromium and Playwright).

python docs/figures/make_review_page.py
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from dunno import Tracker
from dunno.runs.run import track_into
from dunno.simulate import colony

ANSWERS = 12


def main() -> None:
    """Simulate, track, answer a few questions with what is reported, and look."""
    with tempfile.TemporaryDirectory() as folder:
        simulated = colony(motion=0.2, seed=0)
        simulated.save(Path(folder) / "colony" / "01")
        simulated.movie.path, simulated.movie.name = str(Path(folder) / "colony" / "01"), "colony/01"
        track_into(Tracker(), simulated.movie, Path(folder) / "out")
        command = [sys.executable, "-m", "dunno", "review", str(Path(folder) / "out"), "--no-browser"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            look(found.group(0))
            process.kill()


def look(address: str) -> None:
    """Play a little, and take the picture."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page: Page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
        page.goto(address)
        page.wait_for_selector("#history li svg")
        for _ in range(ANSWERS):
            page.keyboard.press("Enter")
            page.wait_for_selector("body:not([data-busy])")
        page.wait_for_timeout(2000)
        page.screenshot(path=Path(__file__).with_name("review.png"), full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
