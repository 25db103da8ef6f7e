"""Masks that hold no cell, one, or two, from a spoiled colony to tables and tracks."""

from pathlib import Path

import numpy as np
import pytest

from dunno import Tracker, evaluation
from dunno.calibration import ModelCalibration, load_calibration
from dunno.io.block_files import read_block, write_block
from dunno.simulate import FaultShares, Spoiled, colony, spoil
from dunno.tracking import Tracking, judging
from dunno.tracking.forests import draw_forests


@pytest.fixture(scope="module")
def spoiled() -> Spoiled:
    made = colony(cells=40, frames=30, motion=0.08, seed=3, cycle=25.0)
    return spoil(made.movie, made.truth, FaultShares(missed=0.01, false=0.02, merged=0.02, split=0.02), seed=1)


@pytest.fixture(scope="module")
def judged(spoiled: Spoiled) -> Tracking:
    return Tracker(evidence="places,masks", workers=1).track(spoiled.movie)


@pytest.fixture(scope="module")
def plain(spoiled: Spoiled) -> Tracking:
    return Tracker(evidence="places", workers=1).track(spoiled.movie)


def test_false_masks_and_masks_of_two_cells_are_told_from_others(spoiled: Spoiled, judged: Tracking) -> None:
    cells, truth = judged.cells, spoiled.truth
    empty = np.concatenate([tracks == 0 for tracks in truth.tracks])
    two = np.zeros(len(cells), np.bool_)
    first = np.cumsum([0, *map(len, truth.tracks)])
    for t, others in enumerate(truth.others):
        two[first[t] + others[0]] = True
    assert cells.p_false[empty].mean() > 0.5 > 10 * cells.p_false[~empty].mean()
    assert cells.p_two[two].mean() > 0.4 > 10 * cells.p_two[~two].mean()


def test_fewer_divisions_are_reported_that_are_none(spoiled: Spoiled, judged: Tracking, plain: Tracking) -> None:
    found, before = (evaluation.score(each, spoiled.truth).divisions for each in (judged, plain))
    assert found is not None and before is not None
    assert found.reported - found.right < 0.6 * (before.reported - before.right)
    assert found.f1 > before.f1
    assert found.expected < before.expected


def test_probabilities_of_a_daughter_sum_to_one_and_what_two_mothers_add(judged: Tracking) -> None:
    for pair in judged.pairs:
        total = np.exp(pair.log_no_mother) + np.bincount(pair.daughter, pair.probability, minlength=len(pair.daughters))
        assert (total > 1 - 1e-6).all()
        assert (total < 1 + pair.block.p_two[pair.daughter_rows] + 0.05).all()


def test_tracks_end_where_masks_merge_and_no_division_is_made_of_it(judged: Tracking) -> None:
    merged = 0
    for pair in judged.pairs:
        into = np.bincount(pair.daughter[pair.selected], minlength=len(pair.daughters))
        merged += int((into == 2).sum())
        assert (pair.load[pair.divides & pair.holds_two] == 3).all()
        assert (pair.load[~pair.holds_two] <= 2).all()
    assert merged > 3
    rows = judged.tracks()
    children = np.bincount([row.mother for row in rows], minlength=len(rows) + 1)
    across = int((judged.edges.selected & (judged.edges.gap > 0)).sum())
    divisions = sum(int((pair.divides & ~pair.holds_two).sum()) for pair in judged.pairs)
    assert divisions <= int((children[1:] >= 2).sum()) <= divisions + across


def test_drawn_lineages_divide_as_often_as_is_probable(judged: Tracking) -> None:
    expected = sum(float(np.exp(pair.log_divide).sum()) for pair in judged.pairs if pair.log_divide is not None)
    drawn = [_divisions(each) for each in judged.sample(20, seed=2)]
    assert np.mean(drawn) == pytest.approx(expected, rel=0.15)


def _divisions(tracking: Tracking) -> int:
    rows = tracking.tracks()
    return int((np.bincount([row.mother for row in rows], minlength=len(rows) + 1)[1:] >= 2).sum())


def test_a_pair_with_masks_goes_through_a_file(judged: Tracking, tmp_path: Path) -> None:
    block = judged.block.part(0, 5)
    write_block(tmp_path / "block.npz", block)
    again = read_block(tmp_path / "block.npz")
    assert np.isfinite(again.p_two).all()
    np.testing.assert_array_equal(block.p_two, again.p_two)
    np.testing.assert_array_equal(block.log_probability, again.log_probability)


def test_the_fitted_model_goes_through_a_file_and_workers_change_nothing(spoiled: Spoiled, tmp_path: Path) -> None:
    calibration = Tracker(evidence="places,masks", workers=1).plan(spoiled.movie).calibration
    assert calibration is not None
    calibration.save(tmp_path / "fit.json")
    one, two = (
        Tracker(calibration=load_calibration(tmp_path / "fit.json"), workers=n).track(spoiled.movie) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.edges.log_probability, two.edges.log_probability)
    np.testing.assert_array_equal(one.cells.p_false, two.cells.p_false)
    assert one.cells.p_two.max() > 0.5


def test_masks_are_judged_where_skipping_says_so_and_nowhere_else(spoiled: Spoiled) -> None:
    clean = colony(cells=40, frames=30, motion=0.08, seed=3, cycle=25.0)
    assert np.isnan(Tracker(workers=1).track(clean.movie).cells.p_two).all()
    assert not np.isnan(Tracker(workers=1).track(spoiled.movie).cells.p_two).any()


def test_masks_that_are_only_missing_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    movie = colony(cells=25, frames=40, motion=0.15, cycle=16.0, seed=0, missed=0.03).movie
    found = Tracker(workers=1).plan(movie).calibration
    assert isinstance(found, ModelCalibration)
    assert found.max_gap > 0
    assert not found.judges_masks
    monkeypatch.setattr(judging, "LEAST_SPOILED", 0.0)  # skipping frames alone would judge them
    suspected = Tracker(workers=1).plan(movie).calibration
    assert isinstance(suspected, ModelCalibration) and suspected.judges_masks


def test_lineages_doubt_the_odds_of_divisions_as_much_as_the_fit_says(judged: Tracking) -> None:
    doubt = judged.about["calibration"]["division_doubt"]
    assert 0 < doubt < 1.5

    def numbers(doubt: float) -> list[int]:
        assert judged.block.problem is not None
        forests = draw_forests(judged.block, judged.block.problem, 48, 1, doubt)
        return [sum(int(pair.divides.sum()) for pair in forest.pairs()) for forest in forests]

    assert np.std(numbers(3.0)) > 1.3 * np.std(numbers(0.0))
    assert numbers(doubt) == numbers(doubt)


def test_a_saved_calibration_keeps_its_doubt(spoiled: Spoiled, tmp_path: Path) -> None:
    found = Tracker(evidence="places,masks", workers=1).plan(spoiled.movie).calibration
    assert isinstance(found, ModelCalibration)
    found.save(tmp_path / "fit.json")
    again = load_calibration(tmp_path / "fit.json")
    assert isinstance(again, ModelCalibration) and again.division_doubt == found.division_doubt > 0
