from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.costs.embedding import Embedding
from dunno.errors import InputError


def features(colony: Movie) -> dict[str, np.ndarray]:
    rows = [(t, label) for t in range(3) for label in colony.detections(t).label]
    frame, label = np.array(rows).T
    return {"frame": frame, "label": label, "size": label * 2.0, "shape": frame * 1.0}


def test_the_cost_is_half_the_squared_distance_of_features(colony: Movie) -> None:
    cost = Embedding.from_table(features(colony))
    pair = Tracker(cost, max_distance=np.inf).track(colony).pairs[0]
    mother, daughter = pair.mothers.label[pair.mother], pair.daughters.label[pair.daughter]
    np.testing.assert_allclose(pair.cost, 0.5 * ((2.0 * (mother - daughter)) ** 2 + 1))


def test_rows_may_come_in_any_order_and_from_a_file(colony: Movie, tmp_path: Path) -> None:
    table = features(colony)
    order = np.random.default_rng(0).permutation(len(table["frame"]))
    shuffled = {name: values[order] for name, values in table.items()}
    lines = [",".join(shuffled)] + [",".join(map(str, row)) for row in zip(*shuffled.values(), strict=True)]
    (tmp_path / "features.csv").write_text("\n".join(lines))
    for cost in (Embedding.from_table(shuffled), Embedding.from_csv(tmp_path / "features.csv")):
        np.testing.assert_array_equal(cost.features(colony.detections(1)), [[2, 1], [4, 1], [6, 1], [8, 1]])


def test_without_features_it_compares_place_and_size(colony: Movie) -> None:
    cells = colony.detections(0)
    np.testing.assert_allclose(Embedding().features(cells), np.column_stack([cells.centroid, np.sqrt(cells.area)]))


def test_features_that_do_not_fit_are_refused(colony: Movie, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected frame, label and features"):
        Embedding.from_table({"frame": np.arange(3), "size": np.arange(3)})
    with pytest.raises(InputError, match="no features for frame 1"):
        Tracker(Embedding({0: np.zeros((3, 2))}), max_distance=9).track(colony)
    with pytest.raises(InputError, match=r"frame 0: features of shape \(2, 2\) for 3 detections"):
        Tracker(Embedding({0: np.zeros((2, 2))}), max_distance=9).track(colony)
    with pytest.raises(InputError, match="nowhere.csv: cannot be read as a table of features"):
        Embedding.from_csv(tmp_path / "nowhere.csv")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("frame,label,a\n0,1,2\n0,2\n", r"table of features \(line 3 does not have the 3 columns of the first\)$"),
        ("frame,label,a\n0,1,x\n", "could not convert string to float: 'x'"),
        ("frame,label,a\n0.5,1,2\n", "has 0.5 as frame; expected whole numbers from 0"),
        ("frame,label,a\n0,nan,2\n", "has nan as label; expected whole numbers from 0"),
        ("frame,label,a\n", "a table of features has no rows; expected one for each detection"),
        ("", r"columns \[\]; expected frame, label and features"),
    ],
)
def test_a_damaged_table_is_refused_in_one_line(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "features.csv").write_text(text)
    with pytest.raises(InputError, match=told) as caught:
        Embedding.from_csv(tmp_path / "features.csv")
    assert "\n" not in str(caught.value)
