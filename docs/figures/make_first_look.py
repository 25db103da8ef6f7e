"""Draws `doubtful.png`, a link that is in doubt, and with real movies `promised.png`, promised against found.

python docs/figures/make_first_look.py                    (the first: a simulated colony)
DUNNO_DATA=... python docs/figures/make_first_look.py     (both; needs Fluo-N2DL-HeLa, PhC-C2DL-PSC, iPSC-07, Cglut-2min)
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import PercentFormatter

from dunno import Movie, Tracker, evaluation, read
from dunno.simulate import colony
from dunno.types import PairPosterior

HERE = Path(__file__).parent
MOVIES = ("Fluo-N2DL-HeLa/01", "Fluo-N2DL-HeLa/02", "PhC-C2DL-PSC/01", "iPSC-07/01", "iPSC-07/02", "iPSC-07/03")
STEP = 10
REACH = 36  # pixels shown on either side of the daughter
BINS = 10
FEWEST = 10  # links in a bin that is drawn
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")  # apart for colour-blind eyes too
GREY = "#767676"


def main() -> None:
    """Draw what can be drawn here."""
    warnings.simplefilter("ignore")
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    draw_doubtful()
    if "DUNNO_DATA" in os.environ:
        draw_promised(Path(os.environ["DUNNO_DATA"]))


def draw_doubtful() -> None:
    """Two frames of a simulated colony: a daughter, and the mothers it may have."""
    movie = colony(motion=0.2, seed=0).movie
    pairs = Tracker().track(movie).pairs
    t, daughter = max(
        ((t, j) for t, pair in enumerate(pairs) for j in range(len(pair.daughters)) if inside(movie, pair, j)),
        key=lambda place: pairs[place[0]].entropy[place[1]],
    )
    figure, axes = plt.subplots(1, 2, figsize=(6.6, 3.5), layout="constrained")
    show_mothers(axes[0], movie, pairs[t], daughter, t)
    show_daughter(axes[1], movie, pairs[t], daughter, t + 1)
    figure.savefig(HERE / "doubtful.png", dpi=130)


def inside(movie: Movie, pair: PairPosterior, daughter: int) -> bool:
    """Whether the crop around a daughter lies within the frame."""
    centre, shape = pair.daughters.centroid[daughter], np.array(movie.masks(0).shape)
    return bool((centre > REACH).all() and (centre < shape - REACH).all())


def crop(ax: Axes, movie: Movie, t: int, centre: np.ndarray) -> np.ndarray:
    """Show the image around a place; returns the masks there."""
    y, x = (round(float(value)) for value in centre)
    box = (slice(y - REACH, y + REACH), slice(x - REACH, x + REACH))
    ax.imshow(movie.images(t)[box], cmap="gray", vmin=0, vmax=190)
    ax.set_axis_off()
    return movie.masks(t)[box]


def outline(ax: Axes, masks: np.ndarray, label: int, colour: str, words: str, width: float) -> None:
    """Draw a cell's outline with words on it."""
    ax.contour(masks == label, levels=[0.5], colors=[colour], linewidths=width)
    y, x = (places.mean() for places in np.nonzero(masks == label))
    text = ax.text(x, y, words, color="white", ha="center", va="center", fontweight="bold", fontsize=12)
    text.set_path_effects([withStroke(linewidth=3, foreground="black")])


def show_mothers(ax: Axes, movie: Movie, pair: PairPosterior, daughter: int, t: int) -> None:
    """The earlier frame: its likeliest mothers, each with its probability."""
    centre = pair.daughters.centroid[daughter]
    masks = crop(ax, movie, t, centre)
    edges = np.flatnonzero(pair.daughter == daughter)
    likely = edges[np.argsort(-pair.probability[edges])][: len(COLOURS)]
    for edge, colour in zip(likely, COLOURS, strict=False):
        label = pair.mothers.label[pair.mother[edge]]
        if pair.probability[edge] > 0.01 and (masks == label).any():
            outline(ax, masks, label, colour, f"{pair.probability[edge]:.0%}", 3.0 if pair.selected[edge] else 1.5)
    ax.set_title(f"frame {t}: which of them is it?", loc="left")


def show_daughter(ax: Axes, movie: Movie, pair: PairPosterior, daughter: int, t: int) -> None:
    """The later frame: the daughter."""
    masks = crop(ax, movie, t, pair.daughters.centroid[daughter])
    outline(ax, masks, pair.daughters.label[daughter], "white", "?", 2.5)
    ax.set_title(f"frame {t}: this cell", loc="left")


def draw_promised(data: Path) -> None:
    """How often links are right, against how often they should be, on real movies that nobody annotated for us."""
    confidence, right, promised, found = [], [], 0.0, 0
    counts = np.zeros(BINS, np.int64)
    for name in MOVIES:
        movie, truth = read(data / name, truth=True)
        tracking, truth = Tracker().track(movie.every(STEP)), truth.every(STEP)
        scores = evaluation.score(tracking, truth)
        promised, found = promised + scores.promised_wrong, found + scores.found_wrong
        curve = evaluation.calibration_curve(tracking, truth, n_bins=BINS)
        confidence.append(np.where(curve.count > 0, curve.confidence, 0) * curve.count)
        right.append(np.where(curve.count > 0, curve.accuracy, 0) * curve.count)
        counts += curve.count
        print(f"{name}: promised {scores.promised_wrong:.1f}, found {scores.found_wrong}, ECE {scores.ece:.4f}")
    print(f"all: promised {promised:.1f}, found {found}, {counts.sum()} links")
    enough = counts >= FEWEST
    said, was = (np.sum(values, axis=0)[enough] / counts[enough] for values in (confidence, right))
    figure, ax = plt.subplots(figsize=(3.9, 3.5), layout="constrained")
    ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
    error = 1.96 * np.sqrt(was * (1 - was) / counts[enough])
    ax.errorbar(said, was, yerr=error, color=COLOURS[0], marker="o", linewidth=1.5, capsize=2)
    ax.set(
        xlim=(0, 1.02), ylim=(0, 1.02), xlabel="promised: probability of a link", ylabel="found: share that is right"
    )
    ax.set_title(f"{counts.sum():,} links, every {STEP}th frame", loc="left", fontsize=10)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(PercentFormatter(1, decimals=0))
    figure.savefig(HERE / "promised.png", dpi=130)


if __name__ == "__main__":
    main()
