"""The audit is a fair sample, and its interval keeps its promise."""

import numpy as np
import pytest

from dunno.review.audit import Audit, interval


def test_one_question_in_ten_is_drawn_at_random() -> None:
    audit = Audit(100, seed=0)
    assert sum(audit.is_due(n) for n in range(5000)) == pytest.approx(500, abs=70)
    assert [audit.is_due(n) for n in range(50)] == [Audit(100, seed=0).is_due(n) for n in range(50)]


def test_those_who_were_answered_before_count_without_being_asked() -> None:
    audit = Audit(10, seed=0)
    first, second, third = audit.order[:3].tolist()
    unanswered = np.ones(10, np.bool_)
    unanswered[first] = False  # the queue has asked it
    assert audit.next(unanswered) == second
    rate = audit.rate({second}, {first: True, second: False, third: True})
    assert (rate.n, rate.wrong) == (2, 1)  # the third was answered, but is behind the last audit
    assert audit.rate(set(), {first: True}).rate is None
    assert not rate.enough


def test_skipped_ones_are_counted_apart() -> None:
    audit = Audit(10, seed=0)
    first, second = audit.order[:2].tolist()
    rate = audit.rate({first, second}, {first: None, second: True})
    assert (rate.n, rate.wrong, rate.skipped) == (1, 1, 1)


def test_doubtful_answers_do_not_bias_the_rate_and_the_interval_covers_the_truth() -> None:
    rng = np.random.default_rng(0)
    wrong = rng.random(2000) < 0.08
    doubt = np.argsort(~wrong + 0.5 * rng.random(2000))  # a queue that asks the wrong ones first
    rates, covered = [], 0
    for seed in range(200):
        audit, answered = Audit(2000, seed), {}
        unanswered, asked = np.ones(2000, np.bool_), set()
        for n in range(400):
            row = audit.next(unanswered) if audit.is_due(n) else int(doubt[unanswered[doubt]][0])
            assert row is not None
            asked |= {row} if audit.is_due(n) else set()
            unanswered[row] = False
            answered[row] = bool(wrong[row])
        found = audit.rate(asked, answered)
        assert found.rate is not None
        rates.append(found.rate)
        covered += found.low <= wrong.mean() <= found.high
    assert np.mean(rates) == pytest.approx(wrong.mean(), abs=4 * np.std(rates) / np.sqrt(200))
    assert covered >= 185


def test_the_interval_is_that_of_clopper_and_pearson() -> None:
    from scipy.stats import binomtest

    for hits, n in ((0, 20), (3, 40), (40, 40), (17, 100)):
        expected = binomtest(hits, n).proportion_ci(method="exact")
        assert interval(hits, n) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert interval(0, 0) == (0.0, 1.0)
