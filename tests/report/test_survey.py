"""What a report counts, against brute force over all links."""

import itertools

import numpy as np
import pytest

from dunno.report.doubts import SHOWN_MOTHERS
from dunno.report.survey import HISTOGRAM_BINS, SHOWN_DOUBTS, Survey, _Largest, survey
from dunno.runs.doubtful_links import ONE_DOUBT_WITHIN
from dunno.tracking import Tracking


@pytest.fixture(scope="module")
def counted(tracking: Tracking) -> Survey:
    return survey(iter(tracking.blocks), tracking.about)


@pytest.fixture(scope="module")
def links(tracking: Tracking) -> list[tuple[float, int, int, int]]:
    """Probability, frame, daughter and mother of every link, least certain first."""
    found = []
    for pair in tracking.pairs:
        for edge in np.flatnonzero(pair.selected):
            daughter, mother = pair.daughters.label[pair.daughter[edge]], pair.mothers.label[pair.mother[edge]]
            found.append((float(np.exp(pair.log_probability[edge])), pair.daughter_frame, int(daughter), int(mother)))
    return sorted(found)


def test_the_summary_is_that_of_the_run(counted: Survey, tracking: Tracking, tracks) -> None:  # noqa: ANN001
    import json

    told = json.loads((tracks / "run.json").read_text())["summary"]
    mine = json.loads(json.dumps(counted.summary.to_dict()))
    assert mine.pop("expected_wrong_links") == pytest.approx(told.pop("expected_wrong_links"))
    assert mine == told
    assert counted.wrong.sum() == pytest.approx(tracking.expected_wrong_links())


def test_histogram_and_share_of_sure_links_count_every_link(counted: Survey, links: list) -> None:
    confidence = [link[0] for link in links]
    by_hand = [
        sum(low / HISTOGRAM_BINS < p <= (low + 1) / HISTOGRAM_BINS for p in confidence) for low in range(HISTOGRAM_BINS)
    ]
    assert counted.histogram.tolist() == by_hand
    assert counted.histogram.sum() == counted.summary.links
    assert counted.share_sure == sum(p > 0.99 for p in confidence) / len(confidence)


def test_every_frame_has_its_links_and_expected_errors(counted: Survey, links: list) -> None:
    assert counted.frame.tolist() == list(range(1, 12))
    for frame, number, wrong in zip(counted.frame, counted.links, counted.wrong, strict=True):
        here = [p for p, at, *_ in links if at == frame]
        assert number == len(here)
        assert wrong == pytest.approx(sum(1 - p for p in here))


def test_the_least_certain_links_are_shown_once_for_each_doubt(
    counted: Survey, links: list, tracking: Tracking
) -> None:
    """By brute force: going up the links, one is left out that is about a cell of one before, in a near frame."""
    cells = tracking.cells
    track = dict(zip(zip(cells.frame.tolist(), cells.label.tolist(), strict=True), cells.track.tolist(), strict=True))
    heads: list[tuple[float, int, int, int]] = []
    about: list[tuple[int, set[int]]] = []
    for p, frame, daughter, mother in links:
        pair = tracking.pairs[frame - 1]
        row = pair.daughters.label.tolist().index(daughter)
        own = np.flatnonzero(pair.daughter == row)
        others = [(float(pair.probability[e]), int(pair.mothers.label[pair.mother[e]])) for e in own]
        others = sorted(each for each in others if each[1] != mother)[-1:]
        concerned = {track[frame, daughter], track[frame - 1, mother]}
        if others and others[0][0] >= np.exp(pair.log_no_mother[row]):
            concerned.add(track[frame - 1, others[0][1]])
        if not any(abs(frame - f) <= ONE_DOUBT_WITHIN and tracks & concerned for f, tracks in about):
            heads.append((p, frame, daughter, mother))
            about.append((frame, concerned))
    shown = [(doubt.probability, doubt.frame, doubt.daughter, doubt.mother.label) for doubt in counted.doubts]
    assert len(shown) == SHOWN_DOUBTS
    assert shown == heads[:SHOWN_DOUBTS]
    assert shown != links[:SHOWN_DOUBTS]  # several are about the same
    assert max(doubt.links for doubt in counted.doubts) > 1
    np.testing.assert_allclose(counted.doubt, [1 - p for p, *_ in links], atol=1e-15)


def test_a_doubts_options_sum_to_one_likeliest_first(counted: Survey, tracking: Tracking) -> None:
    for doubt in counted.doubts:
        chances = [each.probability for each in doubt.mothers]
        assert sum(chances) + doubt.p_others + doubt.p_elsewhere + doubt.p_no_mother == pytest.approx(1)
        assert chances == sorted(chances, reverse=True)
        assert 1 <= len(chances) <= SHOWN_MOTHERS + 1
        pair = tracking.pairs[doubt.frame - 1]
        index = pair.daughters.label.tolist().index(doubt.daughter)
        assert len(chances) + doubt.others == (pair.daughter == index).sum()


def test_a_sister_is_told_where_the_mother_divides(counted: Survey, tracking: Tracking) -> None:
    divided = 0
    for doubt in counted.doubts:
        pair = tracking.pairs[doubt.frame - 1]
        mother = pair.mothers.label.tolist().index(doubt.mother.label)
        daughters = set(pair.daughters.label[pair.daughter[pair.selected & (pair.mother == mother)]].tolist())
        assert daughters == {doubt.daughter} | ({doubt.sister} if doubt.sister else set())
        divided += bool(doubt.sister)
    assert divided


def test_the_largest_of_a_stream_are_kept_in_little_room() -> None:
    rng = np.random.default_rng(0)
    parts = [rng.random(size) for size in rng.integers(0, 300, size=60)]
    kept = _Largest(100)
    for part in parts:
        kept.add(part)
        assert kept.held <= 4 * 100 + 300
    everything = sorted(itertools.chain(*parts), reverse=True)
    assert kept.values().tolist() == everything[:100]
