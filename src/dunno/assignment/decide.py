"""The assignment with the most expected correct decisions."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dunno.assignment.marginals import Marginals, marginals
from dunno.assignment.problem import NEVER, Problem
from dunno.assignment.solve import solve

NEVER_FROM = 0.01 * NEVER  # cost; exact
"""Costs above this are `NEVER`, tempered."""


class DecidedPosterior(NamedTuple):
    """The posterior's marginals, and (n_daughters,) each daughter's edge, or -1 where it appears."""

    marginals: Marginals
    edge: NDArray[np.int64]


def decide(problem: Problem) -> DecidedPosterior:
    """Find the assignment that maximises the expected number of daughters whose mother, or ⊥, is right.

    It is the cheapest one at costs −P(edge) and −P(⊥), with disappearing and dividing free. What cannot be, an edge of
    probability 0 or a division that costs `NEVER`, is never chosen.
    """
    found = marginals(problem)
    return DecidedPosterior(found, max_expected_accuracy(problem, found))


def max_expected_accuracy(problem: Problem, found: Marginals) -> NDArray[np.int64]:
    """(n_daughters,) the same from marginals that are known already: each daughter's edge, or -1."""
    cost = np.where(found.edge > 0, -found.edge, np.inf)
    ends = (problem.mother, problem.daughter, cost, problem.n_mothers, problem.n_daughters)
    free = np.zeros(problem.n_mothers)
    divide = np.where(problem.divide < NEVER_FROM, 0.0, NEVER)
    return solve(Problem.of_parts(*ends, appear=-found.appear, disappear=free, divide=divide)).edge
