"""Outputs to review: made once, copied for each test."""

import shutil
from pathlib import Path

import pytest

from dunno.simulate import Colony, colony
from tests.review.outputs import tracked


@pytest.fixture(scope="session")
def crowd() -> Colony:
    """A colony in which a good many links are doubtful."""
    return colony(cells=20, frames=6, motion=0.35, seed=3)


@pytest.fixture(scope="session")
def kept_output(crowd: Colony, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tracked(crowd, tmp_path_factory.mktemp("crowd"))


@pytest.fixture(scope="session")
def kept_softmax(crowd: Colony, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tracked(crowd, tmp_path_factory.mktemp("softmax"), method="SM", calibration=None)


@pytest.fixture
def output(kept_output: Path, tmp_path: Path) -> Path:
    """The crowd, tracked with method JP; nobody has reviewed it."""
    return Path(shutil.copytree(kept_output, tmp_path / "out"))


@pytest.fixture
def softmax(kept_softmax: Path, tmp_path: Path) -> Path:
    """The crowd, tracked with a method that leaves no assignment problem."""
    return Path(shutil.copytree(kept_softmax, tmp_path / "softmax"))
