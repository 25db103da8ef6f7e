from dataclasses import replace

import numpy as np
import pytest

from dunno import Movie, Tracker, evaluation
from dunno.errors import TruthError
from dunno.evaluation.accuracy import aurc, auroc
from dunno.simulate import colony as simulate
from dunno.tracking import Tracking
from dunno.truth.matching import TrackTable, match_truth
from dunno.types import Truth
from dunno.types.block import OF_EDGES


@pytest.fixture
def small() -> tuple[Tracking, Truth]:
    """Two mothers, three daughters: 1 → 1, 2 → 2, and 3 is new; probabilities set by hand."""
    masks = np.zeros((2, 3, 30), int)
    masks[0, 1, 5], masks[0, 1, 15] = 1, 2
    masks[1, 1, 5], masks[1, 1, 16], masks[1, 1, 10] = 1, 2, 3
    movie = Movie(masks)
    tracking = Tracker("distance", "SM", calibration=None, max_distance=40).track(movie)
    # edges by daughter: (m1, d1) (m2, d1) (m1, d2) (m2, d2) (m1, d3) (m2, d3)
    with np.errstate(divide="ignore"):
        block = replace(
            tracking.block,
            log_probability=np.log([0.9, 0.1, 0.3, 0.7, 0.2, 0.2]),
            log_no_mother=np.log([1.0, 1.0, 0.0, 0.0, 0.6]),
            selected=np.array([True, False, True, False, False, True]),
        )
    table = TrackTable(*np.array([(1, 0, 1, 0), (2, 0, 1, 0), (3, 1, 1, 0)]).T)
    return replace(tracking, blocks=(block,)), match_truth(movie, table, masks)


def test_every_score_has_its_closed_form(small: tuple[Tracking, Truth]) -> None:
    found = evaluation.score(*small)
    assert (found.n_links, found.n_daughters, found.n_edges, found.n_true_links) == (3, 3, 6, 2)
    assert found.accuracy == pytest.approx(1 / 3)  # 1 → 1 is right; 1 → 2 and 2 → 3 are wrong
    assert found.recall == pytest.approx(1 / 2)
    assert found.daughter_accuracy == pytest.approx(1 / 3)
    assert found.ece == pytest.approx((0.1 + 0.3 + 0.2) / 3)
    assert found.nll == pytest.approx(-np.log([0.9, 0.7, 0.6]).mean())
    brier = [0.1**2 + 0.1**2, 0.3**2 + 0.3**2, 0.2**2 + 0.2**2 + 0.4**2]
    assert found.brier == pytest.approx(np.mean(brier))
    assert found.auroc == 1.0
    assert found.aurc == pytest.approx(np.mean([0, 1 / 2, 2 / 3]))


def test_what_is_undefined_is_nan_with_a_reason(small: tuple[Tracking, Truth]) -> None:
    tracking, truth = small
    nothing = replace(tracking.block, selected=np.zeros(6, bool))
    found = evaluation.score(replace(tracking, blocks=(nothing,)), truth, bootstrap=5)
    assert np.isnan(found.ece)
    assert np.isnan(found.auroc)
    assert found.reasons["ece"] == "there are no links"
    assert found.reasons["intervals"] == "one frame pair only: there is nothing to resample"
    assert found.to_dict()["ece"] is None
    assert found.recall == 0.0
    assert found.daughter_accuracy == pytest.approx(1 / 3)


def test_an_impossible_truth_counts_with_a_floor_and_a_missing_candidate_is_counted(
    small: tuple[Tracking, Truth],
) -> None:
    tracking, truth = small
    block = tracking.block
    with np.errstate(divide="ignore"):
        impossible = replace(block, log_probability=np.log([0.0, 1.0, 0.3, 0.7, 0.2, 0.2]))
    found = evaluation.score(replace(tracking, blocks=(impossible,)), truth)
    assert found.nll == pytest.approx((-np.log(1e-12) - np.log(0.7) - np.log(0.6)) / 3)
    kept = np.array([1, 2, 3, 4, 5])  # without the edge (m1, d1)
    gone = replace(block, **{name: getattr(block, name)[kept] for name in OF_EDGES})
    found = evaluation.score(replace(tracking, blocks=(gone,)), truth)
    assert found.counts["true_mother_no_candidate"] == 1
    assert found.nll == pytest.approx(-np.log([1e-12, 0.7, 0.6]).mean())


def test_false_detections_take_no_part_and_are_counted() -> None:
    simulated = simulate(cells=12, frames=6, motion=0.2)
    masks = np.stack([simulated.movie.masks(t) for t in range(6)])
    masks[:, :3, :3] = np.where(masks[:, :3, :3] == 0, 999, masks[:, :3, :3])
    movie = Movie(masks)
    truth = simulated.truth
    table = TrackTable(truth.track, truth.first, truth.last, truth.mother)
    matched = match_truth(movie, table, simulated.movie._masks)
    found = evaluation.score(Tracker("distance", "SM", calibration=None).track(movie), matched)
    clean = evaluation.score(Tracker("distance", "SM", calibration=None).track(simulated.movie), truth)
    assert found.counts["false_detections"] == 5
    assert found.n_daughters == clean.n_daughters
    assert found.counts["missed_detections"] == 0


def test_a_truth_with_other_frames_is_refused() -> None:
    simulated = simulate(cells=5, frames=9)
    tracking = Tracker("distance", "SM", calibration=None).track(simulated.movie.every(2))
    with pytest.raises(TruthError, match=r"5 frames \(0 … 8\), the truth has 9 \(0 … 8\); they must be the same"):
        evaluation.score(tracking, simulated.truth)


def test_intervals_cover_the_score_and_shrink_with_data() -> None:
    simulated = simulate(cells=30, frames=30, motion=0.4)
    tracking = Tracker("distance", "SM", calibration=None).track(simulated.movie)
    found = evaluation.score(tracking, simulated.truth, bootstrap=200)
    for name in ("accuracy", "recall", "daughter_accuracy", "nll", "brier"):
        low, high = found.intervals[name]
        assert low < getattr(found, name) < high
    again = evaluation.score(tracking, simulated.truth, bootstrap=200)
    assert again.intervals == found.intervals


def test_auroc_and_aurc_agree_with_their_definitions() -> None:
    rng = np.random.default_rng(0)
    confidence, right = rng.integers(0, 8, 200) / 8, rng.uniform(size=200) < 0.6
    good, bad = confidence[right], confidence[~right]
    wins = (good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean()
    assert auroc(confidence, right) == pytest.approx(wins)
    assert np.isnan(auroc(confidence, np.ones(200, bool)))
    order = np.argsort(-confidence + 1e-9 * rng.uniform(size=200))
    risks = 1 - np.cumsum(right[order]) / np.arange(1, 201)
    assert aurc(confidence, right) == pytest.approx(risks.mean(), abs=0.02)


def test_daughters_without_a_distribution_are_excluded_and_counted() -> None:
    """Appearing is so cheap that the one best assignment links nobody, and without ⊥ nothing is left to share."""
    simulated = simulate(cells=12, frames=4, motion=0.3)
    tracker = Tracker(
        "distance", "AS", calibration=None, samples=1, no_mother=False, appear_cost=-1e6, disappear_cost=0.0
    )
    tracking = tracker.track(simulated.movie)
    n = sum(len(pair.daughters) for pair in tracking.pairs)
    found = evaluation.score(tracking, simulated.truth, bootstrap=20)
    assert found.counts["daughters_without_distribution"] == n
    assert (found.n_links, found.n_daughters, found.n_edges) == (0, 0, 0)
    assert found.n_true_links > 0
    assert found.recall == 0.0
    assert found.reasons["accuracy"] == "there are no links"
    assert found.reasons["daughter_accuracy"] == "no daughter takes part"
    assert found.intervals == {"recall": (0.0, 0.0)}
