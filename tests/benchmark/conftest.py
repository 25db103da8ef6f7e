"""Two tiny simulated datasets: `pair` has two sequences, `single` one movie whose halves stand for two."""

from pathlib import Path

import pytest

from dunno.simulate import colony


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("datasets")
    for sequence, frames, seed in (("pair/01", 8, 0), ("pair/02", 8, 1), ("single/01", 9, 2)):
        colony(cells=12, frames=frames, motion=0.3, seed=seed).save(folder / sequence)
    return folder
