"""How far self-calibration holds where cells push each other apart: simulated colonies of growing motion.

python benchmarks/crowding.py
"""

from __future__ import annotations

from dunno import Tracker, evaluation
from dunno.simulate import colony


def main() -> None:
    """Print calibration error, its floor, and wrong links beside those expected."""
    print("| step / spacing | seed | ECE (floor) | wrong links | expected |")
    print("|---|---|---|---|---|")
    for motion in (0.15, 0.2, 0.25, 0.3):
        for seed in range(3):
            simulated = colony(motion=motion, seed=seed)
            tracking = Tracker().track(simulated.movie)
            found = evaluation.score(tracking, simulated.truth)
            wrong = (1 - found.accuracy) * found.n_links
            error = f"{found.ece:.3f} ({found.ece_floor:.3f})"
            print(f"| {motion} | {seed} | {error} | {wrong:.0f} | {tracking.expected_wrong_links():.0f} |")


if __name__ == "__main__":
    main()
