import json
import re
from pathlib import Path

import numpy as np
import pytest

from dunno import Tracker, evaluation, read
from dunno.cli import run
from dunno.errors import InputError
from dunno.io.ctc import match_folder, write_masks
from dunno.simulate import FaultShares, spoil
from dunno.simulate import colony as simulate
from dunno.tracking import Tracking

pytestmark = pytest.mark.filterwarnings("ignore:masks are taken from")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sequences of one kind of colony."""
    folder = tmp_path_factory.mktemp("data")
    for seed in (1, 2):
        simulate(cells=20, frames=12, motion=0.35, seed=seed).save(folder / f"0{seed}")
    return folder


def test_calibrate_on_one_track_and_evaluate_on_another(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fitted, out, scores = tmp_path / "t.json", tmp_path / "out", tmp_path / "scores.json"
    assert run(["calibrate", str(root / "01"), "-o", str(fitted), "--method", "SM"]) == 0
    printed = capsys.readouterr().out
    assert "temperature" in printed
    assert "fitted on daughters" in printed
    track = ["track", str(root / "02"), "-o", str(out), "-q", "--method", "SM", "--calibration", str(fitted)]
    assert run(track) == 0
    about = json.loads((out / "run.json").read_text())
    assert about["calibrated"] is True
    assert about["parameters"]["calibration"]["kind"] == "temperature scaling"
    capsys.readouterr()
    assert run(["evaluate", str(out), "--truth", str(root / "02_GT" / "TRA"), "-o", str(scores)]) == 0
    printed = capsys.readouterr().out
    assert "true links found" in printed
    assert "95 % interval" in printed
    found = json.loads(scores.read_text())
    assert 0.5 < found["accuracy"] <= 1
    assert found["intervals"]["accuracy"][0] < found["accuracy"] < found["intervals"]["accuracy"][1]
    assert found["about"]["calibrated"] is True
    assert found["ece"] is not None


def test_evaluate_shows_as_is_self_and_with_truth_side_by_side(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, scores = tmp_path / "out", tmp_path / "scores.json"
    assert run(["track", str(root / "02"), "-o", str(out), "-q", "--method", "SM"]) == 0
    evaluate = ["evaluate", str(out), "--truth", str(root / "02_GT" / "TRA"), "--bootstrap", "0"]
    assert run([*evaluate, "-o", str(scores)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"as is .*\n.*self .*\n.*with truth ", printed)
    found = json.loads(scores.read_text())
    assert list(found["side_by_side"]) == ["as is", "self", "with truth"]
    assert found["side_by_side"]["self"]["ece"] == found["ece"]
    movie, truth = read(root / "02", truth=True)
    bare = evaluation.score(Tracker("distance", "SM", calibration=None).track(movie), truth)
    assert found["side_by_side"]["as is"]["nll"] == pytest.approx(bare.nll, rel=1e-6)
    assert found["side_by_side"]["with truth"]["nll"] < bare.nll


def test_bins_of_confidence_are_an_option(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, truth = tmp_path / "out", ["--truth", str(root / "01_GT" / "TRA")]
    assert run(["track", str(root / "01"), "-o", str(out), "-q", "--method", "SM"]) == 0
    curve = {}
    for bins in (3, 10):
        assert run(["evaluate", str(out), *truth, "--bins", str(bins), "--json", "--bootstrap", "0"]) == 0
        found = json.loads(capsys.readouterr().out)
        matched = match_folder(root / "01_GT" / "TRA", Tracking.read(out).movie)
        curve[bins] = evaluation.calibration_curve(Tracking.read(out), matched, bins)
        assert (found["n_bins"], found["ece"]) == (bins, curve[bins].ece)
    assert curve[3].ece != curve[10].ece
    assert run(["report", str(out), *truth, "--bins", "3", "-q"]) == 0
    page = (out / "report.html").read_text()
    assert re.search(r"33\.3\s–\s66\.7\s%", page) and not re.search(r"90\s–\s100\s%</t[dh]>", page)
    capsys.readouterr()
    for command in (["evaluate", str(out), *truth], ["report", str(out), *truth]):
        assert run([*command, "--bins", "0"]) == 2
        assert "0 bins of confidence; expected a whole number from 1 to 1000" in capsys.readouterr().err


def test_an_output_reads_back_as_the_tracking_it_was(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(["track", str(root / "01"), "-o", str(out), "-q", "--method", "SM", "--every", "2"]) == 0
    movie, truth = read(root / "01", truth=True)
    original = Tracker("distance", "SM").track(movie.every(2))
    again = Tracking.read(out)
    assert again.movie.frames.tolist() == original.movie.frames.tolist()
    for one, other in zip(original.pairs, again.pairs, strict=True):
        np.testing.assert_array_equal(one.mother, other.mother)
        np.testing.assert_array_equal(one.daughter, other.daughter)
        np.testing.assert_array_equal(one.selected, other.selected)
        np.testing.assert_allclose(one.probability, other.probability, rtol=1e-12)
        np.testing.assert_array_equal(one.entropy, other.entropy)
        np.testing.assert_array_equal(one.daughters.label, other.daughters.label)
        assert other.log_divide is None
    mine, theirs = (evaluation.score(each, truth.every(2)) for each in (original, again))
    assert mine.counts == theirs.counts
    for name in ("accuracy", "ece", "ece_floor", "nll", "brier", "auroc", "aurc"):
        assert getattr(mine, name) == pytest.approx(getattr(theirs, name))


def test_tuning_tries_strengths_and_keeps_the_best(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fitted = tmp_path / "t.json"
    command = [
        "calibrate",
        str(root / "01"),
        "-o",
        str(fitted),
        "--method",
        "FP",
        "--samples",
        "2",
        "--every",
        "3",
        "--tune",
    ]
    assert run(command) == 0
    assert "Gaussian(variance=0.01)" in capsys.readouterr().out
    parameters = json.loads(fitted.read_text())["fitted_for"]["perturbation_parameters"]
    assert parameters["variance"] in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


def test_wrong_input_gets_one_line(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    out = tmp_path / "out"
    assert run(["track", str(root / "01"), "-o", str(out), "-q"]) == 0
    capsys.readouterr()
    truth = ["--truth", str(root / "01_GT" / "TRA")]
    for arguments, message in (
        (
            ["track", str(root / "01"), "-o", str(tmp_path / "a"), "--calibration", str(tmp_path / "x.json")],
            "x.json: is no",
        ),
        (["evaluate", str(tmp_path / "empty"), *truth], "empty: is no output of dunno track"),
        (
            ["evaluate", str(out), "--truth", str(tmp_path / "empty")],
            "empty: expected man_track.txt and one mask per frame",
        ),
        (
            ["evaluate", str(out), "--truth", str(tmp_path / "gone")],
            "gone: expected man_track.txt and one mask per frame",
        ),
        (["evaluate", str(out), *truth, "-o", str(tmp_path / "x.json")], "x.json: exists already"),
        (["evaluate", str(out), *truth, "--masks", str(tmp_path / "gone")], "gone: there is no such file or folder"),
        (["calibrate", str(root / "01"), "-o", str(tmp_path / "x.json")], "x.json: exists already"),
        (["calibrate", str(tmp_path / "empty"), "-o", str(tmp_path / "y.json")], "empty: holds no"),
    ):
        assert run(arguments) == 2
        assert message in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "a").exists()


def test_an_output_from_arrays_cannot_open_its_movie(tmp_path: Path) -> None:
    from dunno import Tracker
    from dunno.runs.run import track_into

    track_into(Tracker("distance", "SM", calibration=None), simulate(cells=4, frames=3).movie, tmp_path / "out")
    with pytest.raises(InputError, match="was made from arrays, not from files; say where the masks are"):
        Tracking.read(tmp_path / "out")


def test_the_challenges_measures_come_from_an_independent_library(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ctc_metrics", reason="needs py-ctcmetrics: pip install 'dunno[ctc]'")
    out = tmp_path / "out"
    assert run(["track", str(root / "01"), "-o", str(out), "-q"]) == 0
    capsys.readouterr()
    assert run(["evaluate", str(out), "--truth", str(root / "01_GT" / "TRA"), "--ctc", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    found, curve = content["challenge"], content["challenge_curve"]
    assert found["DET"] == pytest.approx(1.0)
    assert 0.5 < found["TRA"] < 1.0
    assert {"LNK", "CHOTA", "CT", "TF"} <= set(found)
    kept = [row["share_of_links"] for row in curve]
    assert kept[0] == 1 and kept == sorted(kept, reverse=True)
    assert all(row["DET"] == pytest.approx(1.0) for row in curve)  # cells stay, links go
    assert curve[0]["TRA"] == found["TRA"] > curve[-1]["TRA"]


def test_what_has_no_effect_is_said_and_what_contradicts_is_refused(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fitted = tmp_path / "model.json"
    assert run(["calibrate", str(root / "01"), "-o", str(fitted), "--samples", "5"]) == 0
    assert "method JP draws no samples; --samples 5 has no effect" in capsys.readouterr().err
    track = ["track", str(root / "02"), "-o", str(tmp_path / "out"), "--calibration", str(fitted)]
    assert run([*track, "--appear-cost", "2"]) == 2
    assert "brings its own event costs; leave out appear_cost" in capsys.readouterr().err


def test_evaluate_shows_given_and_repaired_masks_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = simulate(cells=25, frames=16, motion=0.1, seed=3)
    made.save(tmp_path / "01")
    write_masks(tmp_path / "01_RES", spoil(made.movie, made.truth, FaultShares(merged=0.06, false=0.03), 1).movie)
    out, truth = tmp_path / "out", tmp_path / "01_GT/TRA"
    masks = ["--masks", str(tmp_path / "01_RES"), "--repair"]
    assert run(["track", str(tmp_path / "01"), *masks, "-o", str(out), "-q"]) == 0
    capsys.readouterr()
    evaluate = ["evaluate", str(out), "--truth", str(truth), "--cells", str(tmp_path / "01_GT/SEG"), "--bootstrap", "0"]
    assert run([*evaluate, "-o", str(tmp_path / "scores.json")]) == 0
    printed = capsys.readouterr().out
    for words in ("have a track of their own", "without debris", "P(segment)", "P(cell)"):
        assert words in " ".join(printed.split())
    assert {"given", "repaired", "cells"} <= {line.split()[1] for line in printed.splitlines() if line.startswith("│")}
    told = json.loads((tmp_path / "scores.json").read_text())
    assert told["masks"]["repaired"]["det"] > told["masks"]["given"]["det"]
    assert told["masks"]["repaired"]["seg"] > told["masks"]["given"]["seg"] > 0.5
    assert sum(each["count"] for each in told["masks"]["segments"]) > 300
    assert told["tracks"]["own"] > 0.5 * told["tracks"]["cells"] > 0
    assert told["divisions"]["reported_in_all"] >= told["divisions"]["reported"]
