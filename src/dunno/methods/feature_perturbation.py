"""FP: the mean of perturbed costs."""

from dataclasses import dataclass

import numpy as np

from dunno.assignment import solve
from dunno.methods import Method, ScoredPair, links, posterior
from dunno.types import Block


@dataclass(frozen=True)
class FeaturePerturbation(Method):
    r"""Softmax of the mean cost over perturbed features; the links are its cheapest assignment.

    $$\hat w_{ij} = \frac1K \sum_{k=1}^K w(\hat x_i^{(k)}, \hat x_j'^{(k)}), \qquad P_{i|j} \propto \exp(-\hat w_{ij})$$

    Eq. 13 of the paper, then Eq. 15–16.
    """

    samples: int = 10  # K, the number of perturbations
    name = "FP"
    is_random = True
    perturbs = True

    def __call__(self, scored: ScoredPair, rng: np.random.Generator) -> Block:
        """Say how probable each edge is, and which are links."""
        mean = scored.with_costs(scored.perturbed_costs(self.samples, rng).mean(axis=0))
        selected = links(mean, solve(mean.problem).edge)
        return posterior(mean, -mean.costs, -mean.problem.appear, selected)
