from pathlib import Path

import pytest

from dunno.runs.run import track_into
from dunno.simulate import colony
from dunno.tracking.tracker import Tracker


@pytest.fixture(scope="session")
def plate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two outputs, of which one divides twice as fast."""
    folder = tmp_path_factory.mktemp("plate")
    for name, cycle in (("A1", 12.0), ("A2", 6.0)):
        simulated = colony(cells=12, frames=14, motion=0.1, cycle=cycle, seed=1)
        simulated.save(folder / "movies" / name)
        simulated.movie.path = str(folder / "movies" / name)
        simulated.movie.interval = 5.0
        track_into(Tracker(calibration=None), simulated.movie, folder / "out" / name)
    return folder
