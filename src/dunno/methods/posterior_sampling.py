"""MC: samples of the posterior."""

from dataclasses import dataclass

import numpy as np

from dunno.assignment import sample, solve
from dunno.methods import Method, ScoredPair, frequencies, links
from dunno.types import Block


@dataclass(frozen=True)
class PosteriorSampling(Method):
    r"""How often an edge is in assignments drawn from the posterior; the links are the MAP.

    $$P_{ij} = \frac1K \sum_{k=1}^K \mathbb 1\{(i, j) \in A_k\}, \qquad A_k \sim P(A) \propto \exp(-cost(A))
      \qquad\text{(Eq. 9 of the paper)}$$
    """

    samples: int = 10  # K, the number of samples
    name = "MC"
    is_random = True

    def __call__(self, scored: ScoredPair, rng: np.random.Generator) -> Block:
        """Say how probable each edge is, and which are links."""
        drawn = sample(scored.problem, self.samples, int(rng.integers(2**62)))
        weight = np.full(self.samples, 1 / self.samples)
        nobody = np.full((self.samples, scored.problem.n_mothers), -1)
        more = {"samples": np.hstack([nobody, drawn])} if scored.no_mother else {}  # without ⊥ frequencies are others
        return frequencies(scored, drawn, weight, links(scored, solve(scored.problem).edge), **more)
