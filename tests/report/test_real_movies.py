"""Reports of real movies: with images, masks only, and with a truth."""

from pathlib import Path

import pytest

from dunno import Tracker, read
from dunno.report import write_report
from dunno.runs.run import track_into

pytestmark = pytest.mark.filterwarnings("ignore:masks are taken from")

MOVIES = [("Fluo-N2DL-HeLa/02", "02_ST/SEG", 10), ("Cglut-2min/01", "01_GT/TRA", 10), ("iPSC-07/03", "03_GT/TRA", 5)]


@pytest.mark.parametrize(("name", "masks", "step"), MOVIES, ids=[name for name, *_ in MOVIES])
def test_a_real_movie_has_a_small_page_with_pictures(
    data: Path, tmp_path: Path, name: str, masks: str, step: int
) -> None:
    path = data / name
    track_into(Tracker(), read(path, masks=path.parent / masks).every(step), tmp_path / "out")
    page = write_report(tmp_path / "out", truth=path.parent / f"{path.name}_GT" / "TRA")
    content = page.read_text()
    assert page.stat().st_size < 5e6
    worst = content.count("seems to be wrong in circles")  # frames, where gaps were looked for or masks judged
    assert content.count("<img ") == 48 + worst and worst <= 6
    assert "Beside the truth" in content
