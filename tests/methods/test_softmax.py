import numpy as np

from dunno import Movie, Tracker

from .ambiguity import between_two_mothers


def test_a_daughter_halfway_between_two_mothers_has_even_odds() -> None:
    pair = Tracker("distance", "SM", calibration=None, max_distance=10).track(between_two_mothers()).pairs[0]
    np.testing.assert_allclose(pair.probability, [0.5, 0.5])
    np.testing.assert_allclose(pair.entropy, [np.log(2)])
    assert pair.selected.sum() == 1


def test_probabilities_have_their_closed_form() -> None:
    pair = (
        Tracker("distance", "SM", calibration=None, max_distance=10, appear_cost=8.0)
        .track(between_two_mothers())
        .pairs[0]
    )
    np.testing.assert_allclose(pair.probability, [1 / 3, 1 / 3])
    np.testing.assert_allclose(np.exp(pair.log_no_mother), [1 / 3])
    np.testing.assert_allclose(pair.entropy, [np.log(3)])


def test_without_the_no_mother_class_only_mothers_share() -> None:
    pair = (
        Tracker("distance", "SM", calibration=None, max_distance=10, appear_cost=0.0, no_mother=False)
        .track(between_two_mothers())
        .pairs[0]
    )
    np.testing.assert_allclose(pair.probability, [0.5, 0.5])
    assert pair.log_no_mother.tolist() == [-np.inf]


def test_the_links_are_the_cheapest_assignment_not_each_daughters_favourite() -> None:
    masks = np.zeros((2, 5, 30), int)
    masks[0, 2, 5], masks[0, 2, 12] = 1, 2
    masks[1, 2, [4, 6, 7]] = [1, 2, 3]
    pair = (
        Tracker(
            "distance",
            "SM",
            calibration=None,
            max_distance=15,
            disappear_cost=10.0,
            appear_cost=100.0,
            divide_cost=30.0,
        )
        .track(Movie(masks))
        .pairs[0]
    )
    favourite = [pair.mother[pair.daughter == j][pair.log_probability[pair.daughter == j].argmax()] for j in range(3)]
    assert favourite == [0, 0, 0]
    assert pair.mother[pair.selected].tolist() == [0, 0, 1]


def test_far_away_cells_do_not_overflow() -> None:
    masks = np.zeros((2, 3, 4000), int)
    masks[0, 1, 0], masks[1, 1, 3999] = 1, 1
    pair = Tracker("distance", "SM", calibration=None, max_distance=np.inf).track(Movie(masks)).pairs[0]
    assert np.isfinite(pair.entropy).all()
    np.testing.assert_allclose(pair.probability + np.exp(pair.log_no_mother), [1.0])
