"""Two tiny simulated datasets: `pair` has two sequences, `single` one movie that is cross-fitted in halves."""

from pathlib import Path

import pytest

from dunno.simulate import colony


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("datasets")
    for number, sequence in enumerate(("pair/01", "pair/02", "single/01")):
        colony(cells=12, frames=8, motion=0.3, seed=number).save(folder / sequence)
    return folder
