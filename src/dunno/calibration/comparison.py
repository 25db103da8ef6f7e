r"""Skipped frames against all frames: what a movie says about its own tracking, without truth.

Track a movie frame by frame, and once more with every second frame left out. For a daughter j in frame t + 2 the direct posterior
$q_j(g)$ over the cells g of frame t stands beside the composed one

$$c_j(g) = \sum_m P(m | j)\, P(g | m), \qquad c_j(⊥) = P(⊥ | j) + \sum_m P(m | j)\, P(⊥ | m),$$

which has seen the frame between; where masks are missing, the edge across the frame between is added to $c_j(g)$. A model that
tells the truth has $E[c | q] = q$: whatever needs a truth can be computed with c as a soft truth. What both ways get wrong alike
cannot be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dunno.types import Bools, Floats, Ints
from dunno.types.sparse import SparseMatrix

LEAST = 1e-12
"""Probability of what was thought to be impossible."""

DOUBTS = (0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Bounds of the bins by how wrong links are promised to be."""

MOSTLY_LOST = 0.5
"""Daughters whose composed path ends in ⊥ with more than this are not judged: a mask may be missing between."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Who is whose mother in some transitions, by rows of one table of N cells.

    Attributes:
        mother: (E,) row of each edge's mother.
        daughter: (E,) row of its daughter.
        probability: (E,) that it is a link.
        none: (N,) probability of having no mother; NaN for rows that are no daughters.
        lag: (E,) single steps from mother to daughter; `None` where all are 1.
    """

    mother: Ints
    daughter: Ints
    probability: Floats
    none: Floats
    lag: Ints | None = None

    @property
    def n_rows(self) -> int:
        """N."""
        return len(self.none)

    @classmethod
    def joined(cls, parts: Sequence[Beliefs]) -> Beliefs:
        """Beliefs about different daughters, together."""
        none = parts[0].none.copy()
        for part in parts[1:]:
            known = ~np.isnan(part.none)
            none[known] = part.none[known]
        return cls(
            mother=np.concatenate([part.mother for part in parts]),
            daughter=np.concatenate([part.daughter for part in parts]),
            probability=np.concatenate([part.probability for part in parts]),
            none=none,
        )

    def matrix(self, lag: int = 1) -> SparseMatrix:
        """(N, N) row j holds the probabilities of j's mothers so many steps back."""
        own = slice(None) if self.lag is None else self.lag == lag
        return SparseMatrix.of(self.daughter[own], self.mother[own], self.probability[own], self.n_rows)


@dataclass(frozen=True, eq=False)
class Composed:
    """Who is whose grandmother, k steps back, by way of all frames between.

    Attributes:
        matrix: (N, N) c_j(g).
        none: (N,) c_j(⊥); NaN where a step of the way is not known.
    """

    matrix: SparseMatrix
    none: Floats


def compose(steps: Beliefs, k: int) -> Composed:
    """Go k single steps back, from every daughter whose way is known."""
    one = steps.matrix()
    far = {} if steps.lag is None else {g: steps.matrix(g) for g in range(2, int(steps.lag.max(initial=1)) + 1)}
    lost, known = np.nan_to_num(steps.none), (~np.isnan(steps.none)).astype(np.float64)
    past = {g: matrix.row_sums() for g, matrix in far.items()}
    ways, nones, way = [one], [lost + sum(past.values())], known
    for n in range(2, k + 1):
        none, matrix = lost + one.times(nones[-1]), one @ ways[-1]
        for (
            g,
            across,
        ) in far.items():  # one that ends here is reached, one that ends before goes on, one beyond is not seen
            none = none + (past[g] if g > n else 0.0 if g == n else across.times(nones[n - g - 1]))
            matrix = matrix if g > n else matrix + (across if g == n else across @ ways[n - g - 1])
        reached = one.row_sums()
        way = known * np.where(reached > LEAST, one.times(way) / np.maximum(reached, LEAST), known)
        ways, nones = [*ways, matrix], [*nones, none]
    return Composed(ways[-1], np.where(way > 1 - 1e-6, nones[-1], np.nan))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Direct and composed beliefs about the same daughters, option by option.

    Attributes:
        daughter: (K,) row of the daughter of each option.
        direct: (K,) q.
        composed: (K,) c.
        is_none: (K,) whether the option is ⊥.
        judged: (N,) which daughters take part.
        unreached: (N,) how much of c lies on cells that are no options of q.
    """

    daughter: Ints
    direct: Floats
    composed: Floats
    is_none: Bools
    judged: Bools
    unreached: Floats

    @classmethod
    def of(cls, direct: Beliefs, composed: Composed, most_lost: float = MOSTLY_LOST) -> Comparison:
        """Compare what is believed directly with what the frames between say, of daughters who are hardly lost on the way."""
        rows = np.flatnonzero(~np.isnan(direct.none))
        edge = composed.matrix[direct.daughter, direct.mother]
        option = np.concatenate([edge, np.nan_to_num(composed.none[rows])])
        daughter = np.concatenate([direct.daughter, rows])
        judged = np.zeros(direct.n_rows, np.bool_)
        judged[rows] = composed.none[rows] < most_lost  # NaN is not
        reached = np.bincount(daughter, option, minlength=direct.n_rows)
        return cls(
            daughter=daughter,
            direct=np.concatenate([direct.probability, direct.none[rows]]),
            composed=option,
            is_none=np.concatenate([np.zeros(len(edge), np.bool_), np.ones(len(rows), np.bool_)]),
            judged=judged,
            unreached=np.where(judged, np.clip(1 - reached, 0.0, 1.0), 0.0),
        )

    def __len__(self) -> int:
        return int(self.judged.sum())

    def among(self, rows: Bools) -> Comparison:
        """Some of the daughters only."""
        return replace(self, judged=self.judged & rows, unreached=np.where(rows, self.unreached, 0.0))

    def with_direct(self, beliefs: Beliefs) -> Comparison:
        """The same with other direct beliefs about the same options."""
        rows = self.daughter[self.is_none]
        return replace(self, direct=np.concatenate([beliefs.probability, beliefs.none[rows]]))

    def powered(self, exponent: float) -> Comparison:
        """The same with the direct beliefs of each daughter taken to a power and normalised."""
        logs = np.log(np.maximum(self.direct, np.finfo(np.float64).tiny))
        weight = np.where(self.direct > 0, np.exp(exponent * logs), 0.0)
        total = np.bincount(self.daughter, weight, minlength=len(self.judged))
        return replace(self, direct=weight / np.maximum(total, LEAST)[self.daughter])

    def loss(self, direct: Floats | None = None) -> float:
        """Σ −c log q over the judged daughters; what c gives to no option of q counts as impossible."""
        direct = self.direct if direct is None else direct
        weight = np.where(self.judged[self.daughter], self.composed, 0.0)
        missed = -np.log(LEAST) * self.unreached.sum()
        return float(missed - (weight * np.log(np.maximum(direct, LEAST))).sum())

    def links(self) -> Ints:
        """The likeliest option of every judged daughter, where it is a mother."""
        most = np.zeros(len(self.judged))
        np.maximum.at(most, self.daughter, self.direct)
        likeliest = np.flatnonzero(self.direct == most[self.daughter])
        best = np.full(len(self.judged), -1)
        best[self.daughter[likeliest]] = likeliest
        best = best[self.judged & (best >= 0)]
        return np.asarray(best[~self.is_none[best]])

    def errors(self) -> tuple[float, float, int]:
        """How many of the direct links are promised to be wrong, how many the frames between say, and of how many."""
        links = self.links()
        return float((1 - self.direct[links]).sum()), float((1 - self.composed[links]).sum()), len(links)

    def bins(self) -> tuple[tuple[float, float, int], ...]:
        """The links by how wrong they are promised to be: promised share, composed share and number of each bin."""
        links = self.links()
        promised, composed = 1 - self.direct[links], 1 - self.composed[links]
        owner = np.searchsorted(DOUBTS, promised, side="right")
        parts = [(promised[owner == k], composed[owner == k]) for k in range(len(DOUBTS) + 1)]
        return tuple((float(p.mean()), float(c.mean()), len(p)) for p, c in parts if len(p))
