"""FP+A: assignments of perturbed costs."""

from dataclasses import dataclass

import numpy as np

from dunno.assignment import solve, solve_batch
from dunno.methods import Method, ScoredPair, frequencies, links
from dunno.types import Block


@dataclass(frozen=True)
class PerturbedAssignment(Method):
    r"""How often an edge is in the cheapest assignment of perturbed features; the links are the MAP.

    $$P_{ij} = \frac1K \sum_{k=1}^K \mathbb 1\{(i, j) \in \hat A_k\} \qquad\text{(Eq. 12 of the paper)}$$

    A link that no draw contains keeps probability 0.
    """

    samples: int = 10  # K, the number of perturbations
    name = "FP+A"
    is_random = True
    perturbs = True

    def __call__(self, scored: ScoredPair, rng: np.random.Generator) -> Block:
        """Say how probable each edge is, and which are links."""
        costs = scored.cost.linkable(scored.perturbed_costs(self.samples, rng))
        drawn = solve_batch(scored.problem, costs)
        weight = np.full(self.samples, 1 / self.samples)
        return frequencies(scored, drawn.edge, weight, links(scored, solve(scored.problem).edge))
