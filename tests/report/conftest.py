"""A tracked colony on disk, as `dunno track` leaves it, for all tests of the report."""

from pathlib import Path

import pytest

from dunno import Tracker
from dunno.runs.run import track_into
from dunno.simulate import colony as simulate
from dunno.tracking import Tracking

pytestmark = pytest.mark.filterwarnings("ignore:masks are taken from")


@pytest.fixture(scope="session")
def sequence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crowded colony of 12 frames as a CTC sequence, with its truth beside it."""
    path = tmp_path_factory.mktemp("report") / "01"
    simulate(cells=25, frames=12, motion=0.35, seed=3).save(path)
    return path


@pytest.fixture(scope="session")
def tracks(sequence: Path) -> Path:
    """The output of tracking it."""
    import dunno

    out = sequence.parent / "out"
    track_into(Tracker(evidence="places"), dunno.read(sequence, masks=sequence.parent / "01_GT" / "TRA"), out)
    return out


@pytest.fixture(scope="session")
def tracking(tracks: Path) -> Tracking:
    """The same, all of it in memory."""
    return Tracking.read(tracks)
