"""SM: each daughter on its own."""

from dataclasses import dataclass

import numpy as np

from dunno.assignment import solve
from dunno.methods import Method, ScoredPair, links, posterior
from dunno.types import Block


@dataclass(frozen=True)
class Softmax(Method):
    r"""Softmax of each daughter's costs; the links are the cheapest assignment.

    $$P_{i|j} = \frac{\exp(-w_{ij})}{\exp(-w_a) + \sum_k \exp(-w_{kj})}$$

    Eq. 15–16 of the paper, with the ⊥ class of its appendix C; the paper's parental softmax is $w_a = 0$. It costs
    no more than vanilla tracking, and ignores that two daughters may want the same mother.
    """

    name = "SM"

    def __call__(self, scored: ScoredPair, rng: np.random.Generator) -> Block:
        """Say how probable each edge is, and which are links."""
        selected = links(scored, solve(scored.problem).edge)
        return posterior(scored, -scored.costs, -scored.problem.appear, selected)
