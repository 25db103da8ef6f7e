"""The doors to the C++ core: the best assignment, and what is likely among all of them."""

from dunno.assignment.k_best import KBest, k_best
from dunno.assignment.problem import Problem
from dunno.assignment.solve import Solution, solve
from dunno.assignment.solve_batch import Batch, solve_batch

__all__ = ["Batch", "KBest", "Problem", "Solution", "k_best", "solve", "solve_batch"]
