from pathlib import Path

import numpy as np
import pytest

from dunno.biology.groups import interval, read_groups
from dunno.errors import InputError


def test_wells_that_differ_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    sure = np.array([[10.0] * 50, [12.0] * 50, [14.0] * 50])
    low, high = interval(sure)
    assert (low + high) / 2 == pytest.approx(12)
    assert (high - low) / 2 == pytest.approx(
        4.303 * 2 / np.sqrt(3), rel=1e-3
    )  # Student's t with two degrees of freedom
    doubtful = sure + rng.normal(0, 3, sure.shape)
    assert np.diff(interval(doubtful)) > np.diff(interval(sure))


def test_one_well_has_the_doubt_of_its_links_alone() -> None:
    assert interval(np.arange(100.0)[None]) == (2, 97)


def test_a_difference_is_that_of_the_means() -> None:
    one, other = np.full((3, 20), 5.0) + np.arange(3)[:, None], np.full((3, 20), 1.0) + np.arange(3)[:, None]
    low, high = interval(one, other)
    assert (low + high) / 2 == pytest.approx(4)
    assert low < 4 < high


def test_tables_of_groups_are_read_and_refused(tmp_path: Path) -> None:
    (tmp_path / "plate.csv").write_text("Well,Condition\nA1,control\nA2,drug\n")
    assert read_groups(tmp_path / "plate.csv") == {"A1": "control", "A2": "drug"}
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="has the columns a, b; expected name and group"):
        read_groups(tmp_path / "odd.csv")
    (tmp_path / "long.csv").write_text(f"well,{'[' * 20_000}\n1,2\n")
    with pytest.raises(InputError, match="has the columns well") as caught:
        read_groups(tmp_path / "long.csv")
    assert len(str(caught.value)) < 500
    (tmp_path / "gap.csv").write_text("name,group\nA1,\n")
    with pytest.raises(InputError, match="one that is not filled in"):
        read_groups(tmp_path / "gap.csv")
