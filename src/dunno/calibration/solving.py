"""A pair's posterior with another problem in place of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.assignment import Problem, decide
from dunno.assignment.distributions import normalise
from dunno.types import PairPosterior


def solved_again(pair: PairPosterior, problem: Problem) -> PairPosterior:
    """The joint posterior of another problem on the same edges; ⊥ stays out where it was left out."""
    found, edge = decide(problem)
    selected = np.zeros(len(pair.mother), np.bool_)
    selected[edge[edge >= 0]] = True
    with np.errstate(divide="ignore"):
        none = np.where(np.isneginf(pair.log_no_mother).all(), -np.inf, np.log(found.appear))
        spread = normalise(np.log(found.edge), none, pair.daughter)
        return replace(
            pair,
            log_probability=spread.log_probability,
            log_no_mother=spread.log_no_mother,
            entropy=spread.entropy,
            selected=selected,
            log_disappear=np.log(found.disappear),
            log_divide=np.log(found.divide),
            samples=None,
            problem=problem,
        )
