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
from dunno.calibration.comparison import LEAST_BELIEF, Comparison
from dunno.types import Block, Floats, Ints
from dunno.types.records import Positive, Share

FLATNESS = 0.15  # exponent; benchmarks.skipping; of the distribution that stands for what the model does not know
LOWEST_LOG = -60.0  # nats; judged
"""Logarithms of probabilities are not taken to be lower than this, so that ε reaches every possible option."""

PRIOR_TEMPERING = 0.3  # ln τ; benchmarks.skipping; width of the prior around 0
PRIOR_UNKNOWN, PRIOR_UNKNOWN_WIDTH = 0.0015, 1.5  # probability, ln ε; benchmarks.skipping
"""Of ln τ around 0, and of ln ε around its logarithm."""

UNKNOWNS: list[float] = np.exp(
    np.linspace(np.log(1e-5), np.log(0.05), 35)
).tolist()  # probability; judged; where ε is looked for
NEGLIGIBLE_SOFTENED = 1e-9  # probability; judged
"""Options to which the frames between give less than this do not matter."""

EXPONENTS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)  # τ; judged; where the search of τ begins


@dataclass(frozen=True)
class Softening:
    """A tempering τ of the problem, and the rate ε of what the model does not know."""

    tempering: Positive = 1.0
    unknown: Share = 0.0


def flattened(probability: Floats, owner: Ints, n: int) -> Floats:
    """(K,) P^0.15, normalised over the options of each of n owners; exact zeros stay zero."""
    possible = probability > 0
    logs = np.log(np.where(possible, probability, 1.0))
    weight = np.where(possible, np.exp(FLATNESS * np.maximum(logs, LOWEST_LOG)), 0.0)
    total = np.bincount(owner, weight, minlength=n)
    return np.asarray(weight / np.where(total > 0, total, 1.0)[owner])


def mixed(probability: Floats, owner: Ints, n: int, unknown: float) -> Floats:
    """(K,) the probabilities of each owner's options with a share ε spread over them."""
    return (1 - unknown) * probability + unknown * flattened(probability, owner, n)


def with_share(comparison: Comparison, unknown: float) -> Comparison:
    """A comparison with a share ε of the direct beliefs spread over each daughter's options."""
    return replace(comparison, direct=mixed(comparison.direct, comparison.daughter, len(comparison.judged), unknown))


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
    """The softening of least loss, priors included; `believed` is the τ that is believed before looking.

    Beliefs are tempered as they stand; with `tempered`, what gives the comparison for a tempered problem, only to find a start.
    """
    if len(comparison) == 0:
        return Softening()
    tried, lowest = _descent(comparison.powered, 0, believed)
    if tempered is not None:
        tried, _ = _descent(lambda tau: comparison if tau == 1.0 else tempered(tau), lowest, believed)
    places = sorted(tried)
    grid = np.log([EXPONENTS[k] for k in places])
    tempering = _vertex(grid, np.array([tried[k][0] for k in places]))
    unknown = float(np.exp(np.interp(-tempering, -grid, np.log([tried[k][1] for k in places]))))
    return Softening(float(np.exp(tempering)), unknown)


def _descent(
    tempered: Callable[[float], Comparison], start: int, believed: float
) -> tuple[dict[int, tuple[float, float]], int]:
    """By place of the grid, the loss with its prior and the best ε, downhill from a start until the lowest lies between two."""
    tried: dict[int, tuple[float, float]] = {}
    best = start
    while True:
        for k in range(max(best - 1, 0), min(best + 2, len(EXPONENTS))):
            if k not in tried:
                unknown, loss = _best_unknown(tempered(EXPONENTS[k]))
                tried[k] = loss + 0.5 * float(np.log(EXPONENTS[k] / believed) / PRIOR_TEMPERING) ** 2, unknown
        lowest = min(tried, key=lambda k: tried[k][0])
        if lowest == best:
            return tried, best
        best = lowest


def _best_unknown(comparison: Comparison) -> tuple[float, float]:
    """The ε of least loss, and the loss."""
    used = comparison.judged[comparison.daughter] & (comparison.composed > NEGLIGIBLE_SOFTENED)
    weight, direct = comparison.composed[used], comparison.direct[used]
    flat = flattened(comparison.direct, comparison.daughter, len(comparison.judged))[used]

    def mixture(unknown: float) -> Floats:
        return np.maximum((1 - unknown) * direct + unknown * flat, LEAST_BELIEF)

    def loss(unknown: float) -> float:
        prior = 0.5 * (np.log(unknown / PRIOR_UNKNOWN) / PRIOR_UNKNOWN_WIDTH) ** 2
        return float(prior - (weight * np.log(mixture(unknown))).sum())

    def rises(unknown: float) -> bool:
        prior = np.log(unknown / PRIOR_UNKNOWN) / PRIOR_UNKNOWN_WIDTH**2
        return bool(prior > unknown * (weight * (flat - direct) / mixture(unknown)).sum())

    low, high = 0, len(UNKNOWNS) - 1
    while high - low > 1:  # the loss has one minimum
        middle = (low + high) // 2
        low, high = (low, middle) if rises(UNKNOWNS[middle]) else (middle, high)
    least, best = min((loss(unknown), unknown) for unknown in (UNKNOWNS[low], UNKNOWNS[high]))
    return best, least + comparison.missed


def _vertex(place: Floats, loss: Floats) -> float:
    """Where the parabola through the least of some losses and its neighbours has its vertex; at an end, the end."""
    best = int(np.argmin(loss))
    if best in (0, len(loss) - 1):
        return float(place[best])
    x, y = place[best - 1 : best + 2], loss[best - 1 : best + 2]
    second, first, _ = np.polyfit(x, y, 2)
    return float(np.clip(-first / (2 * second), x.min(), x.max())) if second > 0 else float(place[best])
