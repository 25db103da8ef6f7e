from pathlib import Path

import numpy as np
import pytest

from benchmarks.crowd import Crowd
from dunno import Movie, Tracker
from dunno.costs.embedding import Embedding
from dunno.runs.workspace import digest, identity


def test_what_differs_in_content_differs_in_its_digest() -> None:
    things = [
        *(0, 1, 1.0, "1", None, True, (), [1], (1, 2), {"a": 1}, {"a": 2}, {"b": 1}),
        *(np.arange(3), np.arange(3.0), np.arange(4), np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2)),
    ]
    assert len({digest(thing) for thing in things}) == len(things)


def test_every_choice_is_part_of_the_identity(colony: Movie) -> None:
    choices: list[dict[str, object]] = [
        *({}, {"method": "SM"}, {"method": "AS", "samples": 5}, {"method": "AS", "samples": 6}, {"cost": "overlap"}),
        *({"seed": 1}, {"max_distance": 3.0}, {"max_distance": 4.0}, {"appear_cost": 1.0}, {"no_mother": False}),
        *(
            {"calibration": None},
            {"method": "FP", "perturbation": "shift"},
            {"method": "FP", "perturbation": "gaussian"},
        ),
    ]
    seen = [identity(Tracker(**each), colony, ctc=False) for each in choices]  # type: ignore[arg-type]
    seen.append(identity(Tracker(), colony, ctc=True))
    for i, one in enumerate(seen):
        assert one not in seen[:i]
    assert identity(Tracker(workers=3), colony, ctc=False) == seen[0]


def test_features_are_known_by_their_content(colony: Movie) -> None:
    costs = [Embedding({0: np.array([[1.0, value]])}) for value in (2.0, 2.0, 2.5)]
    first, same, other = (identity(Tracker(cost, "SM", calibration=None), colony, ctc=False) for cost in costs)
    assert first == same
    assert first != other


@pytest.mark.parametrize("window", [slice(0, 3), slice(2, 5)])
def test_a_view_pickles_with_its_own_frames_alone(tmp_path: Path, window: slice) -> None:
    import pickle

    masks = np.stack([Crowd(9, 5)[t] for t in range(5)])
    view = Movie(masks).part(window)
    sent = pickle.dumps(view)
    assert len(sent) < 0.8 * masks.nbytes
    again = pickle.loads(sent)
    for t in range(3):
        np.testing.assert_array_equal(again.masks(t), view.masks(t))
        assert again.where(t) == view.where(t)
    assert again.frames.tolist() == view.frames.tolist()
