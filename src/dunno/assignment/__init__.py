"""The doors to the C++ core: the best assignment, and what is likely among all of them."""

from dunno.assignment.marginals import Marginals, marginals
from dunno.assignment.problem import Problem
from dunno.assignment.sample import Samples, sample
from dunno.assignment.solve import Solution, solve

__all__ = ["Marginals", "Problem", "Samples", "Solution", "marginals", "sample", "solve"]
