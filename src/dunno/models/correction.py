"""By how much rough marginals are off: found once, and taken as the same while a model changes little."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dunno.assignment import Marginals

COLUMNS = ("edge", "edge_dividing", "appear", "disappear", "divide")


@dataclass(frozen=True, eq=False)
class Correction:
    """The difference between rough marginals and better ones of the same problem.

    Rounds with rough marginals end where those make the evidence highest. With the difference added they end, to first order,
    where the better ones do.

    Attributes:
        rough: The rough ones.
        better: The better ones.
    """

    rough: Marginals
    better: Marginals

    def of(self, found: Marginals) -> Marginals:
        """Rough marginals of a problem with the same edges, corrected."""
        names = COLUMNS if found.triple is None else (*COLUMNS, "triple")
        probabilities = {name: np.clip(getattr(found, name) + self._difference(name), 0.0, 1.0) for name in names}
        return replace(found, **probabilities, log_evidence=found.log_evidence + self._difference("log_evidence"))

    def _difference(self, name: str) -> Any:
        return getattr(self.better, name) - getattr(self.rough, name)
