"""The page as a file: what is on it, and how it comes and goes."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import tifffile

from dunno import Movie, Tracker
from dunno.cli import run
from dunno.errors import InputError, MovieError
from dunno.evaluation import score
from dunno.io.ctc import match_folder
from dunno.report import write_report
from dunno.report.words import _calibration
from dunno.runs.numbers import amount
from dunno.runs.run import track_into
from dunno.tracking import Tracking
from tests.report.test_words import ABOUT

pytestmark = pytest.mark.filterwarnings("ignore:masks are taken from")

MEGABYTES = 1e6


class Words(HTMLParser):
    """What a person reads on a page, without its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "link", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "rect", "circle"):
            assert self.open.pop() == tag  # everything that opens is closed
        elif self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.parts.append(data)


def words(path: Path) -> str:
    reader = Words()
    reader.feed(path.read_text(encoding="utf-8"))
    assert reader.open == []
    return " ".join(" ".join(reader.parts).replace("\u00a0", " ").split())


@pytest.fixture(scope="module")
def page(tracks: Path, sequence: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The colony's report beside its truth."""
    folder = tmp_path_factory.mktemp("page")
    return write_report(tracks, folder / "a.html", truth=sequence.parent / "01_GT" / "TRA")


def test_the_page_has_the_runs_numbers(page: Path, tracks: Path) -> None:
    told = words(page)
    summary = json.loads((tracks / "run.json").read_text())["summary"]
    low, high = summary["divisions_interval"]
    assert f"cells, first and last frame {summary['cells_at_start']} → {summary['cells_at_end']}" in told
    assert f"divisions {low} – {high} 95 %; {summary['divisions']} in the tracks" in told
    assert f"links expected to be wrong {amount(summary['expected_wrong_links'])} " in told
    assert "The probabilities are supported, but not perfectly." in told
    for link in summary["least_certain"]:
        assert f"Cell {link['daughter']} in frame {link['frame']}" in told


def test_the_truth_is_compared_as_evaluate_does(page: Path, tracking: Tracking, sequence: Path) -> None:
    scores = score(tracking, match_folder(sequence.parent / "01_GT" / "TRA", tracking.movie))
    told = words(page)
    right = round(scores.accuracy * scores.n_links)
    assert f"{right:,} of {scores.n_links:,} links are right" in told
    assert f"calibration error of links {scores.ece:.4f}" in told
    assert f"{scores.ece_floor:.3f} 95 times in 100" in told
    assert scores.ece > scores.ece_floor  # this colony moves too fast for a true self-calibration
    assert "That is more than chance explains." in told
    assert '<div class="verdict bad">' in page.read_text()


def test_the_page_is_one_file_that_asks_for_no_other(page: Path) -> None:
    content = page.read_text()
    sources = re.findall(r'(?:src|href)="([^"#][^"]*)"', content)
    assert sources
    links = re.findall(r'<a href="(http:[^"]*)"', content)  # to a review on this machine, if one follows them
    assert all(re.fullmatch(r"http://127\.0\.0\.1:\d+/at/\d+:\d+", link) for link in links)
    assert all(source.startswith("data:") or source in links for source in sources)
    rest = re.sub(r'data:[^"]*|<a href="http:[^"]*"', "", content)
    assert "http" not in rest.replace("http-equiv", "")
    assert not re.search(r"@import|url\(", content)
    assert page.stat().st_size < 5 * MEGABYTES


def test_every_picture_has_words(page: Path) -> None:
    content = page.read_text()
    images = re.findall(r"<img [^>]*>", content)
    assert len(images) == 48
    assert all(re.search(r'alt="Frame \d+: ', image) for image in images)
    charts = re.findall(r'<svg class="chart[^>]*>', content)
    assert len(charts) == 8
    assert all('role="img"' in chart and 'aria-label="' in chart for chart in charts)


def test_the_same_output_makes_the_same_page(tracks: Path, tmp_path: Path) -> None:
    one, other = (write_report(tracks, tmp_path / name) for name in ("1.html", "2.html"))
    assert one.read_bytes() == other.read_bytes()
    assert "Beside the truth" not in words(one)
    assert "The probabilities are supported." in words(one)


@pytest.fixture
def own(tracks: Path, tmp_path: Path) -> Path:
    """An output that a test may change."""
    return Path(shutil.copytree(tracks, tmp_path / "out"))


def test_a_report_replaces_itself_and_leaves_the_output_dunnos(own: Path, sequence: Path) -> None:
    before = {path: path.read_bytes() for path in own.rglob("*") if path.is_file()}
    for _ in range(2):
        assert run(["report", str(own), "-q"]) == 0
    assert {path for path in own.rglob("*") if path.is_file()} == {*before, own / "report.html"}
    assert all(path.read_bytes() == content for path, content in before.items())
    masks = str(sequence.parent / "01_GT" / "TRA")
    assert run(["track", str(sequence), "--masks", masks, "-o", str(own), "-q", "--overwrite"]) == 0
    assert not (own / "report.html").exists()


def test_a_report_that_fails_leaves_the_earlier_one(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_report(own)
    before = (own / "report.html").read_bytes()
    (own / "pairs" / "000000.npz").write_bytes(b"broken")
    with pytest.raises(InputError, match="cannot be read"):
        write_report(own)
    assert (own / "report.html").read_bytes() == before
    assert not list(own.glob("*.partial"))


def test_a_movie_that_is_gone_leaves_a_report_without_pictures_that_says_so(own: Path) -> None:
    content = json.loads((own / "run.json").read_text())
    content["parameters"] |= {"movie_path": "/gone/01", "masks_path": "/gone/01_GT"}
    (own / "run.json").write_text(json.dumps(content))
    page = write_report(own)
    told = words(page)
    assert "There are no pictures, because the movie could not be looked at. gone/01" in told
    assert "data:image" not in page.read_text()
    assert "the 24 least certain cells" in told


def test_masks_that_were_changed_are_not_shown_as_if_they_were_tracked(
    own: Path, sequence: Path, tmp_path: Path
) -> None:
    other = tmp_path / "masks"
    shutil.copytree(sequence.parent / "01_GT" / "TRA", other)
    for path in other.glob("*.tif"):  # the same cells, numbered the other way round
        labels = tifffile.imread(path)
        tifffile.imwrite(path, np.where(labels > 0, labels.max() + 1 - labels, 0).astype(labels.dtype))
    content = json.loads((own / "run.json").read_text())
    content["parameters"]["masks_path"] = str(other)
    (own / "run.json").write_text(json.dumps(content))
    told = words(write_report(own))
    assert re.search(r"There are no pictures, .* frame \d+: the masks have changed since they were measured", told)
    with pytest.raises(MovieError, match="frame 0: the masks have changed"):
        write_report(own, truth=sequence.parent / "01_GT" / "TRA")
    shutil.rmtree(own / "cells")  # an output of an older version
    assert "is not the one that was tracked" in words(write_report(own))


def test_arrays_can_be_handed_in_again(tracking: Tracking, tmp_path: Path) -> None:
    movie = Movie([tracking.movie.masks(t) for t in range(4)])
    track_into(Tracker(method="SM", calibration=None), movie, tmp_path / "out")
    assert "was made from arrays" in words(write_report(tmp_path / "out"))
    page = write_report(tmp_path / "out", movie=movie)
    assert "data:image" in page.read_text()
    assert "The probabilities are untested." in words(page)


def test_progress_sees_every_block(tracks: Path, tmp_path: Path) -> None:
    seen: list[int] = []

    def progress(blocks: Iterator, total: int) -> Iterator:
        for block in blocks:
            seen.append(total)
            yield block

    write_report(tracks, tmp_path / "a.html", progress=progress)
    assert seen == [1] * 2


@pytest.mark.parametrize("masks", ["empty", "lonely", "late", "pair", "volume"])
def test_odd_movies_have_reports(masks: str, tmp_path: Path) -> None:
    shape = (3, 4, 20, 20) if masks == "volume" else (3, 20, 20)
    frames = np.zeros(shape, np.uint16)
    if masks != "empty":
        frames[{"lonely": np.s_[:1], "late": np.s_[2:]}.get(masks, np.s_[:]), ..., 4:8, 4:8] = 1
    movie = Movie(frames[:2] if masks == "pair" else frames)
    track_into(Tracker(), movie, tmp_path / "out")
    page = write_report(tmp_path / "out", movie=movie)
    told = words(page)
    links = {"empty": 0, "lonely": 0, "late": 0, "pair": 1, "volume": 2}[masks]
    assert ("There are no links to say anything about." in told) == (links == 0)
    assert page.read_text().count("<img ") == 2 * min(links, 1)  # both are about one cell
    assert ("cells are drawn from their masks" in told) == (links > 0)
    assert ("Volumes are seen from above" in told) == (masks == "volume")
    assert "nan" not in told.split()


def test_a_truth_without_links_to_compare_says_so(tmp_path: Path) -> None:
    frames = np.zeros((2, 20, 20), np.uint16)
    frames[0, 4:8, 4:8] = 1
    truth = tmp_path / "TRA"
    truth.mkdir()
    for t, frame in enumerate(frames):
        tifffile.imwrite(truth / f"man_track{t:03d}.tif", frame)
    (truth / "man_track.txt").write_text("1 0 0 0\n")
    track_into(Tracker(), Movie(frames), tmp_path / "out")
    told = words(write_report(tmp_path / "out", truth=truth, movie=Movie(frames)))
    assert "No link takes part: there is nothing to compare." in told
    assert "calibration error of links –" in told
    assert "nan" not in told.split()


def test_a_name_cannot_smuggle_in_a_script(tracking: Tracking, tmp_path: Path) -> None:
    nasty = "</title><script>alert('cells')</script>\"$style"
    movie = Movie([tracking.movie.masks(t) for t in range(3)], name=nasty, mask_source=nasty)
    track_into(Tracker(), movie, tmp_path / "out")
    page = write_report(tmp_path / "out", movie=movie)
    assert page.read_text().count("<script") == 1
    assert nasty in words(page)


def test_a_crowd_of_huge_noisy_cells_stays_a_small_page(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    masks = np.kron(np.arange(1, 26).reshape(5, 5), np.ones((300, 300), int)).astype(np.uint16)
    frames = [masks, np.roll(masks, 150, axis=1)]
    movie = Movie(frames, [rng.integers(0, 2**16, masks.shape).astype(np.uint16) for _ in frames])
    track_into(Tracker(method="SM", calibration=None), movie, tmp_path / "out")
    page = write_report(tmp_path / "out", movie=movie)
    assert page.read_text().count("<img ") >= 16
    assert page.stat().st_size < 5 * MEGABYTES


def test_wrong_input_gets_one_line(
    tracks: Path, sequence: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    for arguments, message in (
        ([str(tmp_path / "empty")], "empty: is no output of dunno track"),
        ([str(tracks), "--masks", str(tmp_path / "gone")], "gone: there is no such file or folder"),
        ([str(tracks), "--truth", str(tmp_path / "empty")], "empty: expected man_track.txt"),
        ([str(tracks), "-o", str(tmp_path / "empty")], "empty: is a folder; expected the name of a file"),
    ):
        assert run(["report", *arguments]) == 2
        assert message in capsys.readouterr().err.splitlines()[-1]
    assert run(["report", str(tracks), "-o", str(tmp_path / "new" / "page.html")]) == 0
    assert "page.html (0." in capsys.readouterr().out


def test_the_page_tells_what_was_looked_at_and_over_how_many_frames() -> None:
    calibration = {
        "fitted": "self",
        "problems": [],
        "parameters": {"p_divide": 0.02, "p_lost": 0.01, "p_missed": 0.03, "stays_missed": 0.03},
        "evidence": {"told": "also size"},
        "max_gap": 2,
    }
    told = _calibration(replace(ABOUT, calibration=calibration))
    assert "What the model looked at: also size." in told
    assert "links may skip 2 frames." in told
    assert "skip" not in _calibration(replace(ABOUT, calibration={**calibration, "max_gap": 0}))
