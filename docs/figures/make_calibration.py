"""Draws `calibration.png`: HeLa every 10th frame, fitted on sequence 01, shown on 02.

DUNNO_DATA=... python docs/figures/make_calibration.py
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from dunno import Tracker, evaluation, read
from dunno.calibration import TemperatureScaling
from dunno.evaluation import CalibrationCurve, Sparsification
from dunno.tracking import Tracking
from dunno.truth import MOTHERLESS, true_mothers
from dunno.types import Truth

STEP = 10
ENOUGH = 10
EVENT_COST = 1800.0
BEFORE, AFTER, ENTROPY, GREY = "#D55E00", "#0072B2", "#009E73", "#767676"  # apart for colour-blind eyes too


def main() -> None:
    """Track, calibrate, evaluate, draw."""
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to a folder with Fluo-N2DL-HeLa")
    warnings.simplefilter("ignore")
    folder = Path(os.environ["DUNNO_DATA"]) / "Fluo-N2DL-HeLa"
    (train, train_truth), (movie, truth) = (read(folder / name, truth=True) for name in ("01", "02"))
    events = {"appear_cost": EVENT_COST, "disappear_cost": EVENT_COST, "divide_cost": 0.0}
    tracker = Tracker("distance", "SM", calibration=None, max_distance=np.inf, **events)
    scaling = TemperatureScaling.fit(tracker.track(train.every(STEP)), train_truth.every(STEP))
    plain, truth = tracker.track(movie.every(STEP)), truth.every(STEP)
    scaled = scaling(plain)

    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure = plt.figure(figsize=(10.5, 4.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=(3.2, 1), width_ratios=(1, 1.25), wspace=0.06)
    curve, counts, rest = (figure.add_subplot(place) for place in (grid[0, 0], grid[1, 0], grid[:, 1]))
    curves = [evaluation.calibration_curve(each, truth) for each in (plain, scaled)]
    draw_curves(curve, *curves)
    draw_counts(counts, *curves)
    draw_sparsification(rest, *(evaluation.sparsification(scaled, truth, by=by) for by in ("edge", "entropy")))
    print_surest(scaled, truth)
    figure.savefig(Path(__file__).with_name("calibration.png"), dpi=130)


def print_surest(tracking: Tracking, truth: Truth) -> None:
    """Say who is wrong among the surest tenth of the links."""
    confidence, wrong, motherless = [], [], []
    for pair in tracking.pairs:
        true = true_mothers(truth, pair).mother[pair.daughter[pair.selected]]
        confidence.append(pair.log_probability[pair.selected])
        wrong.append(true != pair.mother[pair.selected])
        motherless.append(true == MOTHERLESS)
    order = np.argsort(-np.concatenate(confidence), kind="stable")[: sum(map(len, wrong)) // 10]
    bad, alone = np.concatenate(wrong)[order], np.concatenate(motherless)[order]
    print(
        f"{bad.sum()} of the surest {len(order)} links are wrong; {alone[bad].sum()} of them to daughters without a detected mother"
    )


def draw_curves(ax: Axes, before: CalibrationCurve, after: CalibrationCurve) -> None:
    """Accuracy over confidence; the diagonal is the truth."""
    ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
    ax.text(0.115, 0.05, "calibrated", color=GREY, rotation=36, rotation_mode="anchor")
    for found, colour, marker, width in ((before, BEFORE, "s", 0), (after, AFTER, "o", 2)):
        many = found.count >= ENOUGH
        few = (found.count > 0) & ~many
        ax.plot(
            found.confidence[many], found.accuracy[many], color=colour, linewidth=width, marker=marker, markersize=7
        )
        ax.plot(found.confidence[few], found.accuracy[few], color=colour, linewidth=0, marker=marker, fillstyle="none")
    ax.text(0.50, 0.24, f"as tracked, ECE {before.ece:.3f}", color=BEFORE)
    ax.text(0.50, 0.155, f"(hollow: fewer than {ENOUGH} links)", color=BEFORE, fontsize=8)
    ax.text(0.02, 0.84, f"temperature-scaled,\nECE {after.ece:.3f}", color=AFTER)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.03, 1.04), ylabel="links that are right")
    ax.set_title("Does 70 % sure mean 70 % right?", loc="left", fontweight="bold")
    ax.tick_params(labelbottom=False)
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def draw_counts(ax: Axes, before: CalibrationCurve, after: CalibrationCurve) -> None:
    """How many links are in each bin, on a logarithmic axis."""
    for found, colour, shift in ((before, BEFORE, -0.2), (after, AFTER, 0.2)):
        middle = (found.low + found.high) / 2
        ax.bar(middle + shift * 0.1, found.count, width=0.036, color=colour)
    ax.set_yscale("log")
    ax.set(xlim=(-0.02, 1.02), ylim=(0.7, 5000), xlabel="confidence of a link", ylabel="links")
    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def draw_sparsification(ax: Axes, edge: Sparsification, entropy: Sparsification) -> None:
    """Accuracy of what remains."""
    ax.plot(edge.removed, edge.oracle, color=GREY, linestyle="--", linewidth=1)
    ax.axhline(edge.accuracy[0], color=GREY, linestyle=":", linewidth=1)
    ax.plot(entropy.removed, entropy.accuracy, color=ENTROPY, linewidth=2, linestyle=(0, (4, 1.5)))
    ax.plot(edge.removed, edge.accuracy, color=AFTER, linewidth=2)
    low = edge.accuracy[0]
    ax.text(0.13, 0.9965, "the wrong ones first: the best possible", color=GREY, va="top")
    ax.text(0.5, low + 0.002, "in random order", color=GREY, ha="center")
    ax.text(0.30, 0.9555, "by the link's probability", color=AFTER)
    ax.text(0.215, 0.925, "by the daughter's entropy", color=ENTROPY)
    ax.set(
        xlim=(0, 1), ylim=(min(edge.accuracy.min(), low) - 0.004, 1.004), xlabel="links removed, least certain first"
    )
    ax.set_ylabel("remaining links that are right")
    ax.set_title("Is what is left out what is wrong?", loc="left", fontweight="bold")
    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


if __name__ == "__main__":
    main()
