r"""Skipped frames against all frames: what a movie says about its own tracking, without truth.

Track a movie frame by frame, and once more with every second frame left out. For a daughter j in frame t + 2 the direct posterior
$q_j(g)$ over the cells g of frame t stands beside the composed one

$$c_j(g) = \sum_m P(m | j)\, P(g | m), \qquad c_j(⊥) = P(⊥ | j) + \sum_m P(m | j)\, P(⊥ | m),$$

which has seen the frame between; where masks are missing, the edge across the frame between is added to $c_j(g)$. A model that
tells the truth has $E[c | q] = q$: whatever needs a truth can be computed with c as a soft truth. What both ways get wrong alike
cannot be seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from dunno.types import Bools, Floats, Ints
from dunno.types.sparse import SparseMatrix

LEAST_BELIEF = 1e-12  # probability; exact: keeps a logarithm finite
"""Probability of what was thought to be impossible."""

EQUAL = 1e-9  # share; exact: beyond the noise of sums of doubles
"""Share by which an option must be likelier than another, or they are equally likely."""

DOUBTS = (0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5)  # probability; display
"""Bounds of the bins by how wrong links are promised to be."""

MOSTLY_LOST = 0.5  # probability; judged: more likely than not
"""Daughters whose composed path ends in ⊥ with more than this are not judged: a mask may be missing between."""


class MotherBeliefs(NamedTuple):
    """Who is whose mother in some transitions, by rows of one table of N cells.

    (E,) the rows of each edge's mother and daughter and the probability that it is a link; (N,) that of having no mother, NaN for
    rows that are no daughters; (E,) how many single steps an edge takes, or all of them.
    """

    mother: Ints
    daughter: Ints
    probability: Floats
    none: Floats
    lag: Ints | int = 1

    def matrix(self, lag: int = 1) -> SparseMatrix:
        """(N, N) row j holds the probabilities of j's mothers so many steps back."""
        own = np.broadcast_to(self.lag, self.mother.shape) == lag
        return SparseMatrix.of(self.daughter[own], self.mother[own], self.probability[own], len(self.none))


class Composed(NamedTuple):
    """Who is whose mother k steps back: (N, N) c_j(g), and (N,) c_j(⊥), NaN where a step of the way is not known."""

    matrix: SparseMatrix
    none: Floats


def compose(steps: MotherBeliefs, k: int) -> Composed:
    """Go k single steps back, from every daughter whose way is known.

    An edge across a gap is reached if it ends here, goes on if it ends before, and is not seen if it ends beyond.
    """
    one, lost = steps.matrix(), np.nan_to_num(steps.none)
    far = {g: steps.matrix(g) for g in range(2, int(np.max(steps.lag, initial=1)) + 1)}
    past = {g: matrix.row_sums() for g, matrix in far.items()}
    way = known = (~np.isnan(steps.none)).astype(np.float64)
    ways, nones, reached = [one], [lost + sum(past.values())], one.row_sums()
    for n in range(2, k + 1):
        none, matrix = lost + one.times(nones[-1]), one @ ways[-1]
        for g, across in far.items():
            none = none + (past[g] if g > n else 0.0 if g == n else across.times(nones[n - g - 1]))
            matrix = matrix if g > n else matrix + (across if g == n else across @ ways[n - g - 1])
        way = known * np.where(reached > LEAST_BELIEF, one.times(way) / np.maximum(reached, LEAST_BELIEF), known)
        ways, nones = [*ways, matrix], [*nones, none]
    return Composed(ways[-1], np.where(way > 1 - 1e-6, nones[-1], np.nan))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Direct and composed beliefs about the same daughters, option by option."""

    daughter: Ints  # (K,) row of the daughter of each option
    direct: Floats  # (K,) q
    composed: Floats  # (K,) c
    is_none: Bools  # (K,) whether the option is ⊥
    judged: Bools  # (N,) which daughters take part
    unreached: Floats  # (N,) how much of c lies on cells that are no options of q

    @classmethod
    def of(cls, direct: MotherBeliefs, composed: Composed, most_lost: float = MOSTLY_LOST) -> Comparison:
        """Compare what is believed directly with what the frames between say, of daughters that are hardly lost on the way."""
        rows = np.flatnonzero(~np.isnan(direct.none))
        edge = composed.matrix[direct.daughter, direct.mother]
        daughter, option = np.append(direct.daughter, rows), np.append(edge, np.nan_to_num(composed.none[rows]))
        judged = ~np.isnan(direct.none) & (composed.none < most_lost)  # NaN is not
        missing = np.clip(1 - np.bincount(daughter, option, minlength=len(judged)), 0.0, 1.0)
        belief, is_none = np.append(direct.probability, direct.none[rows]), np.arange(len(option)) >= len(edge)
        return cls(daughter, belief, option, is_none, judged, np.where(judged, missing, 0.0))

    def __len__(self) -> int:
        return int(self.judged.sum())

    def among(self, rows: Bools) -> Self:
        """Some of the daughters only."""
        return replace(self, judged=self.judged & rows, unreached=np.where(rows, self.unreached, 0.0))

    def with_direct(self, beliefs: MotherBeliefs) -> Self:
        """The same with other direct beliefs about the same options."""
        return replace(self, direct=np.append(beliefs.probability, beliefs.none[self.daughter[self.is_none]]))

    def powered(self, exponent: float) -> Self:
        """The same with the direct beliefs of each daughter taken to a power and normalised."""
        logs = np.log(np.maximum(self.direct, np.finfo(np.float64).tiny))
        weight = np.where(self.direct > 0, np.exp(exponent * logs), 0.0)
        total = np.bincount(self.daughter, weight, minlength=len(self.judged))
        return replace(self, direct=weight / np.maximum(total, LEAST_BELIEF)[self.daughter])

    @property
    def missed(self) -> float:
        """What c gives to no option of q counts as impossible: that part of the loss."""
        return float(-np.log(LEAST_BELIEF) * self.unreached.sum())

    def loss(self) -> float:
        """Σ −c log q over the judged daughters."""
        weight = np.where(self.judged[self.daughter], self.composed, 0.0)
        return float(self.missed - (weight * np.log(np.maximum(self.direct, LEAST_BELIEF))).sum())

    def likeliest(self) -> Ints:
        """(n,) the likeliest option of every judged daughter; of equal ones, that which is composed most."""
        most = np.zeros(len(self.judged))
        np.maximum.at(most, self.daughter, self.direct)
        equal = np.flatnonzero(self.direct >= (1 - EQUAL) * most[self.daughter])
        equal = equal[np.argsort(self.composed[equal], kind="stable")]
        best = np.full(len(self.judged), -1)
        best[self.daughter[equal]] = equal
        return best[self.judged & (best >= 0)]

    def links(self) -> Ints:
        """The likeliest option of every judged daughter, where it is a mother."""
        best = self.likeliest()
        return np.asarray(best[~self.is_none[best]])

    def errors(self, options: Ints) -> tuple[float, float, int]:
        """How many of some options are promised to be wrong, how many the frames between say, and of how many."""
        return float((1 - self.direct[options]).sum()), float((1 - self.composed[options]).sum()), len(options)

    def bins(self, options: Ints) -> tuple[tuple[float, float, int], ...]:
        """Some options by how wrong they are promised to be: promised share, composed share and number of each bin."""
        promised, composed = 1 - self.direct[options], 1 - self.composed[options]
        owner = np.searchsorted(DOUBTS, promised, side="right")
        parts = [(promised[owner == k], composed[owner == k]) for k in range(len(DOUBTS) + 1)]
        return tuple((float(p.mean()), float(c.mean()), len(p)) for p, c in parts if len(p))
