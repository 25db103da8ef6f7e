"""The doors to the C++ core: the best assignment, and what is likely among all of them."""

from dunno.assignment.k_best import KBest, k_best
from dunno.assignment.marginals import Marginals, Rounds, marginals
from dunno.assignment.problem import NEVER, Problem, Triples, every_pair
from dunno.assignment.sample import Samples, sample
from dunno.assignment.solve import Batch, DecidedPosterior, Solution, decide, solve, solve_batch

__all__ = [
    "NEVER",
    "Batch",
    "DecidedPosterior",
    "KBest",
    "Marginals",
    "Problem",
    "Rounds",
    "Samples",
    "Solution",
    "Triples",
    "decide",
    "every_pair",
    "k_best",
    "marginals",
    "sample",
    "solve",
    "solve_batch",
]
