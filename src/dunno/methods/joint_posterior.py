"""JP: the posterior over assignments itself."""

from dataclasses import dataclass

import numpy as np

from dunno.assignment import decide
from dunno.methods import Method, ScoredPair, links, posterior
from dunno.types import Block


@dataclass(frozen=True)
class JointPosterior(Method):
    r"""Marginals of the posterior over all assignments; the links are the most likely decisions.

    $$P_{ij} = \sum_{A \ni (i,j)} P(A), \qquad P(A) \propto \exp(-cost(A)) \qquad\text{(Eq. 6–8 of the paper)}$$

    Unlike the paper's estimates of it, this is the posterior itself: daughters compete for mothers, and every
    probability (edge, ⊥, disappear, divide) is a sum over all assignments. The assignment it reports maximises the expected
    number of daughters whose decision, a mother or ⊥, is right: the cheapest one at costs −P(edge) and −P(⊥).
    """

    name = "JP"
    joint = True
    solves_blocks = True
    tolerance = 0.02  # clusters of cells in large frames depend a little on the order of detections

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.solves_blocks = False  # whoever derives from it has something else to tell

    def __call__(self, scored: ScoredPair, rng: np.random.Generator) -> Block:
        """Say how probable each edge and each event is, and which edges are links."""
        found, edge = decide(scored.problem)
        with np.errstate(divide="ignore"):
            events = {"log_disappear": np.log(found.disappear), "log_divide": np.log(found.divide)}
            logs = np.log(found.edge), np.log(found.appear)
        return posterior(scored, *logs, links(scored, edge), of_mothers=events, problem=scored.problem)
