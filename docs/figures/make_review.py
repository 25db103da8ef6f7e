"""Draws `review-accuracy.png`: HeLa 02 at every 10th frame, reviewed in three orders, truth answering.

DUNNO_DATA=... python docs/figures/make_review.py
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from dunno import Tracker, read
from dunno.errors import DecisionError
from dunno.review import Decision, Review
from dunno.run import track_into
from dunno.truth import TrueMothers, true_mothers
from dunno.types import PairPosterior, Truth

STEP = 10
MOST = 500
RANDOM_ORDERS = 5
GAIN, ENTROPY, GREY = "#0072B2", "#009E73", "#767676"
Picker = Callable[[Review, NDArray[np.bool_]], int]


def main() -> None:
    """Track, review three ways, draw, and print how many answers halve the errors."""
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to a folder with Fluo-N2DL-HeLa")
    warnings.simplefilter("ignore")
    movie, truth = read(Path(os.environ["DUNNO_DATA"]) / "Fluo-N2DL-HeLa" / "02", truth=True)
    movie, truth = movie.every(STEP), truth.every(STEP)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        track_into(Tracker(), movie, out)
        curves = {
            "gain": reviewed(out, truth, lambda review, open_rows: review.queue.best(open_rows, "gain")[0]),
            "entropy": reviewed(out, truth, lambda review, open_rows: review.queue.best(open_rows, "entropy")[0]),
        }
        random = [reviewed(out, truth, at_random(seed)) for seed in range(RANDOM_ORDERS)]
    curves["random"] = np.mean(random, axis=0)
    n = int(curves["gain"][1])
    print(f"{curves['gain'][0]:.1f} of the links were expected to be wrong")
    for name, (_, _, *counts) in curves.items():
        wrong = np.array(counts)
        halved = f"after {int(np.argmax(wrong <= wrong[0] / 2))}" if (wrong <= wrong[0] / 2).any() else "not"
        print(
            f"{name}: {wrong[0]:.0f} of {n} daughters wrong at first, {wrong[-1]:.1f} after {MOST} answers; halved {halved}"
        )
    draw({name: 1 - curve[2:] / n for name, curve in curves.items()})


def at_random(seed: int) -> Picker:
    """Ask anybody."""
    rng = np.random.default_rng(seed)
    return lambda review, open_rows: int(rng.choice(np.flatnonzero(open_rows)))


def reviewed(out: Path, truth: Truth, pick: Picker) -> NDArray[np.float64]:
    """(2 + MOST + 1,) expected wrong links, number of daughters with truth, and the wrong ones after 0, 1, 2, … answers."""
    with tempfile.TemporaryDirectory() as folder:
        with Review.open(shutil.copytree(out, Path(folder) / "out")) as review:
            trues = [true_mothers(truth, pair) for pair in review.pairs()]
            wrong = [count_wrong(pair, true) for pair, true in zip(review.pairs(), trues, strict=True)]
            known = sum(int(true.known.sum()) for true in trues)
            told = [review.first_expected, float(known), float(sum(wrong))]
            open_rows = np.concatenate([true.known for true in trues])
            for _ in range(MOST):
                row = pick(review, open_rows)
                open_rows[row] = False
                t = review.table.pair_of(row)
                with suppress(
                    DecisionError
                ):  # at this step a mother may truly have three daughters; the third is refused
                    review.answer(answer_of(review.original(t), trues[t], row - review.table.rows(t).start))
                wrong[t] = count_wrong(review.pair(t), trues[t])
                told.append(float(sum(wrong)))
    return np.array(told)


def answer_of(pair: PairPosterior, true: TrueMothers, daughter: int) -> Decision:
    """What somebody who knows says."""
    frame, label, mother = pair.daughter_frame, int(pair.daughters.label[daughter]), int(true.mother[daughter])
    if mother < 0:
        return Decision("no mother", frame, label)
    return Decision("mother", frame, label, int(pair.mothers.label[mother]))


def count_wrong(pair: PairPosterior, true: TrueMothers) -> int:
    """How many daughters with a known truth have another mother, or ⊥, than it."""
    mother = np.full(len(pair.daughters), -1)
    mother[pair.daughter[pair.selected]] = pair.mother[pair.selected]
    return int((true.known & (mother != true.mother)).sum())


def draw(accuracy: dict[str, NDArray[np.float64]]) -> None:
    """Accuracy over answers."""
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    words = {
        "gain": "the queue: what helps most",
        "entropy": "by entropy",
        "random": f"at random (mean of {RANDOM_ORDERS})",
    }
    for (name, values), colour, style in zip(
        accuracy.items(), (GAIN, ENTROPY, GREY), ("-", (0, (4, 1.5)), ":"), strict=True
    ):
        ax.plot(values, color=colour, linestyle=style, linewidth=2, label=words[name])
    half = 1 - (1 - accuracy["gain"][0]) / 2
    ax.axhline(half, color=GREY, linewidth=0.8)
    ax.text(MOST, half, "half of the errors are gone ", ha="right", va="bottom", color=GREY, fontsize=9)
    for name, colour in (("gain", GAIN), ("entropy", ENTROPY)):
        reached = accuracy[name] >= half
        if reached.any():
            ax.plot(int(reached.argmax()), half, "o", color=colour, markersize=6)
    ax.set(xlim=(0, MOST), xlabel="daughters reviewed", ylabel="daughters decided right")
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_title("HeLa 02, every 10th frame, truth answering", loc="left", fontweight="bold")
    ax.legend(frameon=False, loc="lower right")
    figure.savefig(Path(__file__).with_name("review-accuracy.png"), dpi=130)


if __name__ == "__main__":
    main()
