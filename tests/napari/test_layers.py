"""What layers hold, without a window."""

from pathlib import Path

import pytest

from dunno.napari import layers
from dunno.review import Review
from dunno.simulate import colony
from tests.review.outputs import tracked


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tracked(colony(cells=8, frames=40, motion=0.2, seed=3), tmp_path_factory.mktemp("layers"))


def frames_of(layer: layers.Layer) -> list[int]:
    return sorted({int(t) for t in layer[0][:, 1]})


def test_tracks_hold_the_whole_movie(output: Path) -> None:
    with Review.open(output, read_only=True) as review:
        made = layers.tracks_layer(review, 20)
    assert made[1]["name"] == "tracks"
    assert frames_of(made) == list(range(40))


def test_tracks_of_a_huge_movie_say_which_frames_they_hold(output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "WHOLE", 10)
    with Review.open(output, read_only=True) as review:
        tracks, points = layers.tracks_layer(review, 20), layers.doubtful_layer(review, 20)
    assert tracks[1]["name"] == "tracks of frames 8 to 32"
    assert points[1]["name"] == "doubtful of frames 8 to 32"
    assert frames_of(tracks) == list(range(8, 33))
