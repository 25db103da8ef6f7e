"""Age: a cell that was born a few frames ago does not divide again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dunno.terms import Step, Surroundings, Term, parameter
from dunno.types import Floats
from dunno.types.stretch import Stretch

MEMORY = 8
"""How many frames back births are remembered."""

PRIOR_RECENT, PRIOR_WORTH = -4.0, 0.3
"""What is believed of the log odds of dividing again within the memory, and how widely: firmly, because where masks come and go
most divisions that are seen are false, and teach that cells divide again at once."""

RANGE = (-6.0, 1.0)
NEWTON = 4


@dataclass(frozen=True)
class Age(Term):
    """The log odds of dividing fall by so much if a cell was born at most eight frames before."""

    name: ClassVar[str] = "age"
    against_false_divisions: ClassVar[bool] = True

    again: float = parameter(
        "log odds", RANGE, f"{PRIOR_RECENT:g} ± {PRIOR_WORTH:g}", link="none", default=PRIOR_RECENT
    )

    @classmethod
    def start(cls, stretch: Stretch, cell_size: float, model: Surroundings) -> Age:
        """At the prior."""
        return cls()

    def log_ready(self, stretch: Stretch) -> Floats | None:
        """(N,) what is added to the log odds of each mother to divide."""
        return None if stretch.recent is None else np.asarray(self.again * stretch.recent)

    def updated(self, step: Step) -> Age:
        """A logistic regression of the expected divisions on recent births."""
        stretch, found = step.stretch, step.found
        if stretch.recent is None or "p_divide" in step.held:
            return self
        mothers = stretch.is_mother
        count, recent = step.weight[stretch.leads[mothers]], stretch.recent[mothers]
        divided, survived = count * found.divide[mothers], count * (1 - found.disappear[mothers])
        share = np.clip(stretch.by_mother(step.model.value("p_divide"))[mothers], 1e-9, 1 - 1e-9)
        offset, again = np.log(share) - np.log1p(-share), self.again
        for _ in range(NEWTON):
            p = 1 / (1 + np.exp(-(offset + again * recent)))
            gradient = float((recent * (divided - survived * p)).sum()) - (again - PRIOR_RECENT) / PRIOR_WORTH**2
            curvature = float((recent**2 * survived * p * (1 - p)).sum()) + 1 / PRIOR_WORTH**2
            again = float(np.clip(again + gradient / curvature, *RANGE))
        return replace(self, again=again)
