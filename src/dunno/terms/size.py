"""Size: a cell keeps its size, and a mother's is shared by its daughters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dunno.terms import Prior, Sisters, Words, parameter
from dunno.terms._feature import LEAST_SPREAD, Feature, log_area
from dunno.types import Floats
from dunno.types.stretch import Stretch


@dataclass(frozen=True)
class Size(Feature):
    r"""The logarithm of a cell's area (its volume in 3D); of a division, that of the daughters' sum counts against the mother.

    $$\log\frac{a_j + a_k}{a_i} \sim t_4(μ_2, s_2), \qquad \log\frac{a_j}{a_k} \sim t_4(0, s_δ)$$

    is a density of both log areas (the change of variables has the determinant 1).
    """

    name: ClassVar[str] = "size"
    rank: ClassVar[int] = 2
    beside_size: ClassVar[bool] = False

    growth: float = parameter(
        "per step",
        (-5.0, 5.0),
        Prior(0, 0.02, "links"),
        link="none",
        words=Words("growth", "% in size per step", "growth"),
    )
    divided_spread: float = parameter("at a division", (LEAST_SPREAD, 10.0), Prior(0.15, 20, "divisions"))

    def values(self, stretch: Stretch) -> Floats:
        """(N,) log area."""
        return log_area(stretch)

    def at_division(self, stretch: Stretch, sisters: Sisters) -> tuple[Floats, Floats]:
        """(K,) the daughters' sum over the mother's area, and their ratio, as logarithms."""
        value = self.values(stretch)
        one, other = value[stretch.daughter[sisters.first]], value[stretch.daughter[sisters.second]]
        return np.logaddexp(one, other) - value[stretch.mother[sisters.first]], one - other
