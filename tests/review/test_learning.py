"""What a review teaches, against what is known."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dunno import Tracker, evaluation
from dunno.calibration import ModelCalibration, TemperatureScaling, TemperedCosts, load_calibration
from dunno.calibration.softening import Softening
from dunno.cli import run
from dunno.errors import InputError
from dunno.review import Review
from dunno.review.learn_model import learn_softening
from dunno.review.learning import learn
from dunno.review.lessons import lessons_of, weigh
from dunno.simulate import Colony, colony
from dunno.tracking import Tracking
from tests.review.outputs import tracked, truthful


def test_weights_make_a_queue_of_doubtful_ones_an_unbiased_sample() -> None:
    rng = np.random.default_rng(0)
    n, share = 60, 0.1
    loss = rng.exponential(size=n) ** 2
    order = np.argsort(-loss)  # the queue asks the worst first
    estimates = []
    for _ in range(4000):
        left, asked, questions = list(order), [], []
        for _ in range(20):
            row = int(rng.choice(left)) if rng.random() < share else left[0]
            questions.append({"chance": share / len(left) + (1 - share) * (row == left[0]), "left": len(left)})
            left.remove(row)
            asked.append(row)
        estimates.append(np.mean(weigh(questions) * loss[asked]))
    assert np.mean(estimates) == pytest.approx(loss.mean(), abs=4 * np.std(estimates) / np.sqrt(4000))
    assert loss[order[:20]].mean() > 1.5 * loss.mean()  # unweighted, it would be far off


@pytest.fixture(scope="module")
def many() -> Colony:
    return colony(cells=30, frames=12, motion=0.35, seed=5)


def reviewed(folder: Path, truth: object, answers: int) -> Path:
    """Answer questions with the truth, until so many were."""
    with Review.open(folder, who="truth") as review:
        review.audit.share = 0.5  # a patient reviewer
        for _ in range(answers):
            question = review.next()
            if question is None:
                break
            review.answer(truthful(review, truth, question), question)  # type: ignore[arg-type]
    return folder


@pytest.fixture(scope="module")
def softmax_reviewed(many: Colony, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return reviewed(tracked(many, tmp_path_factory.mktemp("sm"), method="SM", calibration=None), many.truth, 200)


def test_a_temperature_from_a_review_is_near_the_one_from_all_truth(softmax_reviewed: Path, many: Colony) -> None:
    with Review.open(softmax_reviewed, read_only=True) as review:
        learnt = learn(review)
        lessons = lessons_of(review)
    assert isinstance(learnt.calibration, TemperatureScaling)
    full = TemperatureScaling.fit(Tracking.read(softmax_reviewed), many.truth, include_no_mother=True).temperature
    value, low, high = learnt.values["temperature"]
    assert low < value < high
    assert low < full < high
    assert learnt.answers == len(lessons) > 100
    assert 50 < learnt.effective <= learnt.answers
    assert learnt.enough


def test_the_models_fit_makes_the_answers_more_probable(many: Colony, tmp_path: Path) -> None:
    out = reviewed(tracked(many, tmp_path), many.truth, 150)
    fitted = tmp_path / "review.json"
    assert run(["calibrate", "--from-review", str(out), "-o", str(fitted)]) == 0
    found = load_calibration(fitted)
    assert isinstance(found, ModelCalibration)
    assert found.summary["loss_after"] <= found.summary["loss_before"]
    low, high = found.intervals["motion_scale"]
    assert low < found.model.parameters["motion_scale"].value < high
    assert (
        low < 0.5 * many.events["mean_squared_displacement"] * 1.5
        and high > 0.5 * many.events["mean_squared_displacement"] / 1.5
    )
    assert found.fitted_for["review"]["answers"] > 100
    again = [
        "track",
        str(tmp_path / "01"),
        "--masks",
        str(tmp_path / "01_GT" / "TRA"),
        "-o",
        str(tmp_path / "again"),
        "-q",
    ]
    assert run([*again, "--calibration", str(fitted)]) == 0
    assert json.loads((tmp_path / "again" / "run.json").read_text())["calibrated"] is True


def test_costs_that_are_no_motion_model_get_a_tempering(many: Colony, tmp_path: Path) -> None:
    out = reviewed(tracked(many, tmp_path, cost="overlap", method="JP"), many.truth, 150)
    with Review.open(out, read_only=True) as review:
        learnt = learn(review)
    assert isinstance(learnt.calibration, TemperedCosts)
    assert learnt.calibration.loss_after <= learnt.calibration.loss_before
    for value, low, high in learnt.values.values():
        assert low < value < high


def test_too_few_answers_are_told(
    output: Path, crowd: Colony, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fitted = tmp_path / "few.json"
    assert run(["calibrate", "--from-review", str(output), "-o", str(fitted)]) == 2
    assert "0 answers are too few to fit on" in capsys.readouterr().err
    assert not fitted.exists()


def test_few_answers_give_a_wide_interval_and_say_so(
    softmax: Path, crowd: Colony, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reviewed(softmax, crowd.truth, 30)
    assert run(["calibrate", "--from-review", str(softmax), "-o", str(tmp_path / "t.json")]) == 0
    printed = capsys.readouterr().out
    assert "95 % interval" in printed
    assert "that is few" in printed
    assert "drawn at random" in printed


def test_the_movie_and_choices_are_those_of_the_output(
    output: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in (["movie"], ["--cost", "overlap"], ["--every", "2"], ["--tune"]):
        assert run(["calibrate", *more, "--from-review", str(output), "-o", str(tmp_path / "t.json")]) == 2
        assert "leave out MOVIE and those options" in capsys.readouterr().err
    assert run(["calibrate", "-o", str(tmp_path / "t.json")]) == 2
    assert "give a MOVIE with truth, or the output of a review" in capsys.readouterr().err


def test_a_temperature_on_a_model_is_refused(output: Path, crowd: Colony) -> None:
    reviewed(output, crowd.truth, 60)
    with Review.open(output, read_only=True) as review, pytest.raises(InputError, match="leave out --temperature"):
        learn(review, temperature=True)


def test_answers_that_the_person_chose_are_left_out(softmax_reviewed: Path, tmp_path: Path) -> None:
    from dunno.review import Decision

    out = Path(shutil.copytree(softmax_reviewed, tmp_path / "out"))
    with Review.open(out) as review:
        before = len(lessons_of(review))
        row = int(np.flatnonzero(review.unanswered)[0])
        t = review.table.pair_of(row)
        review.answer(Decision("no mother", int(review.table.daughter_frame[t]), int(review.table.label[row])))
        after = lessons_of(review)
    assert len(after) == before
    assert after.left_out["not asked but chosen"] == 1


def test_track_from_review_is_calibrated_on_the_answers(
    many: Colony, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = reviewed(tracked(many, tmp_path), many.truth, 60)
    movie = [str(tmp_path / "01"), "--masks", str(tmp_path / "01_GT" / "TRA")]
    assert run(["track", *movie, "-o", str(tmp_path / "again"), "--from-review", str(out)]) == 0
    assert "calibrated on 60 answers" in capsys.readouterr().err
    told = json.loads((tmp_path / "again" / "run.json").read_text())["parameters"]
    own = json.loads((out / "run.json").read_text())["parameters"]
    assert told["verdict"] == "supported" and "60 answers of a review" in told["reason"]
    assert told["calibration"]["fitted"] == "truth"
    for name in ("tempering", "unknown"):
        assert told["calibration"][name] != own["calibration"][name]
    assert told["calibration"]["parameters"] == own["calibration"]["parameters"]  # 60 are too few for the terms


def test_track_from_review_says_that_fewer_than_fifty_answers_are_too_few(
    output: Path, crowd: Colony, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reviewed(output, crowd.truth, 49)
    again = ["track", "movie", "-o", str(tmp_path / "again"), "--from-review", str(output)]
    assert run(again) == 2
    assert "has 49 answers, and 50 are needed to calibrate on" in capsys.readouterr().err
    assert run([*again, "--calibration", "none"]) == 2
    assert "are two calibrations" in capsys.readouterr().err
    assert not (tmp_path / "again").exists()


def test_answers_soften_a_model_that_is_too_sure(many: Colony, tmp_path: Path) -> None:
    sure = ModelCalibration.load(tracked(many, tmp_path) / "calibration.json")
    sure = replace(
        sure,
        softening=Softening(),
        model=sure.model.with_values({"motion_scale": 0.15 * sure.model.value("motion_scale")}),
    )
    sure.save(tmp_path / "sure.json")
    (tmp_path / "too").mkdir()
    out = reviewed(tracked(many, tmp_path / "too", calibration=sure), many.truth, 110)
    with Review.open(out, read_only=True) as review:
        fitted = learn(review).calibration
        lessons = lessons_of(review)
        softer = learn_softening(review, lessons, sure)
    assert isinstance(fitted, ModelCalibration)
    assert softer.tempering < 0.8
    assert fitted.intervals["motion_scale"][0] > sure.model.value("motion_scale")
    before = evaluation.score(Tracking.read(out), many.truth)
    after = evaluation.score(Tracker(calibration=fitted).track(many.movie), many.truth)
    assert after.ece < 0.7 * before.ece
    assert after.nll < before.nll
