"""Each alarm of the skip test: a case in which it fires, and one in which it must not."""

from dataclasses import replace

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.calibration.verdict import SkipTest, Verdict, judge, judge_divisions, judge_segments, worst
from dunno.simulate import colony
from dunno.types.arrow_counts import ArrowCounts

GOOD = SkipTest(2, 900, 880, promised=31.0, composed=35.0, growth=2.1, growth_error=0.05, tempering=0.9)


def test_a_good_test_supports() -> None:
    verdict = judge(GOOD)
    assert verdict.supported
    assert verdict.reason == (
        "with every second frame left out, 31 of 880 links were promised to be wrong, and 35 were, as all frames show"
    )


@pytest.mark.parametrize(
    ("change", "word", "reason"),
    [
        ({"judged": 49}, "untested", "49 cells to judge"),
        ({"composed": 4.9, "promised": 4.0}, "untested", "too few to judge by"),
        ({"growth": 1.1, "growth_error": 0.2}, "untested", "hardly move farther"),
        ({"growth": 0.98}, "contradicted", "do not move farther"),
        ({"composed": 500.0, "promised": 480.0}, "contradicted", "57 % of the links are wrong"),
        ({"tempering": 0.55}, "contradicted", "far too sure of itself"),
        ({"composed": 90.0}, "contradicted", "31 links were promised to be wrong, and 90 were"),
        ({"promised": 90.0, "composed": 30.0}, "contradicted", "90 links were promised to be wrong, and 30 were"),
    ],
)
def test_what_speaks_against_it_is_said(change: dict[str, float], word: str, reason: str) -> None:
    verdict = judge(replace(GOOD, **change))
    assert verdict.word == word
    assert reason in verdict.reason


def test_what_the_model_cannot_explain_contradicts() -> None:
    assert judge(GOOD, ("there are no cells to learn from",)).word == "contradicted"
    assert judge(None).word == "untested"


def points(frames: list[np.ndarray], size: int) -> Movie:
    """Cells of one pixel at (n, 2) places."""
    masks = np.zeros((len(frames), size, size), np.int32)
    for mask, places in zip(masks, frames, strict=True):
        rows, columns = np.clip(places.astype(int), 0, size - 1).T
        mask[rows, columns] = np.arange(1, len(places) + 1)
    return Movie(masks)


def brownian(step: float, seed: int, n: int = 60, frames: int = 24, size: int = 600) -> Movie:
    rng = np.random.default_rng(seed)
    spacing = size / np.sqrt(n)
    places = [rng.uniform(0, size, (n, 2))]
    for _ in range(frames - 1):
        moved = places[-1] + rng.normal(0, step * spacing, (n, 2))
        places.append(np.abs(size - 1 - np.abs(size - 1 - np.abs(moved))))  # reflected at the walls
    return points(places, size)


def verdict_on(movie: Movie) -> str:
    return str(Tracker(workers=1).plan(movie).calibration.verdict.word)  # type: ignore[union-attr]


@pytest.mark.parametrize("step", [0.2, 0.3])
def test_brownian_points_are_supported(step: float) -> None:
    assert verdict_on(brownian(step, seed=1)) == "supported"


@pytest.mark.parametrize("n", [2, 10, 100])
def test_random_places_are_never_supported(n: int) -> None:
    for seed in range(2 if n < 100 else 1):
        rng = np.random.default_rng(seed)
        movie = points([rng.uniform(0, 300, (n, 2)) for _ in range(8)], 300)
        assert verdict_on(movie) != "supported"


def test_shuffled_frames_are_not_supported() -> None:
    movie = brownian(0.2, seed=3)
    order = np.random.default_rng(0).permutation(len(movie))
    assert verdict_on(Movie([movie.masks(t) for t in order])) != "supported"


def test_binary_masks_and_tiny_movies_are_not_supported() -> None:
    movie = colony(cells=20, frames=10, seed=1).movie
    assert verdict_on(Movie([(movie.masks(t) > 0).astype(int) for t in range(10)])) != "supported"
    assert verdict_on(brownian(0.1, seed=0, n=2, frames=3)) != "supported"


@pytest.mark.parametrize("shift", [0.0, 4.0])
def test_a_lattice_shifted_by_about_its_period_is_not_supported(shift: float) -> None:
    """Every cell moves by a period of 40 and `shift`; what is linked is another cell, with and without skipped frames."""
    grid = np.stack(np.meshgrid(np.arange(30), np.arange(8)), -1).reshape(-1, 2)[:, ::-1] * 40.0
    rng = np.random.default_rng(0)
    frames = []
    for t in range(20):
        moved = grid + np.array([20.0, -800.0 + (40.0 + shift) * t]) + rng.normal(0, 1.0, grid.shape)
        frames.append(moved[(moved[:, 1] >= 0) & (moved[:, 1] < 340)])
    assert verdict_on(points(frames, 340)) != "supported"


@pytest.mark.parametrize("cost", ["distance", "overlap", "embedding"])
@pytest.mark.parametrize("method", ["SM", "FP", "FP+A", "AS", "MC"])
def test_every_cost_and_method_gets_a_temperature_without_truth(cost: str, method: str) -> None:
    movie = colony(cells=30, frames=10, motion=0.15, seed=2).movie
    plan = Tracker(cost, method, workers=1, samples=5).plan(movie)
    scaling = plan.calibration
    assert scaling is not None
    assert scaling.fitted == "self"  # type: ignore[attr-defined]
    low, high = scaling.interval  # type: ignore[attr-defined]
    assert 0 < low <= scaling.temperature <= high  # type: ignore[attr-defined]
    assert scaling.verdict.word in ("supported", "untested", "contradicted")


def test_the_temperature_of_brownian_motion_is_its_variance() -> None:
    movie = brownian(0.1, seed=5, n=80, frames=30)
    step = 0.1 * 600 / np.sqrt(80)
    scaling = Tracker("distance", "SM", workers=1, no_mother=False).plan(movie).calibration
    assert scaling.temperature == pytest.approx(step**2, rel=0.35)  # type: ignore[union-attr]


def test_the_same_for_any_number_of_workers() -> None:
    movie = colony(cells=30, frames=12, motion=0.2, seed=4).movie
    for method in ("JP", "SM"):
        one, many = (Tracker("distance", method, workers=n).plan(movie).calibration for n in (1, 4))
        assert one == many


@pytest.mark.parametrize(
    ("forwards", "backwards", "word", "reason"),
    [
        (
            (50.0, 60.0),
            (3.0, 4.0),
            "supported",
            "played backwards, the movie shows 6 % as many divisions as forwards, and none",
        ),
        ((4.0, 5.0), (0.0, 0.0), "untested", "fewer than 10 divisions are seen: too few"),
        ((50.0, 60.0), (25.0, 28.0), "untested", "shows 48 % as many"),
        ((50.0, 60.0), (45.0, 48.0), "contradicted", "shows 85 % as many"),
        ((100.0, 40.0), (2.0, 34.0), "untested", "both halves of the movie do not agree"),
    ],
)
def test_divisions_are_judged_by_the_reversed_movie(
    forwards: tuple[float, float], backwards: tuple[float, float], word: str, reason: str
) -> None:
    counts = ArrowCounts(forwards, backwards, 90)
    verdict = judge_divisions(counts)
    assert (verdict.word, reason in verdict.reason) == (word, True), verdict
    assert "taken into account" not in verdict.reason
    assert judge_divisions(counts, 0.0).reason.endswith("taken into account") == (word == "supported")


def test_segments_are_judged_by_skipping_frames() -> None:
    assert judge_segments(19, 0.0).word == "untested"
    assert judge_segments(200, 0.1).word == "supported"
    assert judge_segments(200, 0.3).word == "contradicted"


def test_the_worst_verdict_counts_and_few_divisions_do_not() -> None:
    good, bad = Verdict("supported", "links"), Verdict("contradicted", "divisions")
    assert worst({"links": good, "divisions": bad}, few_divisions=False) is bad
    assert worst({"links": good, "divisions": bad}, few_divisions=True) is good
    assert worst({"links": good, "segments": Verdict("untested", "x")}, few_divisions=True).word == "untested"


def test_an_output_says_a_verdict_for_each_promise() -> None:
    made = colony(cells=30, frames=24, motion=0.1, seed=4)
    about = Tracker().track(made.movie).about
    assert {name: each["verdict"] for name, each in about.verdicts.items()}["divisions"] == "supported"
    assert list(about.verdicts) == ["links", "divisions"]
    still = Tracker(divisions=False).track(made.movie).about
    assert list(still.verdicts) == ["links"]
