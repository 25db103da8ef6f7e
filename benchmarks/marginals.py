"""Marginals and samples: how long they take in units of one `solve`, and how far off they are.

    python benchmarks/marginals.py [--quick]

Cells lie one spacing apart and move by `motion` spacings; each daughter has her 12 nearest mothers as
candidates, at cost distance² / (2 motion²); appearing and disappearing cost 7. Times are CPU time, the best
of several runs, and only their ratios mean anything.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from dunno.assignment import Problem, marginals, sample, solve

MOTIONS = (0.2, 0.5, 1.0)


def colony(rows: int, columns: int, motion: float, seed: int, divide: float = 0.0) -> Problem:
    """A jittered grid of cells that move, divide, appear and disappear."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(rows), np.arange(columns)), axis=-1).reshape(-1, 2)
    before = grid + rng.uniform(size=grid.shape)
    after = np.repeat(before, rng.choice([0, 1, 2], size=len(before), p=[0.05, 0.85, 0.1]), axis=0)
    after = after + motion * rng.normal(size=after.shape)
    after = np.concatenate([after, rng.uniform(size=(len(before) // 20, 2)) * [rows, columns]])
    distance, mother = cKDTree(before).query(after, k=12)
    daughter = np.repeat(np.arange(len(after)), 12)
    cost = distance.ravel() ** 2 / (2 * motion**2)
    return Problem(mother.ravel(), daughter, cost, len(before), len(after), 7.0, 7.0, divide)


def best_time(call: Callable[[], object], repeats: int) -> float:
    """The shortest CPU time of several calls, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return min(times)


def time_marginals(sizes: tuple[int, ...]) -> None:
    """Print the table of times."""
    print("| cells | motion | solve, ms | auto, ms | auto / solve | bp, ms | bp / solve |")
    print("|---|---|---|---|---|---|---|")
    for size in sizes:
        side = round(size**0.5)
        for motion in MOTIONS:
            problem = colony(side, side, motion, seed=1)
            repeats = 20 if size <= 1000 else 3
            once = best_time(lambda p=problem: solve(p), repeats)
            auto = best_time(lambda p=problem: marginals(p), repeats)
            plain = best_time(lambda p=problem: marginals(p, "bp"), repeats)
            print(
                f"| {size} | {motion} | {1e3 * once:.2f} | {1e3 * auto:.1f} | {auto / once:.1f} "
                f"| {1e3 * plain:.1f} | {plain / once:.1f} |"
            )


def compare_with_exact(strips: int) -> None:
    """Print the table of errors on strips three cells wide."""
    print("\n| motion | divide | auto: mean / max error | bp: mean / max error | auto: mean error of events |")
    print("|---|---|---|---|---|")
    for motion in MOTIONS:
        for divide in (0.0, 3.0):
            auto, plain, events = [], [], []
            for seed in range(strips):
                problem = colony(3, 14, motion, seed, divide)
                exact, found, rough = (marginals(problem, m) for m in ("exact", "auto", "bp"))
                uncertain = (exact.edge > 0.02) & (exact.edge < 0.98)
                auto.append(np.abs(found.edge - exact.edge)[uncertain])
                plain.append(np.abs(rough.edge - exact.edge)[uncertain])
                for name in ("appear", "disappear", "divide"):
                    events.append(np.abs(getattr(found, name) - getattr(exact, name)))
            event = np.concatenate(events).mean()
            print(f"| {motion} | {divide:g} | {spread(auto)} | {spread(plain)} | {event:.4f} |")


def spread(errors: list[NDArray[np.float64]]) -> str:
    """Mean and largest error."""
    every = np.concatenate(errors)
    return f"{every.mean():.4f} / {every.max():.3f}"


def time_samples(sizes: tuple[int, ...], n: int) -> None:
    """Print the table of samples and of what they are worth."""
    print("\n| cells | motion | samples / s | effective size of 1000 | effective samples / s |")
    print("|---|---|---|---|---|")
    for size in sizes:
        side = round(size**0.5)
        for motion in MOTIONS:
            problem = colony(side, side, motion, seed=1)
            seconds = best_time(lambda p=problem: sample(p, n, seed=0), 1)
            samples = sample(problem, n, seed=0, report=True)
            worth = samples.effective_size / n
            print(f"| {size} | {motion} | {n / seconds:.0f} | {1000 * worth:.0f} | {worth * n / seconds:.0f} |")


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    time_marginals((100, 1000) if quick else (100, 1000, 10000))
    compare_with_exact(strips=1 if quick else 5)
    time_samples((100, 1000), n=200 if quick else 1000)
