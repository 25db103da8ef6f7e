r"""How much one answer is worth: the expected number of wrong decisions that it removes.

A pair's expected error is the expected number of its daughters whose reported decision, a mother or ⊥, is wrong:
$E = \sum_j 1 - P_j(\text{decision}_j)$. If daughter j is asked, each answer a comes with the probability that is believed now;
given it the pair is solved and decided again, and has the error $E_a$:

$$gain_j = E - \sum_a P_j(a)\, E_a$$

The part of j itself is $1 - P_j(\text{decision}_j)$; the rest is what the answer says about its neighbours. Frame pairs are
independent, so that nothing follows in other pairs. Edges less probable than `LEAST_GAIN` are left out, which takes a pair apart
into small groups of cells.
"""

from __future__ import annotations

import numpy as np

from dunno.assignment import Problem, Triples, decide
from dunno.review.constraints import APPEARS, constrained, no_constraints
from dunno.types import Floats, Ints, PairPosterior

LEAST_GAIN = 0.01


def errors(pair: PairPosterior) -> Floats:
    """(n,) probability that each daughter's reported decision, a mother or ⊥, is wrong; 0 where nothing is known to decide on."""
    right = np.exp(pair.log_no_mother)
    right[pair.daughter[pair.selected]] = pair.probability[pair.selected]
    far = pair.earlier
    right[far.daughter[far.selected]] = far.probability[far.selected]
    return np.nan_to_num(np.clip(1.0 - right, 0.0, 1.0))


def groups(pair: PairPosterior) -> Ints:
    """(n,) which daughters are tied together by edges of some probability."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    likely = pair.log_probability >= np.log(LEAST_GAIN)
    m, n = len(pair.mothers), len(pair.daughters)
    ends = (pair.daughter[likely], n + pair.mother[likely])
    graph = coo_array((np.ones(int(likely.sum()), np.int8), ends), shape=(n + m, n + m))
    return np.asarray(connected_components(graph, directed=False)[1][:n], np.int64)


def signatures(pair: PairPosterior, group: Ints) -> Floats:
    """(n,) a number for all that the gain of each daughter is computed from: as long as it stays, so does the gain.

    An answer changes the costs of one group, and leaves those of the others in its pair as they were.
    """
    if pair.problem is None:
        return errors(pair)
    problem, kept = pair.problem, np.flatnonzero(pair.log_probability >= np.log(LEAST_GAIN))
    mother, daughter = pair.mother[kept], pair.daughter[kept]
    dividing = problem.cost if problem.dividing_cost is None else problem.dividing_cost
    parts = (mother, daughter, problem.cost[kept], dividing[kept], problem.disappear[mother], problem.divide[mother])
    mixed = sum(np.sqrt(k + 2) * np.nan_to_num(part, posinf=-1e6) for k, part in enumerate(parts))
    n_groups = int(group.max(initial=0)) + 1
    total = np.bincount(group[daughter], np.sin(mixed), minlength=n_groups)
    if (triples := _triples_among(problem, kept)) is not None:
        parts = (triples.cost, *np.sort([daughter[triples.first_edge], daughter[triples.second_edge]], axis=0))
        mixed = sum(np.sqrt(k + 13) * np.nan_to_num(part, posinf=-1e6) for k, part in enumerate(parts))
        total += np.bincount(group[daughter[triples.first_edge]], np.sin(mixed), minlength=n_groups)
    return np.asarray((total + np.bincount(group, np.sin(problem.appear * np.sqrt(11)), minlength=n_groups))[group])


def promise(error: Floats, group: Ints) -> Floats:
    """(n,) what asking each daughter may be worth: the sum, over its group, of the lesser of its error and the other's.

    An answer that confirms what was reported rarely changes it elsewhere, so a neighbour gains at most about as often as the
    answer is a surprise, and no more than it has to lose. It takes no solving, and tells whose gain is worth computing.
    """
    order = np.lexsort((error, group))
    sorted_error, sorted_group = error[order], group[order]
    size = np.bincount(group, minlength=1)
    first = (np.cumsum(size) - size)[sorted_group]
    rank = np.arange(len(error)) - first
    below = np.concatenate([[0.0], np.cumsum(sorted_error)])
    worth = np.empty(len(error))
    worth[order] = below[1:] - below[first] + (size[sorted_group] - 1 - rank) * sorted_error
    return worth


def gain(pair: PairPosterior, daughter: int, members: Ints | None = None) -> float:
    """The expected gain of asking one daughter; its own error where the pair has no assignment problem."""
    if pair.problem is None:
        return float(errors(pair)[daughter])
    if members is None:
        group = groups(pair)
        members = np.flatnonzero(group == group[daughter])
    problem, place = _group_problem(pair, pair.problem, members, daughter)
    found, edge = decide(problem)
    before = _error(problem, found.edge, found.appear, edge)
    own = np.flatnonzero(problem.daughter == place)
    options = [*own.tolist(), -1]
    chances = np.append(found.edge[own], found.appear[place])
    asked = chances >= LEAST_GAIN
    after = [_given(problem, place, option) for option, worth in zip(options, asked, strict=True) if worth]
    return float(before - np.dot(chances[asked] / chances[asked].sum(), after))


def _group_problem(pair: PairPosterior, problem: Problem, daughters: Ints, daughter: int) -> tuple[Problem, int]:
    """The problem of one group alone, and where the daughter is in it."""
    kept = np.flatnonzero((pair.log_probability >= np.log(LEAST_GAIN)) & np.isin(pair.daughter, daughters))
    mothers = np.unique(pair.mother[kept])
    ends = np.searchsorted(mothers, pair.mother[kept]), np.searchsorted(daughters, pair.daughter[kept])
    dividing = None if problem.dividing_cost is None else problem.dividing_cost[kept]
    events = (problem.appear[daughters], problem.disappear[mothers], problem.divide[mothers])
    triples = _triples_among(problem, kept)
    small = Problem(*ends, problem.cost[kept], len(mothers), len(daughters), *events, dividing, triples)
    return small, int(np.searchsorted(daughters, daughter))


def _triples_among(problem: Problem, kept: Ints) -> Triples | None:
    """The triples of the edges that are kept, in their numbers."""
    if problem.triples is None:
        return None
    number = np.full(len(problem.cost), -1)
    number[kept] = np.arange(len(kept))
    return problem.triples.renumbered(number)


def _given(problem: Problem, daughter: int, option: int) -> float:
    """The error that is left when the daughter's edge, or -1 for ⊥, is known."""
    said = no_constraints(problem.n_mothers, problem.n_daughters)
    said.mother[daughter] = APPEARS if option < 0 else problem.mother[option]
    found, edge = decide(constrained(problem, said))
    return _error(problem, found.edge, found.appear, edge)


def _error(problem: Problem, p_edge: Floats, p_appear: Floats, edge: Ints) -> float:
    return float(problem.n_daughters - np.where(edge >= 0, np.append(p_edge, 0.0)[edge], p_appear).sum())
