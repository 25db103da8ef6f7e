"""The linear program beside all answers of tiny worlds."""

import numpy as np
import pytest

from .worlds import answers, random_worlds, value

highspy = pytest.importorskip("highspy")


def test_the_best_answer_is_the_best_of_all() -> None:
    from benchmarks.exact_segments import Exact

    close = 0
    for world, weights in random_worlds(150, seed=5):
        values = {(*states, *ways): value(world, weights, states, ways) for states, ways in answers(world)}
        found = Exact(world.hypotheses, weights).best()
        assert found.value >= max(values.values()) - 1e-6
        if np.isin(np.round(found.state, 6), (0.0, 1.0)).all() and np.isin(np.round(found.way, 6), (0.0, 1.0)).all():
            close += 1
            assert found.value == pytest.approx(max(values.values()), abs=1e-6)
    assert close > 100
