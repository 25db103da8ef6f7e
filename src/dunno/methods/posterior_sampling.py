"""MC: samples of the posterior."""

from dataclasses import dataclass, replace

import numpy as np

from dunno.assignment import sample, solve
from dunno.methods import Method, ScoredPair, frequencies, links
from dunno.types import PairPosterior


@dataclass(frozen=True)
class PosteriorSampling(Method):
    r"""How often an edge is in assignments drawn from the posterior; the links are the MAP.

    $$P_{ij} = \frac1K \sum_{k=1}^K \mathbb 1\{(i, j) \in A_k\}, \qquad A_k \sim P(A) \propto \exp(-cost(A))
      \qquad\text{(Eq. 9 of the paper)}$$

    Attributes:
        samples: K, the number of samples.
    """

    samples: int = 10
    name = "MC"
    is_random = True

    def __call__(self, scored: ScoredPair, rng: np.random.Generator) -> PairPosterior:
        """Say how probable each edge is, and which are links."""
        drawn = sample(scored.problem, self.samples, int(rng.integers(2**62)))
        weight = np.full(self.samples, 1 / self.samples)
        found = frequencies(scored, drawn, weight, links(scored, solve(scored.problem).edge))
        return replace(found, samples=drawn) if scored.no_mother else found  # without ⊥ its frequencies are others
