"""The doors to the C++ core: the best assignment, and what is likely among all of them."""

from dunno.assignment.problem import Problem
from dunno.assignment.solve import Solution, solve

__all__ = ["Problem", "Solution", "solve"]
