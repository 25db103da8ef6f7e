"""Draws `repaired.png`: a simulated colony with a careless program's masks, and the same masks repaired, and tracked.

python docs/figures/make_repaired.py
"""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import dunno
from dunno.report.repairs import read_repairs
from dunno.runs.run import track_into
from dunno.simulate import colony
from dunno.types import Movie

HERE = Path(__file__).parent
FAULTS = {"merged": 0.04, "false": 0.04, "split": 0.03}
TRAIL = 6
"""Frames over which a cell's way is drawn."""

CHANGED = "#D55E00"


def main() -> None:
    """Track the colony, and draw the frame with most repairs."""
    warnings.simplefilter("ignore")
    plt.rcParams.update({"font.size": 10})
    with TemporaryDirectory() as place:
        folder = Path(place)
        colony(cells=16, frames=14, motion=0.12, seed=2, cycle=9.0, **FAULTS).save(folder / "01")
        given = dunno.read(folder / "01", masks=folder / "01_RES")
        track_into(dunno.Tracker(repair=True), given, folder / "out")
        tracking, repairs = dunno.open(folder / "out").without_debris(), read_repairs(folder / "out") or []
        t = int(np.bincount([each.frame for each in repairs]).argmax())
        here = [each for each in repairs if each.frame == t]
        figure, axes = plt.subplots(1, 2, figsize=(6.6, 3.5), layout="constrained")
        show_masks(axes[0], given, t, [label for each in here for label in each.given])
        axes[0].set_title("masks as a program gave them", fontsize=10)
        show_masks(axes[1], tracking.movie, t, [label for each in here for label in each.drawn])
        show_tracks(axes[1], tracking, t)
        axes[1].set_title("repaired, and tracked", fontsize=10)
        figure.savefig(HERE / "repaired.png", dpi=130)


def show_masks(axes: Axes, movie: Movie, t: int, changed: list[int]) -> None:
    """The image with the outlines of all masks, those that are changed in a colour."""
    axes.imshow(movie.images(t), cmap="gray")
    masks = movie.masks(t)
    for label in np.unique(masks[masks > 0]).tolist():
        new = label in changed
        axes.contour(masks == label, [0.5], colors=CHANGED if new else "white", linewidths=1.6 if new else 0.7)
    axes.set_axis_off()


def show_tracks(axes: Axes, tracking: dunno.Tracking, t: int) -> None:
    """The way that each cell has come, and that of its mother."""
    cells, edges = tracking.cells, tracking.edges
    shown = edges.selected & (cells.frame[edges.daughter] <= t) & (cells.frame[edges.daughter] > t - TRAIL)
    colours = plt.colormaps["tab20"].colors  # type: ignore[attr-defined]
    for mother, daughter in zip(edges.mother[shown], edges.daughter[shown], strict=True):
        y, x = cells.place[[mother, daughter]].T
        axes.plot(x, y, color=colours[int(cells.family[daughter]) % 20], linewidth=1.8)


if __name__ == "__main__":
    main()
