"""Do the 95 % intervals of a self-calibration hold the truth? Colonies drawn from the model itself, fitted without it.

python benchmarks/coverage.py [SEEDS]
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.draws import draw_transition
from dunno.models import Fit, Model, find_fit
from dunno.terms.border import Border
from dunno.terms.division import Division
from dunno.terms.motion import Motion
from dunno.terms.turnover import Turnover
from dunno.types.field import Field
from dunno.types.stretch import Stretch

FIELD = Field((0.0, 0.0), (400.0, 400.0))
TRUE = Model(
    (
        Motion(motion_scale=16.0, tail=4.0),
        Division(division_scale=100.0, p_divide=0.06),
        Turnover(p_lost=0.02, appear_density=1.0 / FIELD.size),
        Border(entering=1.0, leaving=1.0),
    ),
    FIELD,
)
TRANSITIONS, MOTHERS, GATE, CELL_SIZE = 40, 100, 120.0, 20.0


def fitted(seed: int) -> Fit:
    """The fit of a movie that was drawn from the model."""
    rng = np.random.default_rng(seed)
    drawn = [draw_transition(TRUE, MOTHERS, GATE, rng, 2 * t) for t in range(TRANSITIONS)]
    return find_fit(Stretch.of(drawn), FIELD, CELL_SIZE)


def covered(seed: int) -> dict[str, bool]:
    """Whether each parameter's interval holds its true value."""
    fit = fitted(seed)
    held = {name: low <= TRUE.parameters[name].value <= high for name, (low, high) in fit.intervals().items()}
    return held | {"trusted": not fit.problems}


def main() -> None:
    """Print the share of seeds in which each interval holds the truth."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    found = [covered(seed) for seed in range(seeds)]
    print(f"{seeds} colonies of {TRANSITIONS} frame pairs with {MOTHERS} mothers each")
    for name in found[0]:
        print(f"{name:16} {np.mean([each[name] for each in found]):.2f}")


if __name__ == "__main__":
    main()
