"""The drawing of the lineage forest."""

import re

import numpy as np
import pytest

from dunno.lineage.tracks import TrackRow
from dunno.report import forest
from dunno.report.families import Family, LeastCertain
from dunno.report.review_address import ReviewAddress


def doubling(generations: int) -> list[TrackRow]:
    """A cell that divides every frame, for some generations."""
    rows = [TrackRow(1, 0, 0, 0)]
    for generation in range(1, generations):
        mothers = [row.track for row in rows if row.first == generation - 1]
        for mother in mothers:
            rows += [TrackRow(len(rows) + 1 + i, generation, generation, mother) for i in range(2)]
    return rows


def family(rows: list[TrackRow], root: int = 1) -> Family:
    return Family(root, len(rows), rows[root - 1].first, max(row.last for row in rows), 0, 0.0, 1.0)


def test_ends_have_rows_of_their_own_and_mothers_lie_between_their_daughters() -> None:
    rows = doubling(4)
    (tree,) = forest.plant([family(rows)], rows)
    ends = sorted(branch.row for branch in tree.branches.values() if not branch.daughters)
    assert ends == list(range(8))
    assert tree.rows == 8
    for branch in tree.branches.values():
        if branch.daughters:
            assert branch.row == np.mean([tree.branches[each].row for each in branch.daughters])
    assert tree.hidden == 0


def test_a_family_too_large_for_the_page_hides_its_late_tracks_and_counts_them() -> None:
    rows = doubling(10)
    (tree,) = forest.plant([family(rows)], rows)
    assert forest.MOST_ROWS_EACH <= tree.rows <= forest.MOST_ROWS
    assert len(tree.branches) + tree.hidden == len(rows) == 1023
    drawn = [branch.track.first for branch in tree.branches.values()]
    assert max(drawn) <= 7  # early generations come first


def test_as_many_families_are_planted_as_there_is_room_for() -> None:
    rows = [TrackRow(track, 0, 5, 0) for track in range(1, 301)]
    families = [Family(row.track, 1, 0, 5, 5, 1 / row.track, 0.5) for row in rows]
    trees = forest.plant(families, rows)
    assert [tree.family.root for tree in trees] == list(range(1, forest.MOST_FAMILIES + 1))


def test_a_line_of_thousands_of_generations_is_drawn() -> None:
    rows = [TrackRow(1, 0, 0, 0)]
    for generation in range(1, 3000):
        rows += [TrackRow(len(rows) + 1 + i, generation, generation, max(len(rows) - 1, 1)) for i in range(2)]
    (tree,) = forest.plant([family(rows)], rows)
    assert len(tree.branches) + tree.hidden == len(rows)


REVIEW = ReviewAddress(50_000)


def least(certainty: np.ndarray) -> LeastCertain:
    """Links of cell 7 of every frame."""
    return LeastCertain(certainty, np.broadcast_to(np.arange(certainty.shape[1]), certainty.shape), certainty * 0 + 7)


def strokes(drawing: str) -> dict[str, str]:
    return dict(re.findall(r'<path class="(sure|good|doubtful|guess)" d="([^"]*)"', drawing))


def test_lines_are_coloured_by_the_probability_of_their_links() -> None:
    frames = np.arange(5)
    rows = [TrackRow(1, 0, 4, 0)]
    trees = forest.plant([family(rows)], rows)
    certainty = np.array([[np.nan, 1.0, 0.95, 0.7, 0.2]])
    drawn = strokes(forest.draw(trees, least(certainty), frames, REVIEW))
    assert set(drawn) == {"sure", "good", "doubtful", "guess"}
    begins = [float(re.match(r"M([\d.]+)", drawn[name]).group(1)) for name in ("sure", "good", "doubtful", "guess")]
    assert begins == sorted(begins)


def test_a_division_is_coloured_by_the_daughters_own_link() -> None:
    rows = [TrackRow(1, 0, 1, 0), TrackRow(2, 2, 2, 1), TrackRow(3, 2, 2, 1)]
    trees = forest.plant([family(rows)], rows)
    row = forest.drawn_tracks(trees)
    certainty = np.full((3, 3), np.nan)
    certainty[row[1], 1], certainty[row[2], 2], certainty[row[3], 2] = 1.0, 1.0, 0.3
    drawn = strokes(forest.draw(trees, least(certainty), np.arange(3), REVIEW))
    assert drawn["guess"].count("V") == drawn["sure"].count("V") == 1


@pytest.mark.parametrize("n_frames", [2, 3, 400, 5000])
def test_frames_are_spread_over_at_most_the_columns_there_are(n_frames: int) -> None:
    place = forest.columns(np.arange(n_frames) * 10)
    assert list(place) == [10 * t for t in range(n_frames)]
    values = list(place.values())
    assert values[0] == 0
    assert values[-1] == min(forest.TREE_COLUMNS, n_frames - 1)
    assert values == sorted(values)


def test_every_doubtful_stretch_leads_to_its_least_certain_link() -> None:
    rows = [TrackRow(1, 0, 1, 0), TrackRow(2, 2, 5, 1), TrackRow(3, 2, 5, 1)]
    trees = forest.plant([family(rows)], rows)
    row = forest.drawn_tracks(trees)
    certainty = np.full((3, 6), np.nan)
    certainty[row[1], 1] = 1.0
    certainty[row[2], 2:] = 0.4, 1.0, 0.8, 0.6
    certainty[row[3], 2:] = 1.0, 0.95, 1.0, 1.0
    drawn = forest.draw(trees, least(certainty), np.arange(6), REVIEW)
    assert re.findall(r'<a href="http://127.0.0.1:50000/at/(\d+):7"', drawn) == ["2", "5"]
