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

class Rounds:
    """What is kept of problems between calls with other costs."""

    def __init__(self) -> None: ...

    def marginals(self, problem: Problem, method: str) -> tuple:
        """As the function, beginning from what is kept."""

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

def cut_masks(labels: Annotated[NDArray, dict(shape=(None, None, None), order='C', device='cpu', writable=False)], image: Annotated[NDArray, dict(shape=(None, None, None), order='C', device='cpu', writable=False)] | None, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], into: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
    """
    Masks in halves: from one's centroid to the other's (flat triples), log ratio of areas, what the neck is worth. Those that are cut, and the columns of measure_cells of their parts, two of each; the same of larger parts that are cut again; and a flat image that numbers masks from 1 on, and then the parts in these orders.
    """

def near_masks(labels: Annotated[NDArray, dict(shape=(None, None, None), order='C', device='cpu', writable=False)], reach: float, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
    """
    Pairs of masks (rows) no farther apart than the reach, in no order, and the distance of their nearest pixels.
    """

@overload
def count_overlaps(first: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
    """Pairs of labels that share pixels in two flat images, and how many."""

@overload
def count_overlaps(first: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple: ...

def steps_outside(places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], below: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], slope: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> object:
    """
    Probability of each place that a step from it ends outside a box; the law is told by a table.
    """

def squared_distances(places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], near: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> object:
    """From each place to those of some rows, flat."""

def local_field(places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], near: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], share: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], hold: float, hold_slopes: float) -> object:
    """
    Where an affine field through the neighbours' displacements carries each place, flat.
    """

def format_rows(columns: list) -> bytes:
    """
    Columns (int64 or float64) as lines: whole numbers, others with nine digits, nothing for NaN.
    """

def log_gamma(x: float) -> float:
    """log of the gamma function of a positive number."""

def digamma(x: float) -> float:
    """Its slope."""

def normal_below(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Share of a standard normal below x."""

def student_below(tail: float, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Share of a standard Student-t below x."""

def chi_square_below(degrees: float, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Share of a chi-square below x."""

def f_below(first: float, second: float, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Share of Fisher's F below x."""

def beta_below(a: float, b: float, x: float) -> float:
    """Share of a beta distribution below x."""

def chi_square_beyond(degrees: float, share: float) -> float:
    """Beyond which a share of a chi-square lies."""

def f_beyond(first: float, second: float, share: float) -> float:
    """Beyond which a share of Fisher's F lies."""

def bessel_i0e(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """exp(-|x|) times the modified Bessel function of order 0."""

def dawson(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Dawson's integral."""

def within(places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], others: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], reach: float, most: int = 9223372036854775807) -> tuple:
    """
    Pairs of (n, d) places and (m, d) others no farther apart than reach, by place, then by other; of each place the most nearest.
    """

def nearest(places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], others: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], k: int) -> tuple:
    """
    Distance and index of the k nearest others of each place (flat n * k); infinite and m where there are too few.
    """

def nearest_in_groups(places: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], k: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    The k nearest others of each place in its group (flat n * k); itself where there are too few.
    """

def components(first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """The lowest row of each row's component, by edges between n rows."""

def sparse_product(begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], other_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], other_column: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], other_value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int) -> tuple:
    """
    The product of two matrices kept as rows of columns and values: begin, column, value.
    """

def request_stop(stop: bool) -> None:
    """
    Make all running calls of the core end with Stopped, or allow new ones.
    """

class SegmentGraph:
    """Masks with their states, and edges with their ways, without weights."""

    def __init__(self, frame: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], mask: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], state: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_ways: int, way: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], mother: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], daughter: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], union_first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], union_second: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Raises ValueError on bad input."""

    @property
    def n_edges(self) -> int: ...

    def propagate(self, state: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], appear: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], disappear: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], way: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sweeps: int, tolerance: float, messages: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple:
        """
        Beliefs under log weights: states, ways, log evidence, last change, sweeps, and the messages, which a later call may begin with.
        """

checks_invariants: bool = False

class Stopped(RuntimeError):
    pass
