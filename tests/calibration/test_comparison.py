from dataclasses import replace

import numpy as np
import pytest

from dunno.calibration.comparison import Comparison, MotherBeliefs, compose
from dunno.calibration.softening import (
    PRIOR_UNKNOWN,
    PRIOR_UNKNOWN_WIDTH,
    UNKNOWNS,
    Softening,
    _best_unknown,
    fit_softening,
    mixed,
    with_share,
)


def chain() -> MotherBeliefs:
    """Cells 0, 1 | 2, 3 | 4, 5 in three frames; each daughter prefers the mother straight before it."""
    mother = np.array([0, 1, 0, 1, 2, 3, 2, 3])
    daughter = np.array([2, 2, 3, 3, 4, 4, 5, 5])
    probability = np.array([0.8, 0.1, 0.2, 0.7, 0.6, 0.3, 0.0, 0.9])
    return MotherBeliefs(mother, daughter, probability, np.array([np.nan, np.nan, 0.1, 0.1, 0.1, 0.1]))


def test_two_steps_compose_by_summing_over_the_cells_between() -> None:
    composed = compose(chain(), 2)
    assert composed.matrix[4, 0] == pytest.approx(0.6 * 0.8 + 0.3 * 0.2)
    assert composed.matrix[5, 1] == pytest.approx(0.9 * 0.7)
    assert composed.none[4] == pytest.approx(0.1 + 0.6 * 0.1 + 0.3 * 0.1)
    for row in (4, 5):
        assert composed.matrix.row_sums()[row] + composed.none[row] == pytest.approx(1.0)
    assert np.isnan(composed.none[:4]).all()  # there is no frame two steps before


def compared(probability: list[float], none: list[float]) -> Comparison:
    direct = MotherBeliefs(
        np.array([0, 1, 0, 1]), np.array([4, 4, 5, 5]), np.array(probability), np.array([np.nan] * 4 + none)
    )
    return Comparison.of(direct, compose(chain(), 2))


def test_what_no_option_reaches_counts_as_impossible() -> None:
    direct = MotherBeliefs(np.array([0]), np.array([4]), np.array([0.9]), np.array([np.nan] * 4 + [0.1, np.nan]))
    narrow = Comparison.of(direct, compose(chain(), 2))
    assert narrow.unreached[4] == pytest.approx(0.6 * 0.1 + 0.3 * 0.7)
    wide = compared([0.6, 0.2, 0.2, 0.7], [0.2, 0.1])
    only_four = np.arange(6) == 4
    assert narrow.loss() > wide.among(only_four).loss() + 5


def test_daughters_that_are_mostly_lost_on_the_way_are_not_judged() -> None:
    steps = chain()
    steps.none[4] = 0.95
    steps.probability[4:6] = [0.04, 0.01]
    direct = MotherBeliefs(
        np.array([0, 1]), np.array([4, 5]), np.array([0.9, 0.9]), np.array([np.nan] * 4 + [0.1, 0.1])
    )
    assert Comparison.of(direct, compose(steps, 2)).judged.tolist() == [False] * 5 + [True]


def test_promised_and_composed_errors_are_of_the_likeliest_mothers() -> None:
    comparison = compared([0.7, 0.2, 0.1, 0.8], [0.1, 0.1])
    promised, found, links = comparison.errors(comparison.links())
    assert links == 2
    assert promised == pytest.approx(0.3 + 0.2)
    assert found == pytest.approx(2 - (0.6 * 0.8 + 0.3 * 0.2) - 0.9 * 0.7)


def test_of_equally_likely_mothers_the_composed_one_is_taken() -> None:
    tied = compared([0.4, 0.4, 0.3, 0.6], [0.2, 0.1])
    swapped = replace(tied, composed=tied.composed[[1, 0, 3, 2, 4, 5]])
    assert [each.links()[0] for each in (tied, swapped)] == [0, 1]
    assert tied.links()[1] == swapped.links()[1] == 3  # clearly likelier, whatever is composed


def test_certain_links_compose_to_the_cell_where_they_lead_back_to() -> None:
    """3 → 2 → 0 in three frames; 4 is linked to nothing."""
    links = MotherBeliefs(np.array([0, 2]), np.array([2, 3]), np.ones(2), np.array([np.nan, np.nan, 0.0, 0.0, 1.0]))
    composed = compose(links, 2)
    assert composed.matrix.row.tolist() == [3]
    assert composed.matrix.column.tolist() == [0]
    assert composed.none[3:].tolist() == [0.0, 1.0]


def test_mixing_keeps_sums_and_leaves_exact_zeros() -> None:
    owner = np.array([0, 0, 0, 1, 1])
    before = np.array([0.98, 0.02, 0.0, 0.5, 0.5])
    after = mixed(before, owner, 2, 0.1)
    np.testing.assert_allclose(np.bincount(owner, after), 1.0)
    assert after[2] == 0
    assert after[1] > before[1]
    np.testing.assert_allclose(after[3:], 0.5)


def drawn(n: int, sharpness: float, seed: int = 0) -> Comparison:
    """Daughters with two options, whose true odds are q and whose told odds are q to the power of `sharpness`."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(2.0, 1.5, n)
    told, true = (1 / (1 + np.exp(-k * logit)) for k in (sharpness, 1.0))
    hit = rng.random(n) < true
    return Comparison(
        daughter=np.concatenate([np.arange(n)] * 3),
        direct=np.concatenate([told, 1 - told, np.zeros(n)]),
        composed=np.concatenate([hit, ~hit, np.zeros(n, bool)]).astype(float),
        is_none=np.repeat([False, False, True], n),
        judged=np.ones(n, bool),
        unreached=np.zeros(n),
    )


def sharpened(comparison: Comparison, tempering: float) -> Comparison:
    n = len(comparison.judged)
    powered = comparison.direct**tempering
    total = np.bincount(comparison.daughter, powered, minlength=n)
    return replace(comparison, direct=powered / total[comparison.daughter])


@pytest.mark.parametrize("true", [1.0, 0.8, 0.6])
def test_the_softening_of_an_overconfident_model_is_found(true: float) -> None:
    given = drawn(4000, 1 / true)
    found = fit_softening(given, lambda tempering: sharpened(given, tempering))
    assert found.tempering == pytest.approx(true, abs=0.1)
    assert found.unknown < 0.01


def test_with_nothing_to_look_at_nothing_changes() -> None:
    given = drawn(4000, 2.0)
    nobody = given.among(np.zeros(4000, bool))
    assert fit_softening(nobody, lambda tempering: nobody) == Softening()
    few = drawn(5, 1.3)
    assert fit_softening(few, lambda tempering: sharpened(few, tempering)).tempering > 0.75


def test_an_edge_across_the_frame_between_counts_directly() -> None:
    """Cell 4's mask may be missing between: it comes from 2 with .6, from 0 across frame 1 with .3; 6 is a step later."""
    mother, daughter = np.array([0, 1, 2, 0, 4, 2]), np.array([2, 3, 4, 4, 6, 6])
    probability, lag = np.array([0.9, 0.9, 0.6, 0.3, 0.5, 0.4]), np.array([1, 1, 1, 2, 1, 2])
    none = np.array([np.nan, np.nan, 0.1, 0.1, 0.1, np.nan, 0.1])
    steps = MotherBeliefs(mother, daughter, probability, none, lag)
    two, three = compose(steps, 2), compose(steps, 3)
    assert two.matrix[4, 0] == pytest.approx(0.6 * 0.9 + 0.3)
    assert two.none[4] == pytest.approx(0.1 + 0.6 * 0.1)
    assert two.matrix[6, 2] == pytest.approx(0.5 * 0.6 + 0.4)
    assert two.none[6] == pytest.approx(0.1 + 0.5 * (0.1 + 0.3))  # across frame 1, cell 4 is not seen there
    assert three.matrix[6, 0] == pytest.approx(0.5 * two.matrix[4, 0] + 0.4 * 0.9)
    assert three.matrix.row_sums()[6] + three.none[6] == pytest.approx(1.0)


def test_the_rate_of_what_is_unknown_is_the_best_of_all_that_are_looked_at() -> None:
    for seed, sharpness in enumerate((0.5, 0.8, 1.0)):
        comparison = drawn(400, sharpness, seed)
        unknown, loss = _best_unknown(comparison)
        losses = []
        for each in UNKNOWNS:
            prior = 0.5 * (np.log(each / PRIOR_UNKNOWN) / PRIOR_UNKNOWN_WIDTH) ** 2
            losses.append(prior + with_share(comparison, each).loss())
        assert unknown == pytest.approx(UNKNOWNS[int(np.argmin(losses))])
        assert loss == pytest.approx(min(losses), abs=1e-6)
