"""Score: any cost as evidence, by how often links and other edges have such a cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dunno.terms._ratio import Ratio
from dunno.types import Floats
from dunno.types.stretch import Stretch


@dataclass(frozen=True)
class Score(Ratio):
    """What a named cost says (`--cost overlap --evidence places`)."""

    name: ClassVar[str] = "score"

    @classmethod
    def costs(cls, stretch: Stretch) -> Floats:
        """(E,) the cost of each edge; NaN where there is none."""
        return np.full(len(stretch.mother), np.nan) if stretch.score is None else stretch.score

    @classmethod
    def can_see(cls, stretch: Stretch) -> bool:
        """Whether there is a cost."""
        return stretch.score is not None
