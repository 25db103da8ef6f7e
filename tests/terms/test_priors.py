"""Priors are numbers: what they say, what they weigh, and the Student law that leans on them."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats

from dunno.terms import Prior, Term, Words, parameter


@dataclass(frozen=True)
class Change(Term):
    """A law to try."""

    name: ClassVar[str] = "change"
    usual: float = parameter("length", (0.0, 100.0), Prior("usual_before", 10, "steps", "the motion's"), default=3.0)
    spread: float = parameter("of its logarithm", (0.01, 10.0), Prior(0.5, 10, "steps"))
    usual_before: float = 7.0


def test_a_prior_is_told_as_it_weighs() -> None:
    usual, spread = Change().parameters()
    assert (str(spread.prior), str(usual.prior)) == ("0.5, worth 10 steps", "the motion's, worth 10 steps")
    assert usual.prior.mean == 7.0
    assert str(Prior()) == "none"


def test_a_prior_weighs_as_much_as_observations_of_it() -> None:
    assert Prior(0.01, 300).posterior_mean(7, 200) == pytest.approx((3 + 7) / 500)


def test_a_parameter_starts_at_its_prior_and_keeps_its_bounds() -> None:
    assert Change().spread == 0.5
    assert Change().fitted(spread=1e3, usual_before=-1.0) == Change(spread=10.0, usual_before=-1.0)


def test_hundredths_are_told_by_their_unit() -> None:
    assert Words("losses", "% of cells per step").number(0.03) == pytest.approx(3.0)
    assert Words("daughters part by", "length each").number(0.03) == 0.03


def test_a_student_law_is_the_likeliest_one_where_values_are_many() -> None:
    value = stats.t.rvs(4, np.log(2.0), 0.3, size=4000, random_state=0)
    law = Change()
    for _ in range(40):
        law = law.fitted(**law.student(value, np.ones(len(value)), "usual", "spread"))
    _, centre, spread = stats.t.fit(value, f0=4)
    assert np.log(law.usual) == pytest.approx(centre, abs=0.005)
    assert law.spread == pytest.approx(spread, rel=0.01)


def test_a_student_law_stays_at_its_priors_without_values() -> None:
    law = Change(usual=3.0, spread=2.0)
    none = np.empty(0)
    assert law.student(none, none, "usual", "spread") == pytest.approx({"usual": 7.0, "spread": 0.5})
    assert law.student(none, none, "", "spread").keys() == {"spread"}
    assert replace(law, usual=0.25).student_scale(none, none, "usual", 3) == pytest.approx(7.0)


def test_a_scale_in_volumes_is_per_axis() -> None:
    rng = np.random.default_rng(1)
    steps = stats.multivariate_t.rvs(np.zeros(3), 4.0 * np.eye(3), df=4, size=5000, random_state=rng)
    law = Change()
    for _ in range(40):
        law = replace(law, usual=law.student_scale((steps**2).sum(axis=1), np.ones(5000), "usual", 3))
    assert law.usual == pytest.approx(4.0, rel=0.05)
