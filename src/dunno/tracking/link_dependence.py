"""How much likelier a link is given the link before it in its track, where edges across gaps tie frame pairs together.

Without gaps, frame pairs are independent, and a track is right with the product of its links' probabilities. With gaps, two links
of a track are independent only if they lie in different components of the problem. Where they share one and both are in doubt, how
often they are right together is counted in assignments that are drawn from the posterior of these components.
"""

from __future__ import annotations

import numpy as np

from dunno.assignment import Marginals, Problem, sample
from dunno.types import Bools, Floats, Ints
from dunno.types.sparse import components

LEAST_DOUBT = 1e-3  # probability; judged: what is surer changes no draw
"""Links with less doubt than this depend on nothing, and edges that are less probable do not tie."""

DRAWS = 300  # forests; judged; drawn to see which links go together


def log_together(problem: Problem, found: Marginals, link: Bools, seed: int) -> Floats:
    """(N,) by daughter: log of P(its link | the link before it) / P(its link); 0 where they are independent, or there is none."""
    ratio = np.zeros(problem.n_daughters)
    before, after = _in_a_row(problem, found, link)
    if not len(after):
        return ratio
    tying = found.edge > LEAST_DOUBT
    component = _components(problem, tying)
    same = component[problem.mother[before]] == component[problem.mother[after]]
    before, after = before[same], after[same]
    if not len(after):
        return ratio
    kept = np.flatnonzero(tying & np.isin(component[problem.mother], np.unique(component[problem.mother[after]])))
    drawn = _drawn(problem, kept, seed)
    first, second = (drawn[:, problem.daughter[edge]] == edge for edge in (before, after))
    both, alone = (first & second).mean(axis=0), first.mean(axis=0) * second.mean(axis=0)
    ratio[problem.daughter[after]] = np.log((both + 1 / DRAWS) / (alone + 1 / DRAWS))
    return ratio


def _in_a_row(problem: Problem, found: Marginals, link: Bools) -> tuple[Ints, Ints]:
    """(K,) and (K,) links in doubt of which one's daughter is the other's mother."""
    doubtful = np.flatnonzero(link & (found.edge < 1 - LEAST_DOUBT))
    into = np.full(problem.n_daughters, -1, np.int64)
    into[problem.daughter[doubtful]] = doubtful
    before = into[problem.mother[doubtful]]
    return before[before >= 0], doubtful[before >= 0]


def _components(problem: Problem, edges: Bools) -> Ints:
    """(N,) the component of each row as a mother."""
    n, total = problem.n_mothers, problem.n_mothers + problem.n_daughters
    return components(problem.mother[edges], problem.daughter[edges] + n, total)[:n]


def _drawn(problem: Problem, kept: Ints, seed: int) -> Ints:
    """(DRAWS, N) each row's edge, or -1, in assignments of some of the edges alone."""
    mothers, daughters = np.unique(problem.mother[kept]), np.unique(problem.daughter[kept])
    number = np.full(len(problem.cost), -1, np.int64)
    number[kept] = np.arange(len(kept))
    part = Problem(
        np.searchsorted(mothers, problem.mother[kept]),
        np.searchsorted(daughters, problem.daughter[kept]),
        problem.cost[kept],
        len(mothers),
        len(daughters),
        problem.appear[daughters],
        problem.disappear[mothers],
        problem.divide[mothers],
        None if problem.dividing_cost is None else problem.dividing_cost[kept],
        None if problem.triples is None else problem.triples.renumbered(number),
    )
    drawn = np.full((DRAWS, problem.n_daughters), -1, np.int64)
    chosen = sample(part, DRAWS, seed)
    drawn[:, daughters] = np.where(chosen >= 0, kept[chosen], -1)
    return drawn
