"""What a report counts, against brute force over all links."""

import itertools

import numpy as np
import pytest

from dunno.report.doubts import SHOWN_MOTHERS
from dunno.report.survey import HISTOGRAM_BINS, SHOWN_DOUBTS, Survey, _Largest, survey
from dunno.tracking import Tracking


@pytest.fixture(scope="module")
def counted(tracking: Tracking) -> Survey:
    return survey(iter(tracking.blocks))


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
    from dataclasses import asdict

    told = json.loads((tracks / "run.json").read_text())["summary"]
    mine = asdict(counted.summary)
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


def test_the_least_certain_links_are_the_least_certain_links(counted: Survey, links: list) -> None:
    shown = [(doubt.probability, doubt.frame, doubt.daughter, doubt.mother.label) for doubt in counted.doubts]
    assert len(shown) == SHOWN_DOUBTS
    assert shown == links[:SHOWN_DOUBTS]
    np.testing.assert_allclose(counted.doubt, [1 - p for p, *_ in links], atol=1e-15)


def test_a_doubts_options_sum_to_one_likeliest_first(counted: Survey, tracking: Tracking) -> None:
    for doubt in counted.doubts:
        chances = [each.probability for each in doubt.mothers]
        assert sum(chances) + doubt.p_others + doubt.p_no_mother == pytest.approx(1)
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
