from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.errors import InputError
from dunno.io.filtering import LeftOut, check_limits, long_tracks, sure_links
from dunno.io.writers import export
from dunno.simulate import colony
from dunno.tracking import Tracking
from tests.lineage.hand_made import whole


@pytest.fixture(scope="module")
def tracking() -> Tracking:
    return Tracker("distance", "SM", calibration=None).track(colony(cells=12, frames=12, motion=0.5, cycle=6).movie)


def test_doubtful_links_are_cut_and_counted(tracking: Tracking) -> None:
    left_out = LeftOut()
    (cut,) = sure_links(tracking.blocks, 0.9, left_out)
    before, after = (block.probability[block.links] for block in (tracking.block, cut))
    assert left_out.links == (before < 0.9).sum() == len(before) - len(after) > 0
    assert after.min() >= 0.9


def test_a_division_that_loses_a_daughter_is_counted(tracking: Tracking) -> None:
    left_out = LeftOut()
    list(sure_links(tracking.blocks, 1.1, left_out))
    load = [np.bincount(pair.mother[pair.selected]) for pair in tracking.pairs]
    assert left_out.divisions == sum(int((each > 1).sum()) for each in load) > 0


def test_every_track_that_stays_is_long_enough(tracking: Tracking) -> None:
    left_out = LeftOut()
    kept = replace(tracking, blocks=tuple(long_tracks(lambda: tracking.blocks, 4, left_out)))
    before, after = (Counter(each.cells.track.tolist()) for each in (tracking, kept))
    short = {track: n for track, n in before.items() if n < 4}
    assert left_out.tracks == len(short) > 0
    assert left_out.cells == sum(short.values()) == sum(before.values()) - sum(after.values())
    assert min(after.values()) >= 4


def test_what_stays_keeps_its_links_and_probabilities(tracking: Tracking) -> None:
    kept = replace(tracking, blocks=tuple(long_tracks(lambda: tracking.blocks, 4, LeftOut())))

    def links(cells: object, edges: object) -> dict[tuple[int, ...], float]:
        ends = [getattr(edges, end)[edges.selected] for end in ("mother", "daughter")]  # type: ignore[attr-defined]
        keys = np.column_stack([column for end in ends for column in (cells.frame[end], cells.label[end])])  # type: ignore[attr-defined]
        probability = edges.probability[edges.selected].tolist()  # type: ignore[attr-defined]
        return dict(zip(map(tuple, keys.tolist()), probability, strict=True))

    before, after = links(tracking.cells, tracking.edges), links(kept.cells, kept.edges)
    assert after.items() <= before.items()
    assert 0 < len(after) < len(before)


def test_masks_of_short_tracks_are_not_in_a_challenge_result(tracking: Tracking, tmp_path: Path) -> None:
    import tifffile

    (block,) = long_tracks(lambda: tracking.blocks, 4, LeftOut())
    export("ctc", tmp_path / "ctc", [block], tracking.about, tracking.movie)
    for t, pair in enumerate(block.pairs()):
        mask = tifffile.imread(tmp_path / "ctc" / f"mask{t:03d}.tif")
        assert len(np.unique(mask)) - 1 == len(pair.mothers)
        np.testing.assert_array_equal(mask > 0, np.isin(tracking.movie.masks(t), pair.mothers.label))


def test_links_across_gaps_follow_their_cells() -> None:
    masks = np.zeros((5, 20, 20), int)
    masks[0, 1:3, 1:3] = 1  # a track of one cell, before the others
    masks[:, 10:13, 10:13] = 2
    masks[:, 15:18, 3:6] = 3
    masks[2, 10:13, 10:13] = 0
    tracking = Tracker("distance", "SM", calibration=None, max_distance=3).track(Movie(masks))
    linked = replace(tracking, blocks=(whole(tracking.block, far=[(1, 0, 3, 0, 0.9)]),))
    assert Counter(linked.cells.track.tolist()) == {1: 1, 2: 4, 3: 5}
    kept = replace(linked, blocks=tuple(long_tracks(lambda: linked.blocks, 2, LeftOut())))
    assert Counter(kept.cells.track.tolist()) == {1: 4, 2: 5}
    np.testing.assert_allclose(kept.edges.probability[kept.edges.gap == 1], [0.9])


@pytest.mark.parametrize(("least", "length", "message"), [(1.5, None, "1.5: expected a prob"), (None, 0, "at least 1")])
def test_limits_that_mean_nothing_are_refused(least: float | None, length: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_limits(least, length)
