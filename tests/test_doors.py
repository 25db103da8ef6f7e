"""What `import dunno` offers."""

from pathlib import Path

import numpy as np
import tifffile

import dunno
from tests.repaired import repaired

__all__ = ["repaired"]


def test_an_output_is_opened_as_what_tracking_gives(repaired: Path) -> None:
    tracking = dunno.open(repaired)
    assert isinstance(tracking, dunno.Tracking)
    assert len(tracking.tracks()) == len((repaired / "tracks.csv").read_text().splitlines()) - 1
    for t in (0, 13):
        np.testing.assert_array_equal(tracking.masks(t), tifffile.imread(repaired / "masks" / f"mask{t:03d}.tif"))
    fewer = tracking.without_debris()
    assert f"{len(tracking.block.links)} links, those of debris too" in repr(tracking)
    assert f"{len(fewer.block.links)} links, probabilities" in repr(fewer)
    assert len(fewer.tracks()) == sum(not row.is_debris for row in tracking.tracks()) < len(tracking.tracks())


def test_every_door_is_there() -> None:
    assert all(getattr(dunno, name) is not None for name in dunno.__all__)
