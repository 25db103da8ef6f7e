from pathlib import Path

import pytest

from dunno.benchmark.datasets import find_datasets
from dunno.benchmark.folds import open_folds
from dunno.benchmark.units import Setup, Unit, plan_units
from dunno.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:masks are taken from")


def unit(root: Path, dataset: str, step: int = 1) -> Unit:
    units, _ = plan_units(find_datasets(root), Setup(costs=("distance",), methods=("SM",), steps=(step,)))
    return next(each for each in units if each.dataset == dataset)


def test_the_first_sequence_is_calibrated_on_and_the_other_evaluated(root: Path) -> None:
    (fold,) = open_folds(unit(root, "pair"))
    assert fold.sequence == "02"
    assert fold.evaluate[0].movie.path == str(root / "pair" / "02")
    assert fold.calibrate[0].movie.path == str(root / "pair" / "01")


@pytest.mark.parametrize(("step", "first", "second"), [(1, [0, 1, 2, 3], [4, 5, 6, 7]), (3, [0], [3, 6])])
def test_no_pair_of_a_single_movie_lies_across_its_cut(
    root: Path, step: int, first: list[int], second: list[int]
) -> None:
    (fold,) = open_folds(unit(root, "single", step))
    one, other = fold.evaluate
    assert (one.movie.frames.tolist(), other.movie.frames.tolist()) == (first, second)
    assert (one.truth.frames.tolist(), other.truth.frames.tolist()) == (first, second)
    assert fold.calibrate == (other, one)


def test_a_folder_that_is_one_dataset_itself_is_taken_as_such(root: Path) -> None:
    (dataset,) = find_datasets(root / "pair")
    assert (dataset.name, dataset.sequences) == ("pair", ("01", "02"))


def test_a_folder_without_annotated_movies_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no annotated movies; expected .*01_GT/TRA"):
        find_datasets(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        find_datasets(tmp_path / "nowhere")
