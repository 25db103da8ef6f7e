r"""How much surer a model is than it should be, by skipping frames.

Two numbers are fitted with the composed beliefs as a soft truth: a tempering τ ≤ 1 of the whole assignment problem, so that links,
events and samples stay of one piece, and a rate ε of what the model does not know,

$$P' = (1 - ε)\, P_τ + ε\, \frac{P_τ^{0.15}}{\sum P_τ^{0.15}},$$

over each daughter's options. Priors hold both near "no change" where there is little to look at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dunno.assignment.distributions import normalise
from dunno.calibration.comparison import LEAST, Comparison
from dunno.types import Block, Floats, Ints

FLATNESS = 0.15
LOWEST = -60.0
"""Logarithms of probabilities are not taken to be lower than this, so that ε reaches every possible option."""

PRIOR_TEMPERING = 0.3
PRIOR_UNKNOWN, PRIOR_UNKNOWN_WIDTH = 0.0015, 1.5
"""Of ln τ around 0, and of ln ε around its logarithm."""

TEMPERINGS = (0.4, 1.0)
UNKNOWNS = np.exp(np.linspace(np.log(1e-5), np.log(0.05), 35))
NEGLIGIBLE = 1e-9
"""Options to which the frames between give less than this do not matter."""

GRID = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)


@dataclass(frozen=True)
class Softening:
    """A tempering of the problem, and the rate of what the model does not know.

    Attributes:
        tempering: τ.
        unknown: ε.
    """

    tempering: float = 1.0
    unknown: float = 0.0

    @property
    def changes_nothing(self) -> bool:
        """Whether probabilities stay as they are."""
        return self.tempering == 1.0 and self.unknown == 0.0


def flattened(probability: Floats, owner: Ints, n: int) -> Floats:
    """(K,) P^0.15, normalised over the options of each of n owners; exact zeros stay zero."""
    possible = probability > 0
    logs = np.log(np.where(possible, probability, 1.0))
    weight = np.where(possible, np.exp(FLATNESS * np.maximum(logs, LOWEST)), 0.0)
    total = np.bincount(owner, weight, minlength=n)
    return np.asarray(weight / np.where(total > 0, total, 1.0)[owner])


def mixed(probability: Floats, owner: Ints, n: int, unknown: float) -> Floats:
    """(K,) the probabilities of each owner's options with a share ε spread over them."""
    return (1 - unknown) * probability + unknown * flattened(probability, owner, n)


def with_unknown(block: Block, unknown: float) -> Block:
    """A block's probabilities with a share ε spread over each daughter's options; links stay."""
    near, far = block.gap == 0, block.gap > 0
    n, edges, daughter = len(block.cells), int(near.sum()), block.daughter[near]
    owner = np.concatenate([daughter, np.arange(n)])
    options = np.exp(np.concatenate([block.log_probability[near], block.log_no_mother]))
    with np.errstate(divide="ignore"):
        logs = np.log(mixed(options, owner, n, unknown))
    spread = normalise(logs[:edges], logs[edges:], daughter)
    total = np.log(
        np.maximum(np.bincount(owner, options, minlength=n), 1.0)
    )  # more than 1 where a mask holds two cells
    log_probability = block.log_probability.copy()
    log_probability[near] = np.minimum(spread.log_probability + total[daughter], 0.0)
    with np.errstate(invalid="ignore"):  # of edges across gaps, the share of having no mother here stays
        more = (spread.log_no_mother - block.log_no_mother)[block.daughter[far]]
    log_probability[far] += np.nan_to_num(more, nan=0.0, posinf=0.0, neginf=0.0)
    return replace(
        block,
        log_probability=log_probability,
        log_no_mother=spread.log_no_mother,
        entropy=np.where(np.isnan(block.entropy), np.nan, spread.entropy),
    )


def fit_softening(
    comparison: Comparison, tempered: Callable[[float], Comparison] | None = None, believed: float = 1.0
) -> Softening:
    """The softening of least loss, priors included.

    Args:
        comparison: At τ = 1.
        tempered: The same comparison with the direct beliefs of a tempered problem; `None` to temper beliefs as they stand.
        believed: The τ that is believed before looking.
    """
    if len(comparison) == 0:
        return Softening()
    found = _descend({}, lambda tempering: _best_unknown(comparison.powered(tempering)), 0, believed)
    if tempered is not None:
        found = _descend(
            {},
            lambda tempering: _best_unknown(comparison if tempering == 1.0 else tempered(tempering)),
            _lowest(found, believed),
            believed,
        )
    places = sorted(found)
    grid = np.log([GRID[k] for k in places])
    tempering = _vertex(grid, np.array([_with_prior(found, k, believed) for k in places]))
    unknown = float(np.exp(np.interp(-tempering, -grid, np.log([found[k][0] for k in places]))))
    return Softening(float(np.exp(tempering)), unknown)


Found = dict[int, tuple[float, float]]
"""By place in the grid of temperings, the best ε and its loss."""


def _descend(found: Found, look: Callable[[float], tuple[float, float]], start: int, believed: float) -> Found:
    """Look at a place of the grid and its neighbours, and on downhill until the lowest lies between two others."""
    best = start
    while True:
        for k in range(max(best - 1, 0), min(best + 2, len(GRID))):
            if k not in found:
                found[k] = look(GRID[k])
        if _lowest(found, believed) == best:
            return found
        best = _lowest(found, believed)


def _lowest(found: Found, believed: float) -> int:
    return min(found, key=lambda k: _with_prior(found, k, believed))


def _with_prior(found: Found, k: int, believed: float) -> float:
    return found[k][1] + 0.5 * float(np.log(GRID[k] / believed) / PRIOR_TEMPERING) ** 2


def _best_unknown(comparison: Comparison) -> tuple[float, float]:
    """The ε of least loss, and the loss."""
    used = comparison.judged[comparison.daughter] & (comparison.composed > NEGLIGIBLE)
    weight, direct = comparison.composed[used], comparison.direct[used]
    flat = flattened(comparison.direct, comparison.daughter, len(comparison.judged))[used]
    missed = comparison.loss(np.ones_like(comparison.direct))  # what no ε can reach

    def loss(unknown: float) -> float:
        prior = 0.5 * (np.log(unknown / PRIOR_UNKNOWN) / PRIOR_UNKNOWN_WIDTH) ** 2
        mixture = np.maximum((1 - unknown) * direct + unknown * flat, LEAST)
        return float(prior - (weight * np.log(mixture)).sum())

    def rises(unknown: float) -> bool:
        prior = np.log(unknown / PRIOR_UNKNOWN) / PRIOR_UNKNOWN_WIDTH**2
        mixture = np.maximum((1 - unknown) * direct + unknown * flat, LEAST)
        return bool(prior > unknown * (weight * (flat - direct) / mixture).sum())

    low, high = 0, len(UNKNOWNS) - 1
    while high - low > 1:  # the loss has one minimum
        middle = (low + high) // 2
        low, high = (low, middle) if rises(float(UNKNOWNS[middle])) else (middle, high)
    least, best = min((loss(float(UNKNOWNS[k])), k) for k in (low, high))
    return float(UNKNOWNS[best]), least + missed


def _vertex(place: Floats, loss: Floats) -> float:
    """Where the parabola through the least of some losses and its neighbours has its vertex; at an end, the end."""
    best = int(np.argmin(loss))
    if best in (0, len(loss) - 1):
        return float(place[best])
    x, y = place[best - 1 : best + 2], loss[best - 1 : best + 2]
    second, first, _ = np.polyfit(x, y, 2)
    return float(np.clip(-first / (2 * second), x.min(), x.max())) if second > 0 else float(place[best])
