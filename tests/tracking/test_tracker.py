import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import tifffile

from dunno import Movie, Tracker
from dunno.errors import InputError, MovieError, ProblemError
from dunno.simulate import colony as simulate
from dunno.tracking import Tracking
from dunno.tracking.plan import BLOCK
from dunno.types import FramePair, Ints

from ..conftest import COLONY


def same(one: Tracking, other: Tracking) -> bool:
    fields = ("mother", "daughter", "cost", "log_probability", "log_no_mother", "entropy", "selected")
    return len(one.pairs) == len(other.pairs) and all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for a, b in zip(one.pairs, other.pairs, strict=True)
        for name in fields
    )


def test_the_colony_is_tracked(colony: Movie) -> None:
    tracking = Tracker("distance", "SM", calibration=None, max_distance=2.5).track(colony)
    links = [
        (pair.mothers.label[pair.mother[e]], pair.daughters.label[pair.daughter[e]])
        for pair in tracking.pairs
        for e in np.flatnonzero(pair.selected)
    ]
    assert links == [(1, 1), (3, 2), (2, 3), (1, 1), (2, 2), (3, 4)]
    assert repr(tracking) == "Tracking('colony', 2 frame pairs, 6 links, probabilities untested)"


def test_results_are_equal_to_the_bit_for_any_number_of_workers() -> None:
    movie = simulate(cells=20, frames=40).movie
    alone = Tracker("distance", "SM", calibration=None, workers=1).track(movie)
    assert same(alone, Tracker("distance", "SM", calibration=None, workers=2).track(movie))
    assert same(alone, Tracker("distance", "SM", calibration=None, workers=7).track(movie))


def test_processes_give_the_same_results_too() -> None:
    movie = simulate(cells=6, frames=20).movie
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        assert same(
            Tracker("distance", "SM", calibration=None, workers=1).track(movie),
            Tracker("distance", "SM", calibration=None, executor=executor).track(movie),
        )


def test_the_stream_reads_only_a_few_blocks_ahead() -> None:
    frames = simulate(cells=4, frames=20).movie
    read = []

    class Watched:
        def __len__(self) -> int:
            return 2000

        def __getitem__(self, t: int) -> np.ndarray:
            read.append(t)
            return frames.masks(t % 20)

    taken, workers = 10, 2
    stream = Tracker("distance", "SM", calibration=None, workers=workers, max_distance=30).stream(Movie(Watched()))
    for _ in range(taken):
        next(stream)
    stream.close()
    assert max(read) <= (taken + 2 * workers) * BLOCK


def test_frames_without_cells_are_tracked_through() -> None:
    masks = np.zeros((4, 6, 6), int)
    masks[0, 2, 2] = masks[3, 2, 2] = 1
    tracking = Tracker("distance", "SM", calibration=None).track(Movie(masks))
    assert [int(pair.selected.sum()) for pair in tracking.pairs] == [0, 0, 0]
    assert [len(pair.daughters) for pair in tracking.pairs] == [0, 0, 1]
    assert np.exp(tracking.pairs[2].log_no_mother).tolist() == [1.0]


def test_three_dimensions_and_scale_are_tracked_physically() -> None:
    masks = np.zeros((2, 8, 8, 8), int)
    masks[0, 1, 4, 4], masks[0, 6, 4, 4] = 1, 2
    masks[1, 3, 4, 4] = 1
    near = (
        Tracker("distance", "SM", calibration=None, max_distance=100)
        .track(Movie(masks, scale=(5.0, 1.0, 1.0)))
        .pairs[0]
    )
    assert near.cost.tolist() == [50.0, 112.5]
    assert near.mother[near.selected].tolist() == [0]


def test_an_infinite_gate_makes_every_mother_a_candidate(colony: Movie) -> None:
    pair = Tracker(max_distance=np.inf).track(colony).pairs[0]
    assert len(pair.mother) == 12
    assert np.isfinite(pair.log_no_mother).all()


def test_event_costs_can_be_given(colony: Movie) -> None:
    pair = (
        Tracker("distance", "SM", calibration=None, max_distance=50, appear_cost=0.1, disappear_cost=0.1)
        .track(colony)
        .pairs[0]
    )
    stay = pair.cost == 0
    assert pair.selected.tolist() == stay.tolist()
    np.testing.assert_allclose(np.exp(pair.log_probability[stay]), 1 / (1 + np.exp(-0.1)), atol=1e-4)


def test_a_movie_with_one_frame_is_refused(colony: Movie) -> None:
    with pytest.raises(MovieError, match="colony: the movie has one frame; tracking needs at least two"):
        Tracker().track(colony.part(slice(0, 1)))


def test_an_users_own_cost_works_without_registration(colony: Movie) -> None:
    def sideways(pair: FramePair, mother: Ints, daughter: Ints) -> np.ndarray:
        return abs(pair.mothers.centroid[mother, 1] - pair.daughters.centroid[daughter, 1])

    tracking = Tracker(sideways, max_distance=20, appear_cost=5, disappear_cost=5, divide_cost=0).track(colony)
    assert tracking.about["cost"] == "sideways"
    with pytest.raises(InputError, match="'sideways' does not say what events cost; give appear_cost"):
        Tracker(sideways, max_distance=20).track(colony)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: np.zeros(n + 1), r"expected one number per edge"),
        (lambda n: np.full(n, np.nan), "is NaN between mother 1 in frame 0 and daughter 1 in frame 1; use inf"),
        (lambda n: np.array(["a"] * n), "expected one number per edge"),
    ],
)
def test_a_cost_that_answers_nonsense_is_caught(colony: Movie, answer: object, message: str) -> None:
    class Odd:
        name = "odd"

        def __call__(self, pair: FramePair, mother: Ints, daughter: Ints) -> np.ndarray:
            return answer(len(mother))

    with pytest.raises(InputError, match=message):
        Tracker(Odd(), max_distance=20, appear_cost=1, disappear_cost=1, divide_cost=1).track(colony)


def test_divisions_that_pay_too_well_are_refused(colony: Movie) -> None:
    with pytest.raises(ProblemError, match="divide >= -disappear"):
        Tracker("distance", "SM", calibration=None, max_distance=20, disappear_cost=1.0, divide_cost=-2.0).track(colony)


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"appear_cost": np.nan}, {"divide_cost": np.inf}])
def test_odd_settings_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match=f"{next(iter(wrong))} is"):
        Tracker(**wrong)


def test_every_result_says_who_made_it(colony: Movie) -> None:
    about = Tracker("distance", "SM", calibration=None, seed=7).track(colony.every(2)).about
    assert about["seed"] == 7
    assert about["step"] == 2
    assert about["method"] == "SM"
    assert about["cost_parameters"] == {"precision": 1.0}
    assert about["max_distance_estimated"] is True
    assert about["calibrated"] is False
    assert pickle.loads(pickle.dumps(about)) == about


def test_progress_can_be_shown(colony: Movie, capsys: pytest.CaptureFixture[str]) -> None:
    Tracker().track(colony, progress=True)
    assert "tracking colony" in capsys.readouterr().out


def test_arrays_and_paths_are_movies(colony: Movie, tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", np.stack(COLONY), photometric="minisblack")
    tracker = Tracker(method="SM", calibration=None, max_distance=2.5)
    expected = [pair.probability.tolist() for pair in tracker.track(colony).pairs]
    for movie in (np.stack(COLONY), str(tmp_path / "a.tif"), tmp_path / "a.tif"):
        assert [pair.probability.tolist() for pair in tracker.track(movie).pairs] == expected
    with pytest.raises(InputError, match="a movie of type int; expected a Movie, an array of labels, or a path"):
        tracker.track(3)  # type: ignore[arg-type]


def test_a_movie_without_cells_has_nothing_to_repair() -> None:
    tracking = Tracker(repair=True, workers=1).track(Movie(np.zeros((4, 20, 20), np.int32)))
    assert len(tracking.cells.label) == 0 and not tracking.about.judges_masks
