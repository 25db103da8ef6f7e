"""Which evidence speaks: skipping frames decides, and says why."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from dunno import Movie, Tracker, evaluation
from dunno.calibration import ModelCalibration, load_calibration
from dunno.calibration.evidence_trials import Trial, in_words
from dunno.calibration.verdict import SkipTest, judge, sees_false_divisions
from dunno.errors import InputError
from dunno.simulate import colony
from dunno.terms import Term
from dunno.types import Truth
from dunno.types.records import from_json, to_json

TEST = SkipTest(2, 10_000, 10_000, 20.0, 20.0, 2.0, 0.05, divisions=100.0, divisions_between=100.0)


def broken_masks(share: float, seed: int) -> tuple[Movie, Truth]:
    """A colony in which a share of the masks is cut in two for one frame."""
    made = colony(cells=60, frames=30, motion=0.1, cycle=40.0, seed=seed)
    rng = np.random.default_rng(seed)
    frames, labels, tracks = [], [], []
    for t in range(len(made.movie)):
        masks = np.array(made.movie.masks(t), np.int64)
        own, track = made.truth.labels[t], made.truth.tracks[t]
        for label in own[rng.random(len(own)) < share].tolist():
            inside = np.argwhere(masks == label)
            cut = inside[:, 0] > np.quantile(inside[:, 0], 0.85)
            if 0 < cut.sum() < len(inside):
                masks[tuple(inside[cut].T)] = 10_000 + label
        found = np.unique(masks)[1:]
        frames.append(masks)
        labels.append(found)
        tracks.append(np.where(found < 10_000, track[np.searchsorted(own, np.minimum(found, own[-1]))], 0))
    return Movie(frames), replace(made.truth, labels=tuple(labels), tracks=tuple(tracks), others=())


def test_size_joins_where_places_leave_cells_alike_and_is_told() -> None:
    tracking = Tracker(workers=1).track(colony(motion=0.2, seed=0).movie)
    evidence = tracking.about["calibration"]["evidence"]
    joined = {trial["name"] for trial in evidence["trials"] if trial["joined"]}
    assert "size" in joined
    assert "fewer wrong links expected" in evidence["told"]
    assert "size" in tracking.about["calibration"]["terms"]


def test_more_evidence_means_fewer_wrong_links() -> None:
    made = colony(motion=0.2, seed=0)
    scores = [
        evaluation.score(Tracker(workers=1, evidence=e).track(made.movie), made.truth) for e in ("places", "auto")
    ]
    assert scores[1].found_wrong < 0.5 * scores[0].found_wrong
    assert 1 / 1.6 < (scores[1].found_wrong + 1) / (scores[1].promised_wrong + 1) < 1.6


def test_named_evidence_is_used_whatever_skipping_says() -> None:
    tracking = Tracker(workers=1, evidence="places,shape").track(colony(cells=20, frames=8, seed=1).movie)
    assert tracking.about["evidence"] == ["places", "shape"]
    assert "shape" in tracking.about["calibration"]["terms"]
    assert tracking.about["calibration"]["evidence"]["trials"] == []


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"evidence": "smell"}, r"no evidence 'smell'.*places, parting, size"),
        ({"evidence": "places,size", "method": "SM"}, "method SM"),
        ({"evidence": "places", "calibration": None}, "nothing looks at it"),
    ],
)
def test_evidence_that_nobody_looks_at_is_refused(choices: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Tracker(**choices)  # type: ignore[arg-type]


def test_evidence_that_cannot_be_seen_is_refused() -> None:
    movie = colony(cells=20, frames=8, seed=1).movie
    blind = Movie([movie.masks(t) for t in range(len(movie))])
    with pytest.raises(InputError, match=r"evidence brightness: .*not measured.*--images"):
        Tracker(workers=1, evidence="places,brightness").track(blind)


@dataclass(frozen=True)
class Silent(Term):
    """A term of somebody's own."""

    name: ClassVar[str] = "quiet"


def test_a_term_of_ones_own_is_used_at_every_step_and_found_again(tmp_path: Path) -> None:
    path = f"{Silent.__module__}:{Silent.__qualname__}"
    plan = Tracker(workers=1, evidence=f"places,{path}").plan(colony(cells=30, frames=10, seed=1).movie)
    assert isinstance(plan.calibration, ModelCalibration)
    assert len(plan.calibration.skipping) > 1  # fitted again over three and four steps
    plan.calibration.save(tmp_path / "fit.json")
    again = load_calibration(tmp_path / "fit.json")
    assert isinstance(again, ModelCalibration)
    assert isinstance(again.model.term("quiet"), Silent)


def test_another_cost_speaks_beside_places() -> None:
    movie = colony(cells=20, frames=8, seed=1).movie
    tracking = Tracker("overlap", workers=1, evidence="places").track(movie)
    assert "score" in tracking.about["calibration"]["terms"]
    assert "score" not in str(Tracker("overlap", workers=1).track(movie).about["calibration"].get("terms"))


def test_a_calibration_with_evidence_goes_through_a_file(tmp_path: Path) -> None:
    movie = colony(cells=30, frames=10, motion=0.2, seed=0).movie
    plan = Tracker(workers=1, evidence="places,parting,size,readiness").plan(movie)
    assert plan.calibration is not None
    plan.calibration.save(tmp_path / "fit.json")
    again = load_calibration(tmp_path / "fit.json")
    assert again.model == plan.calibration.model  # type: ignore[attr-defined]


def test_what_helps_is_told_in_one_sentence() -> None:
    trials = [Trial("size", 0.5, 0.3, 0.1, 0.05, True), Trial("shape", 0.3, 0.31, 0.05, 0.05, False)]
    assert in_words(trials) == "also size (50% fewer wrong links expected); not needed: shape"
    assert in_words(trials[1:]) == "only where cells are and how they move; not needed: shape"
    assert in_words([]) == ""
    nan = float("nan")
    masks = Trial("masks", nan, nan, nan, nan, True, excess=0.32)
    assert in_words([masks]).startswith("masks may be wrong: 32% more divisions")
    assert from_json(Trial, to_json(masks), "trial").excess == 0.32
    pushed = Trial("touching", nan, nan, nan, nan, True, exchanged=12.3)
    assert in_words([trials[1], pushed]).startswith(
        "only where cells are and how they move; not needed: shape; cells push"
    )


def test_pushing_cells_are_doubted_more_than_motion_says() -> None:
    made = colony(cells=60, frames=12, motion=0.3, crowding=0.7, cycle=float("inf"), seed=0)
    plain, chosen = (Tracker(workers=1, evidence=e).track(made.movie) for e in ("places", "auto"))
    evidence = chosen.about["calibration"]["evidence"]
    assert "touching" in {trial["name"] for trial in evidence["trials"] if trial["joined"]}
    assert "cells push each other" in evidence["told"]
    assert chosen.expected_wrong_links() > 1.3 * plain.expected_wrong_links()


def test_cells_that_move_little_do_not_push() -> None:
    tracking = Tracker(workers=1).track(colony(cells=40, frames=8, motion=0.1, seed=0).movie)
    assert "touching" not in tracking.about["calibration"]["terms"]


def test_divisions_that_skipped_frames_do_not_see_are_not_believed() -> None:
    assert not sees_false_divisions(TEST)
    assert judge(TEST).supported
    more = replace(TEST, divisions_between=115.0)
    assert sees_false_divisions(more)
    assert judge(more).supported
    assert "divisions are not to be trusted" in judge(replace(TEST, divisions_between=140.0)).reason
    assert not sees_false_divisions(replace(TEST, divisions=5.0, divisions_between=10.0))  # too few to tell


def test_broken_masks_are_not_taken_for_divisions() -> None:
    movie, truth = broken_masks(0.02, seed=3)
    tracking = Tracker(workers=1).track(movie)
    assert tracking.about.judges_masks
    plain = Tracker(workers=1, evidence="places").track(movie)
    found, before = (evaluation.score(each, truth).divisions for each in (tracking, plain))
    assert found is not None
    assert before is not None
    assert found.reported < 0.7 * before.reported
    assert found.right > 0.85 * found.true
    assert found.expected == pytest.approx(found.right, rel=0.5)


def test_clean_masks_keep_their_divisions() -> None:
    made = colony(cells=60, frames=30, motion=0.08, cycle=40.0, seed=3)
    tracking = Tracker(workers=1).track(made.movie)
    assert not tracking.about.judges_masks
    found = evaluation.score(tracking, made.truth).divisions
    assert found is not None
    assert found.f1 > 0.95
    assert found.expected == pytest.approx(found.true, rel=0.15)
