"""Marginals again and again, while costs change."""

from dunno import _core
from dunno.assignment.marginals import Marginals, Method, find_marginals
from dunno.assignment.problem import Problem


class Rounds:
    """Finds marginals of problems whose edges stay while their costs change: the rounds of a fit.

    Connected components, clusters, orders of elimination and prices are kept for the last eight sets of edges, and messages
    begin with the last ones. So the first call for some edges is `marginals` to the bit; later ones are nearer to where
    messages settle, take less time, and depend on the calls before. Clusters are chosen anew where probabilities have moved
    by more than a tenth per daughter, so that `auto` stays as close to exact sums as single calls.

    Edges are the same where `mother`, `daughter`, the infinite costs and the pairs of edges in `triples` are. One problem may
    hold many frame pairs: cells of different pairs share no edges.

    Example:
        >>> from dunno.assignment import Problem, Rounds
        >>> rounds = Rounds()
        >>> for cost in (0.0, 0.5):
        ...     problem = Problem([0, 1], [0, 0], [0.0, cost], 2, 1, appear=0.0, disappear=0.0)
        ...     rounds.marginals(problem).edge.round(3)
        array([0.333, 0.333])
        array([0.384, 0.233])
    """

    def __init__(self) -> None:
        self._core = _core.Rounds()

    def marginals(self, problem: Problem, method: Method = "auto") -> Marginals:
        """The same as the function `marginals`, beginning from what is kept."""
        return find_marginals(self._core.marginals, problem, method)
