"""Marginals and samples: how long they take in units of one `solve`, and how far off they are.

    python -m benchmarks.marginals [--quick]

Times are CPU time, the best of several runs, and only their ratios mean anything.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import fastest
from benchmarks.frames import colony, scatter
from dunno.assignment import Problem, marginals, sample, solve

MOTIONS = (0.2, 0.5, 1.0)


def colonies(sizes: tuple[int, ...]) -> Iterator[tuple[int, float, Problem]]:
    """Square colonies of every size and motion."""
    for size in sizes:
        side = round(size**0.5)
        for motion in MOTIONS:
            yield size, motion, colony(side, side, motion, seed=1)


def time_marginals(sizes: tuple[int, ...], most_repeats: int = 20) -> None:
    """Print the table of times."""
    print("| frame | cells | motion | solve, ms | auto, ms | auto / solve | bp, ms | bp / solve |")
    print("|---|---|---|---|---|---|---|---|")
    scattered = [("scatter", size, motion, scatter(size, motion)) for size in sizes for motion in MOTIONS]
    for frame, size, motion, problem in [*(("colony", *row) for row in colonies(sizes)), *scattered]:
        repeats = min(most_repeats, 20 if size <= 1000 else 3)
        once = fastest(repeats, solve, problem)
        auto = fastest(repeats, marginals, problem)
        plain = fastest(repeats, marginals, problem, "bp")
        times = f"{once:.2f} | {auto:.1f} | {auto / once:.1f} | {plain:.1f} | {plain / once:.1f}"
        print(f"| {frame} | {size} | {motion} | {times} |")


def time_triples(sizes: tuple[int, ...]) -> None:
    """Print what costs on all possible divisions cost in time."""
    print("\n| cells | motion | auto, with triples / without | bp, with triples / without |")
    print("|---|---|---|---|")
    for size in sizes:
        side = round(size**0.5)
        for motion in MOTIONS:
            pair = [colony(side, side, motion, seed=1, triples=triples) for triples in (True, False)]
            auto, plain = ([fastest(5, marginals, problem, how) for problem in pair] for how in ("auto", "bp"))
            print(f"| {size} | {motion} | {auto[0] / auto[1]:.1f} | {plain[0] / plain[1]:.1f} |")


def compare_with_exact(strips: int, length: int = 14) -> None:
    """Print the table of errors on strips three cells wide."""
    print("\n| motion | divide | auto: mean / max error | bp: mean / max error | auto: mean error of events |")
    print("|---|---|---|---|---|")
    for motion in MOTIONS:
        for divide in (0.0, 3.0):
            auto, plain, events = [], [], []
            for seed in range(strips):
                problem = colony(3, length, motion, seed, divide)
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
    for size, motion, problem in colonies(sizes):
        seconds = 1e-3 * fastest(1, sample, problem, n, 0)
        samples = sample(problem, n, seed=0, report=True)
        worth = samples.effective_size / n
        print(f"| {size} | {motion} | {n / seconds:.0f} | {1000 * worth:.0f} | {worth * n / seconds:.0f} |")


def compare_with_samples(size: int, n: int) -> None:
    """Print how far `auto` is from what samples say where no exact sum fits; samples have noise of their own."""
    print("\n| frame | motion | auto: mean / max difference | noise: mean | appearing: auto / samples |")
    print("|---|---|---|---|---|")
    side = round(size**0.5)
    for motion in MOTIONS:
        for frame, problem in (("colony", colony(side, side, motion, seed=1)), ("scatter", scatter(size, motion))):
            found = marginals(problem)
            samples = sample(problem, n, seed=0, report=True)
            share = np.bincount(samples.edge[samples.edge >= 0], minlength=len(problem.cost)) / n
            uncertain = (share > 0.02) & (share < 0.98)
            noise = np.sqrt(share * (1 - share) / samples.effective_size)[uncertain].mean()
            difference = spread([np.abs(found.edge - share)[uncertain]])
            appear = f"{found.appear.sum():.2f} / {(samples.edge < 0).sum() / n:.2f}"
            print(f"| {frame} | {motion} | {difference} | {noise:.4f} | {appear} |", flush=True)


def main() -> None:
    """Print the tables."""
    if "--quick" in sys.argv:
        time_marginals((25, 100), most_repeats=1)
        time_triples((25,))
        compare_with_exact(strips=1, length=5)
        time_samples((100,), n=200)
        compare_with_samples(100, n=200)
    else:
        time_marginals((100, 1000, 10000))
        time_triples((100, 1000))
        compare_with_exact(strips=5)
        time_samples((100, 1000), n=1000)
        compare_with_samples(1000, n=3000)


if __name__ == "__main__":
    main()
