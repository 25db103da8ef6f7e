"""What a biologist is told first."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dunno import Tracker
from dunno.cli import run
from dunno.cli.first_screen import show_run
from dunno.runs import findings
from dunno.runs.doubtful_links import DoubtfulLink
from dunno.runs.findings import promises
from dunno.runs.run import Run
from dunno.runs.summary import Summary
from dunno.simulate import colony
from dunno.types import RunInfo
from tests.repaired import repaired

__all__ = ["repaired"]

MODELLERS = (
    r"\bJP\b|cost\b|by what all frames say|\bjoins?\b|parting|readiness|places alone|stay missing|fitted|τ|ε|prior"
)
"""Words that are not in a biologist's glossary."""


@pytest.fixture
def finished(repaired: Path) -> Run:
    return Run.of(repaired, json.loads((repaired / "run.json").read_text()))


def screen(finished: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, **how: bool) -> str:
    monkeypatch.setenv("COLUMNS", "200")
    show_run(finished, **how)
    return capsys.readouterr().out


def test_questions_come_in_a_biologists_order(
    finished: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = screen(finished, capsys, monkeypatch)
    trusted, rest = told.split("What is there?")
    for part, order in (
        (trusted, ["Can it be trusted?", "\nlinks ", "\ndivisions ", "\nmasks "]),
        (rest, ["\ncells ", "doubles in", "\ndivisions ", "\ntracks ", "\ndebris ", "\nmasks ", "What to look at first?",
                "What next?"]),
    ):  # fmt: skip
        places = [part.index(each) for each in order]
        assert places == sorted(places)
    found = finished.summary
    low, high = found.divisions_interval
    assert f"{low} (95 %)" in told or f"{low} to {high} (95 %)" in told
    assert f"{found.cells_at_start} at the start, {found.cells_at_end} at the end" in told
    assert f"of which {found.whole_tracks} are whole" in told
    every = found.tracks + found.debris_tracks
    assert f"{found.debris_tracks} of {every} tracks are taken for debris; --with-debris counts them" in told
    for command in ("report", "review", "measure", "export"):
        assert f"dunno {command} {finished.folder}" in told
    assert f"napari {finished.folder} --plugin dunno" in told
    assert not re.search(MODELLERS, told)


def test_what_was_fitted_and_what_words_mean_are_for_those_who_ask(
    finished: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = replace(
        finished, about=Tracker(workers=1, evidence="places").track(colony(cells=20, frames=12).movie).about
    )
    assert "fitted losses" in screen(clean, capsys, monkeypatch, verbose=True)
    assert "fitted losses" not in screen(finished, capsys, monkeypatch, verbose=True)  # of masks that are not believed
    explained = screen(finished, capsys, monkeypatch, explain=True)
    for word in ("link", "track", "whole", "division", "debris", "supported", "untested", "contradicted"):
        assert re.search(rf"^  {word}\b", explained, re.M)


def test_commands_can_be_copied_whatever_the_folder_is_called(
    finished: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = screen(replace(finished, folder=Path("my output")), capsys, monkeypatch)
    assert "dunno measure 'my output' -o 'my output-measured'" in told
    assert "--to trackmate -o 'my output.xml'" in told


def test_where_nothing_could_be_tested_a_review_can(
    finished: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for verdict, told in (
        ("untested", "questions at random tell how many"),
        ("supported", "most useful question first"),
    ):
        about = replace(finished.about, verdict=verdict)
        assert told in screen(replace(finished, about=about), capsys, monkeypatch)


def test_it_fits_a_narrow_terminal(
    finished: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    show_run(replace(finished, folder=Path("out")))
    told = capsys.readouterr().out
    commands = [line for line in told.splitlines() if line.startswith(("  dunno", "  napari", "written"))]
    assert len(commands) == 6
    assert all(len(line) <= 60 for line in told.splitlines() if line not in commands)


def about(**more: object) -> RunInfo:
    known = {"version": "1", "movie": "01", "movie_path": None, "masks_path": None, "mask_source": "01", "frames": [0, 1],
             "step": 1, "scale": None, "interval": None, "cost": "distance", "method": "JP", "calibration": None,
             "calibrated": False, "verdict": "untested", "reason": "too few to judge by."}  # fmt: skip
    return RunInfo(**{**known, **more})  # type: ignore[arg-type]


def test_every_promise_has_a_line_of_its_own() -> None:
    (one,) = promises(about())
    assert (one.about, one.verdict, one.reason) == ("links", "untested", "too few to judge by")
    assert "could not be tested" in one.meaning


def test_what_is_uncertain_is_said_beside_the_number() -> None:
    found = Summary(divisions=98, expected_divisions=87.4, divisions_interval=(79, 96))
    assert (
        findings.divisions(found)
        == "79 to 96 (95 %), about 87; 98 are in the tracks, some of them too soon after one another"
    )
    found = Summary(divisions=60, expected_divisions=87.4, divisions_interval=(79, 96))
    assert findings.divisions(found).endswith("60 are in the tracks, doubtful ones are left out there")
    found = Summary(divisions=5, expected_divisions=5.0, divisions_interval=(5, 5))
    assert findings.divisions(found) == "5 (95 %), about 5; 5 are in the tracks"
    found = Summary(divisions=1, expected_divisions=1.6, divisions_interval=(0, 5))
    assert findings.divisions(found) == "0 to 5 (95 %), about 2; 1 is in the tracks"
    assert "does not say how sure" in findings.divisions(Summary(divisions=5))


def test_no_track_is_said_to_be_longer_than_the_movie() -> None:
    """In a movie of 30 frames whose cells stay."""
    found = Summary(frames=30, tracks=65, whole_tracks=41, median_length=30.0)
    assert findings.tracks(found).endswith("Half of them last 30 frames or more")


def test_a_link_that_is_hardly_believed_says_what_else_is() -> None:
    doubt = DoubtfulLink(0.005, 3, 7, 4, 9, instead=8, p_instead=0.7, instead_frame=3)
    assert findings.instead(doubt) == "from cell 8, 70 %"
    assert findings.instead(replace(doubt, instead_frame=2)) == "from cell 8 of frame 2, 70 %"
    assert findings.instead(replace(doubt, instead=0)) == "new here, 70 %"


def test_half_the_frame_rate_is_told_in_shares_of_the_links_there_are_then() -> None:
    test = {"links": 4356, "composed": 30.0, "step": 2}
    told = findings.imaging(test, Summary(links=9776, expected_wrong_links=20.0))
    assert told == "at half the frame rate about 0.7 % of the links would be wrong; now 0.2 % are"


def test_a_real_run_prints_it(
    repaired: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the command line, with the options, on the masks as given."""
    given = repaired.parent / "01_RES"
    options = ["--no-repair", "--calibration", "none", "--explain"]
    assert (
        run(["track", str(repaired.parent / "01"), "--masks", str(given), "-o", str(tmp_path / "out"), *options]) == 0
    )
    told = capsys.readouterr().out
    assert "Can it be trusted?" in told and "What the words mean" in told
    assert "debris " not in told.split("What the words mean")[0]
