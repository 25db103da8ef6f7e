"""The picture of napari in docs/tools.md: a colony's tracks, coloured by the probability of their links.

    xvfb-run -a python docs/figures/make_napari.py

Needs napari with a Qt (PySide6-Essentials) and a display; `xvfb-run` with Mesa is one.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from dunno import Tracker
from dunno.simulate import colony

FRAME = 24


def main() -> None:
    """Open a viewer, take its picture, and close it."""
    import napari

    simulated = colony(cells=30, frames=40, motion=0.25, cycle=20, seed=0)
    tracking = Tracker(workers=1).track(simulated.movie)
    movie = simulated.movie
    viewer = napari.Viewer(show=False)
    viewer.window.resize(1200, 800)
    viewer.add_image(np.stack([movie.images(t) for t in range(len(movie))]), name="images", colormap="gray")
    labels = viewer.add_labels(np.stack([movie.masks(t) for t in range(len(movie))]).astype(np.int32), name="masks")
    labels.contour, labels.opacity = 1, 0.5
    data, more, _ = tracking.to_napari()
    features = {name: np.nan_to_num(values, nan=1.0) for name, values in more.pop("features").items()}
    tracks = viewer.add_tracks(data, **more, features=features, tail_width=4, tail_length=15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tracks.color_by, tracks.colormap = "confidence", "turbo"
    viewer.dims.set_point(0, FRAME)
    viewer.reset_view()
    viewer.screenshot(str(Path(__file__).parent / "napari.png"), canvas_only=False, flash=False)
    viewer.close()


if __name__ == "__main__":
    main()
