"""AS: the K best assignments."""

from dataclasses import dataclass

import numpy as np

from dunno.assignment import k_best
from dunno.methods import Method, ScoredPair, frequencies, links
from dunno.types import Block


@dataclass(frozen=True)
class AssignmentSampling(Method):
    r"""The K cheapest assignments, weighted by their likelihoods; the links are the cheapest one.

    $$P_{ij} = \sum_{k=1}^K p_k \mathbb 1\{(i, j) \in A_k\}, \qquad
      p_k = \frac{\exp(-cost(A_k))}{\sum_l \exp(-cost(A_l))} \qquad\text{(Eq. 10–11 of the paper)}$$

    Exact where K covers all assignments. Ten of them hold next to nothing of a large frame's posterior.
    """

    samples: int = 10  # K, the number of assignments
    name = "AS"

    def __call__(self, scored: ScoredPair, rng: np.random.Generator) -> Block:
        """Say how probable each edge is, and which are links."""
        best = k_best(scored.problem, self.samples)
        weight = np.exp(best.cost[0] - best.cost)
        return frequencies(scored, best.edge, weight / weight.sum(), links(scored, best.edge[0]))
