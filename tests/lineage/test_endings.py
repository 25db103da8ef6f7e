"""How tracks end, on pairs made by hand and on a small movie."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker
from dunno.io.block_files import read_block, write_block
from dunno.lineage.tracks import TrackNumbers, TrackRow, numbered
from dunno.types import Block
from tests.lineage.hand_made import pair, whole


def tracks(block: Block) -> list[TrackRow]:
    numbers = TrackNumbers()
    list(numbered([block], numbers))
    return numbers.table()


def ends(*pairs: Block, far: list[tuple[int, int, int, int, float]] | None = None) -> list[tuple[str, float | None]]:
    rows = tracks(whole(*pairs, far=far))
    return [(row.ending, None if row.p_ending is None else round(row.p_ending, 9)) for row in rows]


def test_divisions_losses_and_the_end_of_the_movie() -> None:
    first = pair(0, (3, 3), [(0, 0, 0.9), (0, 1, 0.8), (1, 2, 1.0)])
    assert ends(first) == [("division", 0.6), ("end", 1.0), ("lost", 0.3), ("end", 1.0), ("end", 1.0)]


def test_whoever_is_lost_more_probably_across_the_border_left_there() -> None:
    first = pair(0, (2, 0), [], border_share=np.array([0.9, 0.2]))
    assert ends(first) == [("border", 0.3 * 0.9), ("lost", 0.3 * 0.8)]


def test_methods_that_know_of_no_losses_say_no_probability() -> None:
    first = pair(0, (1, 0), [], log_disappear=None, log_divide=None)
    assert ends(first) == [("lost", None)]


def test_two_cells_that_merge_and_come_apart() -> None:
    into = pair(0, (2, 1), [(0, 0, 0.9), (1, 0, 0.6)], two=np.array([False, False, True]))
    out = pair(1, (1, 2), [(0, 0, 0.9), (0, 1, 0.5)], two=np.array([True, False, False]))
    assert ends(into, out) == [("merged", 0.9), ("merged", 0.6), ("apart", 0.5), ("end", 1.0), ("end", 1.0)]


def test_a_mask_that_is_no_object_is_not_lost() -> None:
    assert ends(pair(0, (1, 0), [], p_segment=np.array([0.25]))) == [("false", 0.75)]


def test_nobody_knows_what_happens_before_a_frame_that_cannot_be_read() -> None:
    unknown = np.full(1, np.nan)
    assert ends(pair(0, (1, 0), [], log_disappear=unknown, log_divide=unknown)) == [("broken", None)]


def test_a_track_that_goes_on_across_a_gap_is_not_lost_before_it() -> None:
    first, second, far = pair(0, (1, 0), []), pair(1, (0, 1), []), [(0, 0, 2, 0, 0.9)]
    assert ends(first, second, pair(2, (1, 0), []), far=far) == [("lost", 0.3)]
    assert ends(first, second, far=far) == [("end", 1.0)]


def test_a_division_across_a_gap_is_one() -> None:
    first, second = pair(0, (1, 0), []), pair(1, (0, 2), [])
    far = [(0, 0, 2, 0, 0.9), (0, 0, 2, 1, 0.9)]
    assert ends(first, second, far=far) == [("division", 0.6), ("end", 1.0), ("end", 1.0)]


@pytest.fixture(scope="module")
def lattice() -> Movie:
    """Cells on a lattice that jitter; after frame 10 one in the middle is gone, and one at the edge has walked out."""
    rng = np.random.default_rng(5)
    frames = np.zeros((16, 160, 160), np.int64)
    for t in range(16):
        for i, j in np.ndindex(7, 7):
            middle = np.array([20 + 20 * i, 20 + 20 * j]) + np.rint(rng.normal(0, 1.2, 2)).astype(int)
            if t > 10 and (i, j) in ((3, 3), (0, 4)):
                continue
            middle[0] -= 2 * max(t - 6, 0) if (i, j) == (0, 4) else 0
            y, x = middle
            frames[t, y - 3 : y + 4, x - 3 : x + 4] = 1 + 7 * i + j
    return Movie(frames)


def test_a_cell_that_walks_out_leaves_and_one_in_the_middle_is_lost(lattice: Movie, tmp_path: Path) -> None:
    tracking = Tracker(workers=1, evidence="places").track(lattice)
    rows = {row.track: row for row in tracking.tracks()}
    assert {row.ending for row in rows.values()} == {"end", "border", "lost"}
    assert rows[1 + 4].ending == "border" and rows[1 + 4].p_ending > 0.5
    assert rows[1 + 24].ending == "lost" and rows[1 + 24].p_ending > 0.5
    write_block(tmp_path / "block.npz", tracking.block)
    assert [*rows.values()] == replace(tracking, blocks=(read_block(tmp_path / "block.npz"),)).tracks()
