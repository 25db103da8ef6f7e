import numpy as np
import pytest

from benchmarks.frames import colony, scatter
from dunno.assignment import marginals
from dunno.assignment.marginals import LIKELY_FROM, filled, marginals_of_likely


@pytest.mark.parametrize("motion", [0.2, 0.35, 0.5])
def test_leaving_out_the_impossible_changes_next_to_nothing(motion: float) -> None:
    problem = colony(3, 12, motion, seed=2)
    exact, rough = marginals(problem, "exact"), marginals(problem, "rough")
    found = marginals_of_likely(problem, rough)
    direct = marginals(problem)
    assert np.abs(found.edge - exact.edge).max() <= np.abs(direct.edge - exact.edge).max() + 1e-3
    assert found.appear == pytest.approx(direct.appear, abs=1e-3)


def test_it_is_the_impossible_that_is_left_out() -> None:
    problem = scatter(20, 0.2)
    rough = marginals(problem, "rough")
    out = rough.edge <= LIKELY_FROM
    found = marginals_of_likely(problem, rough)
    assert out.sum() > len(out) / 3
    assert (found.edge[out] == rough.edge[out]).all()
    assert not found.edge_dividing[out].any()
    assert found.edge[~out] == pytest.approx(marginals(problem, "exact").edge[~out], abs=1e-3)
    assert not found.exact


def test_some_edges_of_a_problem_are_a_problem() -> None:
    problem = colony(2, 4, 0.4, seed=1, triples=True)
    kept = np.arange(len(problem.cost)) % 3 > 0
    part = problem.among(kept)
    assert (part.mother == problem.mother[kept]).all()
    listed = problem.triples
    assert listed is not None and part.triples is not None
    assert len(part.triples) == (kept[listed.first_edge] & kept[listed.second_edge]).sum()
    whole = filled(marginals(part, "exact"), kept, np.full(len(kept), 0.25))
    assert (whole.edge[~kept] == 0.25).all()
    assert (whole.edge[kept] == marginals(part, "exact").edge).all()
