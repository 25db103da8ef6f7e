"""The charts' numbers: series, labels, limits."""

import re

import numpy as np
import pytest

from dunno.report import gallery, link_charts, svg
from dunno.report.survey import Survey, survey
from dunno.tracking import Tracking


@pytest.fixture(scope="module")
def counted(tracking: Tracking) -> Survey:
    return survey(tracking.blocks, tracking.about)


def test_the_histogram_has_a_bar_and_a_number_for_every_bin_with_links(counted: Survey) -> None:
    drawn = link_charts.draw_histogram(counted.histogram)
    filled = counted.histogram[counted.histogram > 0].tolist()
    heights = [float(each) for each in re.findall(r'<rect class="bar".*?height="([\d.]+)"', drawn)]
    assert len(heights) == len(filled)
    assert np.argsort(heights, kind="stable").tolist() == np.argsort(filled, kind="stable").tolist()
    assert re.findall(r'class="small"[^>]*>([\d,]+)<', drawn) == [f"{number:,}" for number in filled]


def test_checking_links_takes_away_what_they_are_expected_to_be_wrong(counted: Survey, tracking: Tracking) -> None:
    found = link_charts.checking(counted)
    chances = np.sort(np.concatenate([pair.probability[pair.selected] for pair in tracking.pairs]))
    for n, wrong in zip(found.checked, found.wrong, strict=True):
        assert wrong == pytest.approx((1 - chances[n:]).sum(), abs=1e-9)
    assert found.checked[0] == 0
    assert found.wrong[-1] <= 0.01 * found.wrong[0]
    assert found.wrong[found.half] <= found.wrong[0] / 2 < found.wrong[found.half - 1]


def test_the_sentence_tells_the_step(counted: Survey) -> None:
    found = link_charts.Checking(np.array([0, 1, 40]), np.array([12.34, 11.4, 0.5]), 1000)
    assert found.sentence(2) == (
        "If you check the 40 least certain links (4.0 % of all), the expected number of wrong links falls from 12 to 0.5: "
        "< 0.1 % of all links."
    )
    assert "the 1 least certain link (" in found.sentence(1)


def test_long_movies_are_pooled_and_nothing_is_lost(counted: Survey) -> None:
    from dataclasses import replace

    rng = np.random.default_rng(0)
    links, wrong = rng.integers(0, 9, 10_001), rng.random(10_001)
    spans = link_charts.over_time(replace(counted, frame=np.arange(1, 10_002), links=links, wrong=wrong))
    assert len(spans.first) <= link_charts.MOST_COLUMNS
    assert spans.links.sum() == links.sum()
    assert (spans.wrong * spans.pairs).sum() == pytest.approx(wrong.sum())
    assert (spans.first[0], spans.last[-1], spans.pairs.sum()) == (1, 10_001, 10_001)
    assert spans.confidence[0] == pytest.approx(1 - wrong[: spans.pairs[0]].sum() / links[: spans.pairs[0]].sum())


def test_frames_without_links_leave_a_gap(counted: Survey) -> None:
    from dataclasses import replace

    spans = link_charts.over_time(
        replace(counted, frame=np.array([1, 2, 3]), links=np.array([2, 0, 2]), wrong=np.array([0.1, 0, 0.2]))
    )
    assert np.isnan(spans.confidence).tolist() == [False, True, False]
    line = re.search(r'<path class="line" d="([^"]*)"', link_charts.draw_over_time(spans)).group(1)
    assert line.count("M") == 2
    assert "nan" not in link_charts.draw_over_time(spans) + link_charts.over_time_table(spans)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 92), (3, 3), (0.95, 1), (-5, 1e6), (0, 1e-7)])
def test_ticks_are_round_and_few(low: float, high: float) -> None:
    ticks = svg.round_values(low, high, 6)
    assert 1 <= len(ticks) <= 6
    assert all(low <= tick <= high * (1 + 1e-9) for tick in ticks)


def test_a_logarithmic_axis_spaces_powers_equally() -> None:
    axis = svg.upwards(1, 1000, top=0, bottom=300, log=True)
    assert axis.ticks() == [1, 10, 100, 1000]
    assert [axis(tick) for tick in axis.ticks()] == pytest.approx([300, 200, 100, 0])


def test_labels_of_cells_side_by_side_do_not_cover_each_other() -> None:
    from dunno.report.crops import Box

    taken: list[gallery.Place] = []
    for left in (40, 45, 50):
        taken.append(gallery._free_place(Box(50, left, 60, left + 4), (30, 10), (100, 100), taken))
    overlaps = [gallery._shared(a, b) for i, a in enumerate(taken) for b in taken[:i]]
    assert overlaps == [0, 0, 0]
    assert all(0 <= left and right <= 100 and 0 <= top and bottom <= 100 for left, top, right, bottom in taken)
