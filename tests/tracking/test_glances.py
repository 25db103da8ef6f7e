"""What is told at a glance: terms that do not help; and in which pieces the rest is solved."""

from typing import ClassVar

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.assignment import marginals
from dunno.calibration.softening import Softening
from dunno.methods import ScoredPair
from dunno.methods.joint_posterior import JointPosterior
from dunno.simulate import colony
from dunno.tracking import choosing, self_calibration
from dunno.tracking.choosing import _among_likely, _Bench
from dunno.tracking.gate import estimate_gate
from dunno.tracking.plan import BLOCK
from dunno.tracking.sampling import Sample, fit_sample, take_sample
from dunno.tracking.self_calibration import TOGETHER, arrow_counts, calibration_of, frames_together
from dunno.tracking.skipping import SkippedModel, serving, skip
from dunno.types import Detections, PairPosterior
from dunno.types.stretch import Stretch
from dunno.work.progress import ignore_progress


def sample_of(movie: Movie) -> Sample:
    tracker = Tracker(workers=1)
    with tracker.working() as pool:
        return take_sample(tracker.cost, movie, pool, ignore_progress)


@pytest.fixture(scope="module")
def skipped() -> tuple[_Bench, SkippedModel]:
    sample = sample_of(colony(cells=40, frames=24, motion=0.3, seed=2).movie)
    fit, _ = fit_sample(sample, 1, estimate_gate(sample.movie), True, ignore_progress)
    found = skip(sample, fit, 2, ignore_progress)
    assert found is not None
    return _Bench.of(_among_likely(found)), found


def test_a_term_that_seems_useless_is_tried_on_few_cells_only(skipped: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, _ = skipped
    tried: list[int] = []
    grown = _Bench.grown

    def spied(self: _Bench, name: str, rounds: int) -> tuple:
        tried.append(len(self.skipped.jumps))
        return grown(self, name, rounds)

    monkeypatch.setattr(_Bench, "grown", spied)
    few = bench.shorter(0.25 * bench.loss * len(bench.skipped.comparison))
    assert len(few.skipped.jumps) < len(bench.skipped.jumps) / 2
    monkeypatch.setitem(bench.__dict__, "glance", few)
    for gain, looks in ((-1.0, 0), (1.0, 1)):
        tried.clear()
        monkeypatch.setattr(_Bench, "gain", lambda self, name, gain=gain: gain * bench.least)
        trial, _ = bench.tried("readiness")
        assert (len(tried) > 0) == looks
        assert all(n == len(bench.skipped.jumps) for n in tried)  # whatever a glance says, nothing joins by it
        if not looks:
            assert not trial.joined
            assert trial.after == pytest.approx(trial.before + bench.least)


def test_a_bench_on_few_steps_has_their_daughters_and_no_others(skipped: tuple) -> None:
    bench, _ = skipped
    few = bench.shorter(0.3 * bench.loss * len(bench.skipped.comparison))
    assert 0 < len(few.skipped.comparison) < 0.6 * len(bench.skipped.comparison)
    assert set(few.skipped.jumps) < set(bench.skipped.jumps)
    assert bench.shorter(1e9) is bench


@pytest.mark.parametrize("purpose", ["fit", "judge"])
def test_half_of_the_frames_is_tempered_as_all_of_them_are(skipped: tuple, purpose: str) -> None:
    _, whole = skipped
    expected = whole.fit.best.expected
    found = marginals(expected.model.problem(expected.stretch, expected.ways).tempered(0.6))
    part = whole.tempered(purpose)(0.6)
    rows = whole.sample.rows(expected.stretch)
    serves = serving(whole.sample, purpose)
    edges = serves[rows[expected.stretch.daughter]]
    direct = part.direct[: len(found.edge)]
    assert edges.any()
    difference = np.abs(direct - found.edge)[
        edges
    ]  # what was below a millionth is not solved again, so clusters are others
    assert difference.mean() < 2e-4
    assert (difference > 0.02).mean() < 1e-3
    assert part.judged[~serves].sum() == 0
    assert whole.softened(Softening(0.6, 0.01)).judged.sum() == whole.part("judge").judged.sum()


@pytest.mark.parametrize(
    ("frames", "crowd", "halo"), [(92, 275, 4), (10_000, 100, 0), (30, 20_000, 4), (20, 10, 4), (1025, 12, 0)]
)
def test_blocks_are_even_and_hold_as_many_cells_as_there_is_room_for(frames: int, crowd: int, halo: int) -> None:
    cells = Detections(np.arange(crowd) + 1, np.zeros((crowd, 2)), np.ones(crowd), np.zeros((crowd, 4), np.int64))
    sample = Sample({0: cells}, None, range(frames))  # type: ignore[arg-type]
    size = max(frames_together(sample, halo) - 2 * halo, BLOCK)
    n_blocks = -(-(frames - 1) // size)
    assert size <= max(1.6 * TOGETHER / crowd, BLOCK)
    assert n_blocks == 1 or n_blocks % 2 == 0 or size == BLOCK
    assert size * n_blocks - (frames - 1) < n_blocks or size == BLOCK
    assert n_blocks >= 8 or size <= 4 * BLOCK  # so that several workers have something to do


def test_a_reversed_movie_is_solved_in_parts_as_in_one(skipped: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    _, whole = skipped
    sample, forwards = whole.sample, whole.single.best.expected
    calibration = calibration_of(whole.single, Tracker().asked(sample.movie))
    sizes, of_jumps = [], Sample.stretch

    def spied(self: Sample, jumps: list[tuple[int, int]], gate: float) -> Stretch:
        sizes.append(len(jumps))
        return of_jumps(self, jumps, gate)

    monkeypatch.setattr(Sample, "stretch", spied)
    one = arrow_counts(calibration, sample, 20.0, forwards)
    monkeypatch.setattr(self_calibration, "REVERSED_TOGETHER", 200)
    parts = arrow_counts(calibration, sample, 20.0, forwards)
    assert sizes[0] == 23 and sum(sizes[1:]) == 23 and len(sizes) > 4
    assert one.forwards == parts.forwards
    np.testing.assert_allclose(parts.backwards, one.backwards, atol=1e-6)


def test_a_glance_that_does_not_see_the_loss_is_none(skipped: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, _ = skipped
    easy = _Bench(bench.shorter(1e-9).grown("readiness", 1), 0.0, 0.0, ({}, {}))  # steps in which nothing is in doubt
    monkeypatch.setattr(_Bench, "shorter", lambda self, enough: easy)
    assert _Bench(bench.skipped, bench.loss, bench.wrong, ({}, {})).glance is None


def test_a_joint_method_of_ones_own_is_asked() -> None:
    class Mine(JointPosterior):
        asked: ClassVar[list[int]] = []

        def __call__(self, scored: ScoredPair, rng: np.random.Generator) -> PairPosterior:
            self.asked.append(len(scored.costs))
            return super().__call__(scored, rng)

    movie = colony(cells=12, frames=6, seed=1).movie
    own = Tracker(method=Mine(), max_gap=0).track(movie)
    assert len(Mine.asked) == 5
    for one, other in zip(own.pairs, Tracker(max_gap=0).track(movie).pairs, strict=True):
        np.testing.assert_allclose(one.probability, other.probability, atol=1e-9)


def test_blocks_stay_small_where_a_cost_holds_pixels() -> None:
    movie = colony(cells=12, frames=40, seed=1).movie
    assert Tracker().plan(movie).block > BLOCK
    assert Tracker(cost="activity").plan(movie).block == BLOCK


def test_nothing_is_tried_where_nothing_can_be_gained(skipped: tuple) -> None:
    bench, _ = skipped
    clear = _Bench(bench.skipped, choosing.LEAST_NATS / 2, 0.0, ({}, {}))
    trial, _ = clear.tried("size")
    assert not trial.joined
    assert np.isnan(trial.after)
