"""What a notebook shows of a tracking."""

from typing import Any

import numpy as np
import pytest

from dunno import Tracker, evaluation
from dunno.errors import InputError
from dunno.simulate import colony
from dunno.tracking import Tracking

MADE = colony(cells=30, frames=40, motion=0.35, seed=2)


@pytest.fixture(scope="module")
def tracking() -> Tracking:
    return Tracker(workers=1).track(MADE.movie)


@pytest.fixture
def ax() -> Any:
    figure = pytest.importorskip("matplotlib.figure")
    return figure.Figure().subplots()


def test_a_notebook_shows_verdict_counts_and_bars(tracking: Tracking) -> None:
    formatters = pytest.importorskip("IPython.core.formatters")
    shown = formatters.HTMLFormatter()(tracking)
    links = sum(len(pair.link_probability) for pair in tracking.pairs)
    assert f"<b>simulation</b>: 40 frames, {links:,} links, {tracking.expected_wrong_links():.1f} of them" in shown
    assert "probabilities <b>supported</b>: with every second frame left out" in shown
    likely = tracking.divisions()
    there = [
        sum(getattr(row, name) == frame for row in tracking.tracks()) for name, frame in (("first", 0), ("last", 39))
    ]
    assert f"{there[0]} cells at the start, {there[1]} at the end; {len(tracking.tracks())} tracks, " in shown
    assert f" divisions ({likely.low} to {likely.high}, 95 %)" in shown
    counts = [int(part.split("</td>")[0]) for part in shown.split("</div></td><td>")[1:]]
    assert len(counts) == 5 and sum(counts) == links


def test_a_lineage_is_drawn_with_the_probability_of_each_link(tracking: Tracking, ax: Any) -> None:
    tracking.plot_lineage(ax=ax)
    (drawn,) = ax.collections
    cells, edges = tracking.cells, tracking.edges
    shown = {int(text.get_text()) for text in ax.get_yticklabels()}
    links = (
        edges.selected
        & np.isin(cells.track[edges.daughter], list(shown))
        & np.isin(cells.track[edges.mother], list(shown))
    )
    np.testing.assert_allclose(drawn.get_array(), edges.probability[links])
    doubtful = edges.probability[links] < 0.9
    assert 0 < doubtful.sum() == len(ax.texts)
    assert ax.texts[0].get_text() == f"{edges.probability[links][doubtful][0]:.2f}"
    born = [row for row in tracking.tracks() if row.mother]
    assert len(shown) > 3 and all((row.track in shown) == (row.mother in shown) for row in born)


def test_the_family_of_any_track_is_drawn(tracking: Tracking, ax: Any) -> None:
    daughter = next(row for row in tracking.tracks() if row.mother)
    tracking.plot_lineage(daughter.track, ax=ax)
    shown = {int(text.get_text()) for text in ax.get_yticklabels()}
    assert {daughter.track, daughter.mother} <= shown
    with pytest.raises(InputError, match="there is no track 9999"):
        tracking.plot_lineage(9999, ax=ax)


def test_promised_is_drawn_against_found(tracking: Tracking, ax: Any) -> None:
    tracking.plot_promised(ax)
    points = ax.containers[0].lines[0].get_xydata()
    bins = np.array(tracking.about["calibration"]["skipping"][0]["bins"])
    np.testing.assert_allclose(points, np.maximum(bins[:, :2], 1e-4))
    assert ax.get_title() == "probabilities supported"


def test_without_a_test_it_says_what_can_be_drawn(ax: Any) -> None:
    plain = Tracker(calibration=None, workers=1).track(MADE.movie)
    with pytest.raises(InputError, match="calibration_curve"):
        plain.plot_promised(ax)
    evaluation.calibration_curve(plain, MADE.truth).plot(ax)  # as it says
    assert ax.get_xlabel() == "confidence"
