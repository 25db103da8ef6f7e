"""What the paper used, and what a change of it would silently change."""

import pytest

from dunno import rooms
from dunno.benchmark.units import PAPER_STEPS
from dunno.perturbations.gaussian import Gaussian


def test_the_variance_of_a_gaussian_perturbation_is_a_tenth() -> None:
    assert Gaussian().variance == 0.1


@pytest.mark.parametrize("name", ["FP", "FP+A", "AS"])
def test_methods_that_sample_look_at_ten(name: str) -> None:
    assert rooms.find("methods", name)().samples == 10


def test_the_benchmark_looks_at_every_1st_10th_30th_and_50th_frame() -> None:
    assert PAPER_STEPS == (1, 10, 30, 50)
