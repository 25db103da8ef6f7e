"""Draws `review-accuracy.png`: daughters right against daughters reviewed, in three orders, truth answering.

Left: HeLa 02 at every 10th frame. Right: six crowded simulated colonies, on average.

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
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from dunno import Movie, Tracker, read
from dunno.errors import DecisionError
from dunno.review import Decision, Review
from dunno.runs.run import track_into
from dunno.simulate import colony
from dunno.truth import TrueMothers, true_mothers
from dunno.types import PairPosterior, Truth

STEP = 10
MOST, MOST_SIMULATED = 500, 120
RANDOM_ORDERS = 5
COLONIES = 6
HEAD = 3
ORDERS = ("gain", "entropy", "random")
COLOURS = {"gain": "#0072B2", "entropy": "#009E73", "random": "#767676"}
STYLES = {"gain": "-", "entropy": (0, (4, 1.5)), "random": ":"}
GREY = "#767676"
Counts = NDArray[np.float64]
Picker = Callable[[Review, NDArray[np.bool_]], int]


def main() -> None:
    """Track, review three ways, draw, and print how many answers halve the errors."""
    if "DUNNO_DATA" not in os.environ:
        sys.exit("needs real movies: set DUNNO_DATA to a folder with Fluo-N2DL-HeLa")
    warnings.simplefilter("ignore")
    movie, truth = read(Path(os.environ["DUNNO_DATA"]) / "Fluo-N2DL-HeLa" / "02", truth=True)
    hela = in_all_orders(movie.every(STEP), truth.every(STEP), MOST, RANDOM_ORDERS)
    tell("HeLa 02, every 10th frame", hela)
    colonies = [colony(cells=40, frames=12, motion=0.35, seed=seed) for seed in range(COLONIES)]
    each = [in_all_orders(one.movie, one.truth, MOST_SIMULATED, 1) for one in colonies]
    simulated = {name: np.mean([curves[name] for curves in each], axis=0) for name in ORDERS}
    tell(f"{COLONIES} simulated colonies, mean", simulated)
    first = [[halving(curves[name][HEAD:]) for curves in each] for name in ("gain", "entropy")]
    print(f"answers that halve the errors of each colony: by gain {first[0]}, by entropy {first[1]}")
    draw(hela, simulated)


def in_all_orders(movie: Movie, truth: Truth, most: int, random_orders: int) -> dict[str, Counts]:
    """Track a movie, and review it in each order; the random one is a mean."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        track_into(Tracker(), movie, out)
        random = [reviewed(out, truth, at_random(seed), most) for seed in range(random_orders)]
        return {
            "gain": reviewed(out, truth, lambda review, open_rows: review.queue.best(open_rows, "gain")[0], most),
            "entropy": reviewed(out, truth, lambda review, open_rows: review.queue.best(open_rows, "entropy")[0], most),
            "random": np.mean(random, axis=0),
        }


def halving(wrong: Counts) -> int | None:
    """How many answers halve the errors."""
    return int(np.argmax(wrong <= wrong[0] / 2)) if (wrong <= wrong[0] / 2).any() else None


def tell(what: str, curves: dict[str, Counts]) -> None:
    """Print what was found."""
    expected, n = curves["gain"][:2]
    print(f"{what}: {n:.0f} daughters, {expected:.1f} wrong links expected")
    for name, curve in curves.items():
        wrong, own = curve[HEAD:], curve[2]
        mended = max(wrong[0] - wrong[-1], 1)
        told = f"{wrong[0]:.1f} wrong at first, {wrong[-1]:.1f} after {len(wrong) - 1} answers"
        print(
            f"  {name}: {told}; halved after {halving(wrong)}; {1 - own / mended:.0%} of the mended were not asked about"
        )


def at_random(seed: int) -> Picker:
    """Ask anybody."""
    rng = np.random.default_rng(seed)
    return lambda review, open_rows: int(rng.choice(np.flatnonzero(open_rows)))


def reviewed(out: Path, truth: Truth, pick: Picker, most: int) -> Counts:
    """(HEAD + most + 1,) wrong links expected, daughters with truth, wrong ones asked about; wrong after 0, 1, 2, … answers."""
    with tempfile.TemporaryDirectory() as folder:
        with Review.open(shutil.copytree(out, Path(folder) / "out")) as review:
            trues = [true_mothers(truth, pair) for pair in review.pairs()]
            wrong = [int(wrong_ones(pair, true).sum()) for pair, true in zip(review.pairs(), trues, strict=True)]
            known = sum(int(true.known.sum()) for true in trues)
            own, told = 0, [float(sum(wrong))]
            open_rows = np.concatenate([true.known for true in trues])
            for _ in range(most):
                row = pick(review, open_rows)
                open_rows[row] = False
                t = review.table.pair_of(row)
                daughter = review.table.index(row)
                own += int(wrong_ones(review.pair(t), trues[t])[daughter])
                with suppress(DecisionError):  # at this step a mother may have three daughters; the third is refused
                    review.answer(answer_of(review.original(t), trues[t], daughter))
                wrong[t] = int(wrong_ones(review.pair(t), trues[t]).sum())
                told.append(float(sum(wrong)))
            head = [review.first_expected, float(known), float(own)]
    return np.array([*head, *told])


def answer_of(pair: PairPosterior, true: TrueMothers, daughter: int) -> Decision:
    """What somebody who knows says."""
    frame, label, mother = pair.daughter_frame, int(pair.daughters.label[daughter]), int(true.mother[daughter])
    if mother < 0:
        return Decision("no mother", frame, label)
    return Decision("mother", frame, label, int(pair.mothers.label[mother]))


def wrong_ones(pair: PairPosterior, true: TrueMothers) -> NDArray[np.bool_]:
    """(n,) daughters with a known truth that have another mother, or ⊥, than it."""
    mother = np.full(len(pair.daughters), -1)
    mother[pair.daughter[pair.selected]] = pair.mother[pair.selected]
    return np.asarray(true.known & (mother != true.mother))


def draw(hela: dict[str, Counts], simulated: dict[str, Counts]) -> None:
    """Accuracy over answers, for the real movie and for the simulated ones."""
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained", width_ratios=(1.25, 1))
    draw_curves(left, hela, "HeLa 02, every 10th frame")
    draw_curves(right, simulated, f"{COLONIES} crowded simulated colonies")
    left.legend(frameon=False, loc="lower right")
    figure.savefig(Path(__file__).with_name("review-accuracy.png"), dpi=130)


def draw_curves(ax: Axes, curves: dict[str, Counts], title: str) -> None:
    """One movie's three orders, and where half of the errors are gone."""
    words = {"gain": "the queue: what helps most", "entropy": "by entropy", "random": "at random"}
    n, wrong = curves["gain"][1], curves["gain"][HEAD]
    half, most = 1 - wrong / n / 2, len(curves["gain"]) - HEAD - 1
    for name in ORDERS:
        right = 1 - curves[name][HEAD:] / n
        ax.plot(right, color=COLOURS[name], linestyle=STYLES[name], linewidth=2, label=words[name])
        reached = halving(curves[name][HEAD:])
        if reached is not None:
            ax.plot(reached, half, "o", color=COLOURS[name], markersize=6)
    ax.axhline(half, color=GREY, linewidth=0.8)
    ax.text(most, half, "half of the errors are gone ", ha="right", va="bottom", color=GREY, fontsize=9)
    ax.set(xlim=(0, most), xlabel="daughters reviewed, truth answering", ylabel="daughters decided right")
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_title(title, loc="left", fontweight="bold")


if __name__ == "__main__":
    main()
