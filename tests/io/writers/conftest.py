import pytest

from dunno import Tracker
from dunno.simulate import colony as simulate
from dunno.tracking import Tracking


@pytest.fixture(scope="module")
def tracking() -> Tracking:
    return Tracker("distance", "SM", calibration=None).track(simulate(cells=12, frames=10, motion=0.4, cycle=6).movie)


def n_cells(tracking: Tracking) -> int:
    return sum(len(tracking.movie.detections(t)) for t in range(len(tracking.movie)))
