import numpy as np

from dunno.biology import CellRows, Lineage
from dunno.biology.figures import QUANTITIES, growth_rates, step_speeds
from dunno.biology.lineage import BORN, ENDED
from dunno.biology.tables import cycles, divisions_by_frame, families, frames, support
from dunno.simulate import colony as simulate
from dunno.tracking.tracker import Tracker

from .families import colony, rows_of


def figure(name: str, lineage: Lineage) -> float:
    return next(kind for kind in QUANTITIES if kind.name == name).compute(lineage)[0]


def test_tracks_know_how_they_began_and_ended() -> None:
    found = colony()
    assert [BORN[i] for i in found.born_by] == ["start", "division", "division", "division", "division", "appearing"]
    assert [ENDED[i] for i in found.ended_by] == ["division", "division", "loss", "end", "end", "end"]
    assert found.came_from.tolist() == [-1, 0, 0, 1, 1, -1]
    assert found.generation.tolist() == [0, 1, 1, 2, 2, 0]
    assert found.sister.tolist() == [-1, 2, 1, 4, 3, -1]
    assert found.family.tolist() == [0, 0, 0, 0, 0, 5]


def test_durations_run_from_birth_to_the_daughters_birth() -> None:
    found = colony()
    assert found.duration.tolist() == [10, 20, 10, 10, 10, 10]
    assert found.complete.tolist() == [False, True, False, False, False, False]
    np.testing.assert_array_equal(found.division, [10, 30, np.nan, np.nan, np.nan, np.nan])
    assert figure("divisions", found) == 2
    assert figure("median_cycle", found) == 20
    assert figure("division_rate", found) == 2 / 70
    assert figure("clone_size", found) == 2


def test_a_cell_that_leaves_is_not_lost() -> None:
    lineage = colony()
    at_border = np.zeros(11, bool)
    at_border[[4, 7]] = True
    found = Lineage.from_mothers(rows_of([1, 2, 2, 3, 3], at_border=at_border), lineage.mother)
    assert ENDED[found.ended_by[2]] == BORN[found.born_by[5]] == "border"
    assert cycles(found, [])["censored"].tolist() == ["start", "", "border", "end", "end", "border; end"]


def test_masks_without_a_cell_belong_to_no_track() -> None:
    lineage = colony()
    alive = np.ones(11, bool)
    alive[[2, 4]] = False  # C was no cell, so that A did not divide
    found = Lineage.from_mothers(lineage.rows, lineage.mother, alive)
    assert found.track.tolist() == [0, 0, -1, 0, -1, 1, 2, 3, 1, 2, 3]
    assert figure("divisions", found) == 1
    assert ENDED[found.ended_by[0]] == "division"


def test_links_across_gaps_carry_a_track_on() -> None:
    found = Lineage.from_mothers(rows_of([1, 0, 1, 1]), np.array([-1, 0, 1]))
    assert found.track.tolist() == [0, 0, 0]
    speed, _ = step_speeds(found)
    assert speed.tolist() == [5 / 20, 5 / 10]


def test_growth_is_the_slope_of_the_logarithm() -> None:
    area = np.exp(0.02 * 10.0 * np.arange(4))
    found = Lineage.from_mothers(rows_of([1, 1, 1, 1], area=area), np.array([-1, 0, 1, 2]))
    np.testing.assert_allclose(growth_rates(found), [0.02])


def test_families_are_trees() -> None:
    told = families(colony(), [colony()])
    assert told["tree"].tolist() == ["((4:10,5:10)2:20,3:10)1:10;", "6:10;"]
    assert told["clone_size"].tolist() == [2, 1]
    assert told["divisions_low"].tolist() == told["divisions_high"].tolist() == told["divisions"].tolist() == [2, 0]


def test_frames_count_events() -> None:
    told = frames(colony(), [colony(), colony()])
    assert told["divisions"].tolist() == told["divisions_high"].tolist() == [0, 1, 0, 1, 0]
    assert told["appearing"].tolist() == [0, 0, 0, 1, 0]
    assert told["lost"].tolist() == [0, 0, 1, 0, 0]


def test_support_is_the_share_of_draws_with_the_same_cycle() -> None:
    lineage = colony()
    other = Lineage.from_mothers(lineage.rows, np.array([-1, 0, 0, 1, 2, 3, 4, -1, 5, 6, 7]))
    assert support(lineage, [lineage, other]).tolist() == [1, 0.5, 0.5, 0.5, 0.5, 1]


def test_the_lineage_of_a_tracking_has_the_tracks_of_its_table() -> None:
    tracking = Tracker("distance", "SM", calibration=None).track(
        simulate(cells=12, frames=10, motion=0.4, cycle=6).movie
    )
    found = Lineage.of(CellRows.of(tracking), tracking)
    rows, frame = tracking.tracks(), found.rows.frames
    assert [row.mother for row in rows] == (found.came_from + 1).tolist()
    assert [row.first for row in rows] == frame[found.rows.t[found.first]].tolist()
    assert [row.last for row in rows] == frame[found.rows.t[found.last]].tolist()
    assert (found.track + 1).tolist() == tracking.cells.track.tolist()
    assert divisions_by_frame(found).sum() == (found.ended_by == 0).sum() > 0
