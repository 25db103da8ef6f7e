import numpy as np
import pytest

from dunno import Movie
from dunno.errors import InputError
from dunno.simulate import Colony
from dunno.simulate import colony as simulate
from dunno.training.windows import Recording, Windows
from dunno.truth import ancestors

pytest.importorskip("trackastra")


@pytest.fixture(scope="module")
def simulated() -> Colony:
    return simulate(cells=15, frames=20, motion=0.3, seed=2)


@pytest.fixture(scope="module")
def recording(simulated: Colony) -> Recording:
    return Recording.of(simulated.movie, simulated.truth, 2)


@pytest.mark.parametrize("step", [1, 5])
def test_links_are_the_true_ancestors(simulated: Colony, recording: Recording, step: int) -> None:
    window = recording.window(1, step, 4, validation=False)
    truth, tracks = simulated.truth, []
    for t in range(1, 1 + 4 * step, step):
        tracks += [(t, track) for track in truth.tracks[t][~recording.held_out[t]]]
    assert len(tracks) == len(window)
    for i, (earlier, mother) in enumerate(tracks):
        for j, (later, daughter) in enumerate(tracks):
            expected = earlier < later and mother == ancestors(truth, np.array([daughter]), earlier)[0]
            assert window.link[i, j] == expected


def test_a_division_gives_a_mother_two_links(simulated: Colony, recording: Recording) -> None:
    most = 0
    for start in range(17):
        window = recording.window(start, 1, 2, validation=False)
        most = max(most, int(window.link.sum(axis=1).max()))
    assert most == 2


def test_the_validation_part_shares_no_cell_with_the_rest(simulated: Colony, recording: Recording) -> None:
    for t in range(5):
        rest, held_out = (recording.window(t, 1, 3, validation) for validation in (False, True))
        axis = int(np.argmax(simulated.movie.shape))
        border = 0.8 * simulated.movie.shape[axis]
        assert (rest.place[:, axis] < border).all()
        assert (held_out.place[:, axis] >= border).all()
        assert len(rest) + len(held_out) == sum(len(recording.frames[s]) for s in range(t, t + 3))


def test_steps_are_drawn_up_to_the_largest_that_fits(recording: Recording) -> None:
    seen: list[int] = []

    class Noted(Recording):
        def window(self, start: int, step: int, length: int, validation: bool):  # noqa: ANN202
            seen.append(step)
            assert 0 <= start
            assert start + step * (length - 1) < len(self)
            return super().window(start, step, length, validation)

    noted = Noted(recording.frames, recording.truth, recording.held_out)
    rng = np.random.default_rng(0)
    for _ in range(300):
        Windows((noted,), 4, 30).draw(rng)
    counts = np.bincount(seen)
    assert set(seen) == {1, 2, 3, 4, 5, 6}  # 20 frames hold 4 of every 6th
    assert counts[1] > counts[2] > counts[6] > 0
    seen.clear()
    for _ in range(20):
        Windows((noted,), 4).draw(rng)
    assert set(seen) == {1}


def test_movies_shorter_than_a_window_are_refused_or_left_out(recording: Recording) -> None:
    short = Recording(recording.frames[:3], recording.truth.part(slice(0, 3)), recording.held_out[:3])
    with pytest.raises(InputError, match="the longest movie has 3 frames; a window has 4"):
        Windows((short,), 4)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert Windows((short, recording), 4, 30).draw(rng).length == 4


def test_false_detections_have_no_links() -> None:
    from dataclasses import replace

    masks = np.zeros((2, 20, 20), np.uint8)
    masks[:, 3:6, 3:6] = 1
    masks[:, 12:15, 3:6] = 2
    simulated = simulate(cells=2, frames=2, seed=0)
    truth = replace(simulated.truth, tracks=(np.array([1, 0]), np.array([1, 0])), labels=(np.array([1, 2]),) * 2)
    window = Recording.of(Movie(masks), truth, 2).window(0, 1, 2, validation=False)
    np.testing.assert_array_equal(window.link, [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
