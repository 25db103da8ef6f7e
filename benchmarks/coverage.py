"""Do the 95 % intervals of a self-calibration hold the truth? Colonies drawn from the model itself, fitted without it.

python benchmarks/coverage.py [SEEDS]
"""

from __future__ import annotations

import sys

import numpy as np

from dunno.calibration import fit_motion
from dunno.calibration.intervals import PARAMETERS
from dunno.calibration.motion_model import Field, MotionModel

FIELD = Field((0.0, 0.0), (400.0, 400.0))
TRUE = MotionModel(
    n_dimensions=2,
    motion_scale=16.0,
    tail=4.0,
    division_scale=100.0,
    p_lost=0.02,
    p_divide=0.06,
    appear_density=1.0 / FIELD.size,
    entering=1.0,
    leaving=1.0,
    field=FIELD,
)
PAIRS, MOTHERS, GATE, CELL_SIZE = 40, 100, 120.0, 20.0


def covered(seed: int) -> dict[str, bool]:
    """Whether each parameter's interval holds its true value."""
    rng = np.random.default_rng(seed)
    pairs = [TRUE.simulate(MOTHERS, GATE, rng, frame) for frame in range(PAIRS)]
    fitted = fit_motion(pairs, FIELD, CELL_SIZE)
    return {
        name: fitted.intervals[name][0] <= getattr(TRUE, name) <= fitted.intervals[name][1] for name in PARAMETERS
    } | {"trusted": fitted.trusted}


def main() -> None:
    """Print the share of seeds in which each interval holds the truth."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    found = [covered(seed) for seed in range(seeds)]
    print(f"{seeds} colonies of {PAIRS} frame pairs with {MOTHERS} mothers each")
    for name in found[0]:
        print(f"{name:16} {np.mean([each[name] for each in found]):.2f}")


if __name__ == "__main__":
    main()
