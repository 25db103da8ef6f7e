"""
The C++ core. Use it through dunno.assignment and dunno.labels, which check what they pass on.
"""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class Problem:
    """An assignment problem in rows of daughters."""

def make_problem(mother: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], daughter: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_mothers: int, n_daughters: int, appear: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], disappear: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], divide: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], dividing_cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, first_edge: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, second_edge: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, triple_cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Problem:
    """Sort an edge list into rows; raises ValueError on bad input."""

def is_convex(problem: Problem) -> bool:
    """Whether divide >= -disappear for every mother."""

def solve(problem: Problem) -> tuple:
    """The cheapest assignment: cost, edge, daughters' duals, mothers' duals."""

def solve_batch(problem: Problem, costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple:
    """
    The cheapest assignment for each row of (K, given edges) costs: cost, edge (flat).
    """

def k_best(problem: Problem, k: int, freeze: bool = True) -> tuple:
    """
    The k cheapest assignments: cost, the first one's edge, and the others' differences from it (start, daughter, edge).
    """

def marginals(problem: Problem, method: str) -> tuple:
    """
    Posterior marginals: edge, edge_dividing, appear, disappear, divide, log_evidence, exact, triple or None.
    """

def sample(problem: Problem, n: int, state: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
    """
    Posterior samples, flat (n * n_daughters), and whether all of them are independent.
    """

def measure(labels: Annotated[NDArray, dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> tuple:
    """
    Label, area, coordinate sums and bounding box (low, high; flat triples) of every label in a (Z, Y, X) image.
    """

def digest(labels: Annotated[NDArray, dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> int:
    """A number by which a (Z, Y, X) label image is known again."""

def measure_cells(labels: Annotated[NDArray, dict(shape=(None, None, None), order='C', device='cpu', writable=False)], image: Annotated[NDArray, dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None = None) -> tuple:
    """
    The columns of measure; covariance (flat 3 x 3), touching, pieces and digest; total, mean, deviation, background.
    """

@overload
def count_overlaps(first: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
    """Pairs of labels that share pixels in two flat images, and how many."""

@overload
def count_overlaps(first: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple: ...

def propagate(out: tuple, in_: tuple, n_edges: int, max_sweeps: int, tolerance: float, before: tuple | None) -> tuple:
    """
    Beliefs of masks that choose their ways out and in: ways out, ways in, states, edges by kind (both flat), log evidence, last change, sweeps, and the messages, which a later call may begin with.
    """

def format_rows(columns: list) -> bytes:
    """
    Columns (int64 or float64) as lines: whole numbers, others with nine digits, nothing for NaN.
    """

def request_stop(stop: bool) -> None:
    """
    Make all running calls of the core end with Stopped, or allow new ones.
    """

checks_invariants: bool = False

class Stopped(RuntimeError):
    pass
