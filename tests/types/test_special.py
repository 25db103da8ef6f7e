"""The functions of statistics, beside SciPy's."""

import numpy as np
import pytest
import scipy.special

from dunno.types import special
from dunno.types.arrays import Floats

POSITIVE = np.geomspace(1e-6, 1e5, 1500)
BOTH = np.concatenate([-POSITIVE[::-1], [0.0], POSITIVE])
TAILS = [2.0, 2.5, 4.0, 7.3, 24.0, 100.0]
SHARES = [1e-6, 1e-3, 0.01, 0.3, 0.5, 0.9]


def close(found: Floats | float | list[float], expected: Floats | float | list[float]) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-290)


def test_log_gamma_and_its_slope() -> None:
    found = np.array([special.log_gamma(x) for x in POSITIVE])
    np.testing.assert_allclose(found, scipy.special.gammaln(POSITIVE), rtol=1e-14, atol=1e-14)  # zero at 1 and 2
    found = np.array([special.digamma(x) for x in POSITIVE])
    np.testing.assert_allclose(found, scipy.special.digamma(POSITIVE), rtol=1e-14, atol=1e-14)  # zero at 1.46


def test_the_normal_distribution() -> None:
    x = BOTH[np.abs(BOTH) < 36]
    close(special.normal_below(x), scipy.special.ndtr(x))
    assert special.normal_below(np.array([-np.inf, np.inf])).tolist() == [0, 1]


@pytest.mark.parametrize("tail", TAILS)
def test_student_s_distribution(tail: float) -> None:
    close(special.student_below(tail, BOTH), scipy.special.stdtr(tail, BOTH))
    close([special.student_beyond(tail, p) for p in SHARES[:4]], [-scipy.special.stdtrit(tail, p) for p in SHARES[:4]])


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_fisher_s_distribution(dimensions: int, tail: float) -> None:
    close(special.f_below(dimensions, tail, POSITIVE), scipy.special.fdtr(dimensions, tail, POSITIVE))
    beyond = [special.f_beyond(dimensions, tail, share) for share in SHARES]
    close(scipy.special.fdtrc(dimensions, tail, beyond), SHARES)


@pytest.mark.parametrize("degrees", [1, 2, 3, 10])
def test_the_chi_square_distribution(degrees: int) -> None:
    close(special.chi_square_below(degrees, POSITIVE), scipy.special.chdtr(degrees, POSITIVE))
    beyond = [special.chi_square_beyond(degrees, share) for share in SHARES]
    close(beyond, [scipy.special.chdtri(degrees, share) for share in SHARES])


def test_the_beta_distribution_is_that_of_so_many_events_or_more() -> None:
    for n in (10, 50, 400):
        for k in range(1, n, 7):
            for p in (1e-3, 0.05, 0.5):
                close(special.beta_below(k, n - k + 1, p), scipy.special.bdtrc(k - 1, n, p))


def test_bessel_and_dawson() -> None:
    close(special.bessel_i0e(BOTH), scipy.special.i0e(BOTH))
    close(special.dawson(BOTH), scipy.special.dawsn(BOTH))


def test_shapes_are_kept() -> None:
    x = np.linspace(-2, 2, 24).reshape(2, 3, 4)[:, ::-1]
    close(special.normal_below(x), scipy.special.ndtr(x))
