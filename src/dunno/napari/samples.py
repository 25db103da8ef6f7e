"""Sample data: a simulated colony to track, and a tracked one to review."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from dunno.io.reading import read
from dunno.napari.layers import Layer, begin_at_first_frame, movie_layers, output_layers
from dunno.runs.run import track_into
from dunno.simulate import colony
from dunno.tracking.tracker import Tracker

SAMPLE_CELLS, SAMPLE_FRAMES = 30, 20


def colony_layers() -> list[Layer]:
    """A simulated colony: image and masks."""
    begin_at_first_frame()
    return movie_layers(colony(cells=SAMPLE_CELLS, frames=SAMPLE_FRAMES, motion=0.2).movie)


def demo_layers() -> list[Layer]:
    """The same colony, tracked; Review opens it."""
    begin_at_first_frame()
    return output_layers(demo_output())


@cache
def demo_output() -> Path:
    """A tracked colony in a new folder that stays until the system clears it."""
    folder = Path(tempfile.mkdtemp(prefix="dunno-demo-"))
    colony(cells=SAMPLE_CELLS, frames=SAMPLE_FRAMES, motion=0.2).save(folder / "01")
    movie = read(folder / "01", masks=folder / "01_GT" / "TRA")
    track_into(Tracker(), movie, folder / "tracks")
    return folder / "tracks"
