import numpy as np
import pytest

from dunno.biology.pooling import quantile_interval, rubin, student_interval
from dunno.biology.survival import kaplan_meier, survival

from .families import colony


def test_kaplan_meier_is_the_textbooks() -> None:
    """Freireich's 6-MP arm, as in Collett and in Kleinbaum & Klein: remission times, + censored."""
    times = np.array([6, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35], float)
    divided = np.arange(21) < 9
    share, sums = kaplan_meier(times, divided, np.array([5.0, 6, 7, 10, 13, 16, 22, 23]))
    expected = [1, 0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448]
    np.testing.assert_allclose(share, expected, atol=5e-4)
    np.testing.assert_allclose((share * np.sqrt(sums))[1], 0.0764, atol=5e-5)


def test_rubin_adds_what_draws_disagree_on() -> None:
    pooled = rubin(np.array([1.0, 2.0, 3.0]), np.array([0.2, 0.3, 0.4]))
    assert float(pooled.mean) == 2
    assert float(pooled.variance) == pytest.approx(0.3 + 4 / 3 * 1)
    low, high = student_interval(rubin(np.zeros(5), np.ones(5)))
    assert (float(low), float(high)) == pytest.approx((-1.96, 1.96), abs=1e-3)


def test_quantiles_go_outwards() -> None:
    assert quantile_interval(np.arange(100.0)) == (2, 97)
    assert quantile_interval(np.array([3.0])) == (3, 3)


def test_draws_that_agree_leave_chance_alone() -> None:
    lineage = colony()
    one, many = survival(lineage, []), survival(lineage, [lineage] * 7)
    assert one is not None and many is not None
    np.testing.assert_allclose(one.low, many.low)
    assert one.age.tolist() == [0, 10, 20]
    np.testing.assert_allclose(one.share, [1, 1, 0])
    assert (one.low <= one.share).all() and (one.share <= one.high).all()


def test_without_a_birth_there_is_no_curve() -> None:
    from dunno.biology import Lineage

    from .families import rows_of

    assert survival(Lineage.from_mothers(rows_of([1, 1]), np.array([-1, 0])), []) is None
