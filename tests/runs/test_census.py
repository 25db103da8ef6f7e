"""What a run counts, against its own tables."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dunno
from dunno import Tracker
from dunno.biology import measure
from dunno.cli import run
from dunno.io.block_files import linked_blocks
from dunno.io.output import read_run
from dunno.lineage.tracks import TrackNumbers, numbered
from dunno.runs.doubtful_links import KEPT_LINKS, ONE_DOUBT_WITHIN, DoubtfulLinks
from dunno.runs.run import track_into
from dunno.runs.summary import Census, Summary
from dunno.simulate import colony
from dunno.tracking import Tracking
from dunno.tracking.division_count import count_interval
from tests.repaired import repaired

__all__ = ["repaired"]


def census_of(tracking: Tracking, with_debris: bool = False) -> Census:
    found = Census(tracking.about, with_debris)
    numbers = TrackNumbers()
    for part in numbered(tracking.blocks, numbers):
        found.write(part)
    found.finish(numbers.table())
    return found


@pytest.fixture(scope="module")
def tables(repaired: Path) -> tuple[dict, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    told = json.loads((repaired / "run.json").read_text())["summary"]
    return told, *(pd.read_csv(repaired / f"{name}.csv") for name in ("tracks", "detections", "edges"))


def test_debris_is_in_the_tables_and_not_in_the_counts(tables: tuple) -> None:
    told, tracks, cells, edges = tables
    p_cell = cells.groupby("track").p_cell.mean()
    np.testing.assert_allclose(tracks.p_cell, p_cell, atol=1e-6)
    is_cell = tracks.track[tracks.p_cell >= 0.5]
    assert told["debris_tracks"] == len(tracks) - len(is_cell) > 0
    assert told["tracks"] == len(is_cell)
    assert told["cells"] == cells.track.isin(is_cell).sum() < len(cells)
    counted = tracks[tracks.track.isin(is_cell)]
    assert told["divisions"] == (counted.ending == "division").sum()
    assert told["cells_at_start"] == (counted.first_frame == 0).sum()
    assert told["cells_at_end"] == (counted.last_frame == 13).sum()
    links = edges[edges.selected == 1].merge(cells, left_on=["frame", "daughter"], right_on=["frame", "label"])
    links = links[links.track.isin(is_cell)]
    assert told["links"] == len(links)
    assert told["expected_wrong_links"] == pytest.approx((1 - links.probability).sum(), abs=1e-6)
    assert all(each["track"] in set(is_cell) for each in told["least_certain"])


def test_every_face_says_the_same_numbers(repaired: Path, tables: tuple) -> None:
    """What `run.json` says is what a notebook, `tracking.divisions()` and `dunno measure` say."""
    told, *_ = tables
    tracking = dunno.open(repaired)
    counted = tracking.without_debris()
    low, high = told["divisions_interval"]
    assert counted.divisions()[1:] == (low, high)
    assert counted.divisions().expected == pytest.approx(told["expected_divisions"])
    assert counted.expected_wrong_links() == pytest.approx(told["expected_wrong_links"])
    shown = tracking._repr_html_()
    assert f"{told['links']:,} links, {told['expected_wrong_links']:,.1f} of them expected" in shown
    assert (
        f"{told['cells_at_start']} cells at the start, {told['cells_at_end']} at the end; {told['tracks']} tracks"
        in shown
    )
    assert f"{told['divisions']} divisions ({low} to {high}, 95 %)" in shown
    assert f"{told['debris_tracks']} of {told['tracks'] + told['debris_tracks']} tracks are taken for debris" in shown
    measured = measure(tracking, samples=20)
    figure = measured.figures[0]
    assert (figure.low, figure.value, figure.high) == (low, counted.divisions().about, high)
    assert figure.reported == told["divisions"]


def test_drawn_lineages_hold_the_doubt_of_the_number(repaired: Path) -> None:
    """Where the odds of divisions are in doubt, no division is in every lineage."""
    tracking = dunno.open(repaired)
    sure = {**tracking.about.calibration, "division_doubt": 0.0}
    doubted = {**tracking.about.calibration, "division_doubt": 2.0}
    counts = [
        [
            int((each.block.load >= 2).sum())
            for each in replace(tracking, about=replace(tracking.about, calibration=how)).sample(80)
        ]
        for how in (sure, doubted)
    ]
    count = replace(tracking, about=replace(tracking.about, calibration=doubted)).divisions()
    assert min(counts[1]) < min(counts[0])
    assert np.quantile(counts[1], 0.025) == pytest.approx(count.low, abs=3)


def test_with_debris_everything_counts(repaired: Path, tables: tuple) -> None:
    told, tracks, cells, _ = tables
    found = census_of(dunno.open(repaired), with_debris=True).summary
    assert (found.tracks, found.cells) == (len(tracks), len(cells))
    assert found.debris_tracks == told["debris_tracks"]
    assert found.links > told["links"]


def test_counts_of_repairs_are_masks_not_rows(repaired: Path, tables: tuple) -> None:
    told, *_ = tables
    with (repaired / "repairs.csv").open() as file:
        rows = list(csv.DictReader(file))
    for what, n in told["repairs"].items():
        assert n == len({(row["frame"], row["mask"]) for row in rows if row["what"] == what})
    assert told["repairs"]["split"] < sum(row["what"] == "split" for row in rows)


def test_a_ctc_result_leaves_debris_out_as_a_whole(repaired: Path, tables: tuple) -> None:
    told, tracks, *_ = tables
    assert len(np.loadtxt(repaired / "ctc" / "res_track.txt")) >= told["tracks"]
    longest = tracks[tracks.p_cell < 0.5].iloc[0]
    masks = dunno.read(repaired / "ctc").masks(int(longest.first_frame))
    everything = dunno.open(repaired).masks(int(longest.first_frame))
    assert len(np.unique(masks)) < len(np.unique(everything))


def test_a_division_in_this_frame_or_the_next_is_one() -> None:
    """What is believed of a young daughter is its mother's: together they cannot divide more than once."""
    tracking = Tracker(workers=1, evidence="places").track(
        colony(cells=12, frames=12, motion=0.1, cycle=8, seed=1).movie
    )
    block = tracking.block
    mothers = np.flatnonzero(block.load >= 2)
    daughters = block.daughter[block.links[np.isin(block.mother[block.links], mothers)]]
    p = np.zeros(len(block.cells))
    p[daughters], p[mothers] = 0.5, 1.0  # daughters in the last frame are nobody's mothers
    both = replace(tracking, blocks=(replace(block, log_divide=np.log(np.maximum(p, 1e-300))),))
    found = census_of(both).summary
    seen = int((mothers < block.begin[-2]).sum())
    assert len(mothers) - 1 <= found.expected_divisions <= len(mothers) == seen > 5
    assert found.divisions_interval[1] <= len(mothers)


def test_the_interval_is_that_of_drawn_lineages() -> None:
    tracking = Tracker(workers=1, evidence="places").track(
        colony(cells=30, frames=20, motion=0.12, cycle=15, seed=3).movie
    )
    found = census_of(tracking).summary
    drawn = [(each.block.load >= 2).sum() for each in tracking.sample(200)]
    np.testing.assert_allclose(found.divisions_interval, np.quantile(drawn, [0.025, 0.975]), atol=3)
    assert found.divisions_interval[0] < found.divisions_interval[1]


def test_the_interval_of_a_count_is_that_of_coins() -> None:
    p = np.random.default_rng(1).random(60)
    pmf = np.ones(1)
    for each in p:
        pmf = np.convolve(pmf, [1 - each, each])
    ends = np.searchsorted(np.cumsum(pmf), [0.025, 0.975])
    np.testing.assert_allclose(count_interval(p), ends, atol=1)
    wider = count_interval(p, doubt=0.5)
    assert wider[0] < ends[0] and wider[1] > ends[1]
    assert count_interval(np.ones(7)) == (7, 7)
    assert count_interval(np.zeros(0)) == (0, 0)


def test_methods_without_divisions_say_none() -> None:
    movie = colony(cells=6, frames=5).movie
    found = census_of(Tracker("distance", "SM", calibration=None).track(movie)).summary
    assert found.expected_divisions is found.divisions_interval is found.doubling_time is None


def test_how_fast_cells_double_is_in_hours_where_the_interval_is_known() -> None:
    simulated = colony(cells=12, frames=16, motion=0.1, cycle=8, seed=1)
    frames = census_of(Tracker(workers=1).track(simulated.movie)).summary
    simulated.movie.interval = 30.0
    hours = census_of(Tracker(workers=1).track(simulated.movie)).summary
    assert (frames.time_unit, hours.time_unit) == ("frames", "hours")
    assert frames.doubling_time == pytest.approx(8, rel=0.35)
    assert hours.doubling_time == pytest.approx(frames.doubling_time / 2)
    assert hours.doubling_time_interval[0] <= hours.doubling_time <= hours.doubling_time_interval[1]


def test_one_doubt_has_one_row() -> None:
    """The same cell in near frames is one question, and so are two cells that may have changed places."""
    tracking = Tracker(workers=1, evidence="places").track(colony(cells=25, frames=12, motion=0.5, seed=3).movie)
    block = tracking.block
    (numbered_block,) = numbered([block], TrackNumbers())
    doubts = DoubtfulLinks()
    assert len(doubts.follow(numbered_block)) == min(len(block.links), KEPT_LINKS)
    listed = doubts.listed(20)
    assert listed[0].probability == pytest.approx(block.probability[block.links].min())
    assert max(each.links for each in listed) >= 3
    near = [(a, b) for a in listed for b in listed if a is not b and abs(a.frame - b.frame) <= ONE_DOUBT_WITHIN]
    assert near and all(a.track != b.track for a, b in near)
    for each in listed:
        assert each.probability + each.p_instead <= 1 + 1e-9
        if each.instead:
            swapped = [other for a, other in near if a is each and other.mother == each.instead]
            assert all(other.mother_frame != each.mother_frame for other in swapped)


def test_what_else_may_be_lies_in_any_frame() -> None:
    """A cell that has no mother in the frame of the reported one need not be new: it may come from another frame."""
    made = colony(cells=14, frames=14, motion=0.3, seed=3).movie
    masks, rng = np.stack([made.masks(t) for t in range(len(made))]), np.random.default_rng(3)
    for frame in masks[1:-1]:
        frame[np.isin(frame, rng.choice(np.unique(frame)[1:], 2, replace=False))] = 0
    tracking = Tracker(workers=1, evidence="places", max_gap=2).track(dunno.Movie(masks))
    block = tracking.block
    (numbered_block,) = numbered([block], TrackNumbers())
    row = {
        (int(t), int(label)): k
        for k, (t, label) in enumerate(zip(numbered_block.frame, block.cells.label, strict=True))
    }
    elsewhere = 0
    for each in DoubtfulLinks().follow(numbered_block):
        into = np.flatnonzero(block.daughter == row[each.frame, each.daughter])
        known = {
            (int(numbered_block.frame[mother]), int(block.cells.label[mother])): float(p)
            for mother, p in zip(block.mother[into], block.probability[into], strict=True)
        }
        none = max(1 - sum(known.values()), 0.0)
        known.pop((each.mother_frame, each.mother))
        assert each.p_instead == pytest.approx(max(none, *known.values(), 0.0))
        if each.instead:
            assert known[each.instead_frame, each.instead] == pytest.approx(each.p_instead)
            elsewhere += each.instead_frame != each.mother_frame
        else:
            assert each.instead_frame == -1
    assert elsewhere > 0


def test_a_summary_goes_through_json(repaired: Path) -> None:
    told = json.loads((repaired / "run.json").read_text())["summary"]
    assert Summary.of_dict(told).to_dict() == json.loads(json.dumps(told)) | {
        "least_certain": [each.__dict__ for each in Summary.of_dict(told).least_certain] and told["least_certain"]
    }
    older = {name: told[name] for name in ("frames", "cells", "links", "least_certain", "broken")}
    assert Summary.of_dict(older).cells_at_start == 0


def test_counts_are_the_same_wherever_blocks_begin(tmp_path: Path) -> None:
    """A run of several blocks counts what one block of all frames counts."""
    movie = colony(cells=6, frames=140, motion=0.2, cycle=60, seed=3).movie
    run_ = track_into(Tracker(workers=1, evidence="places"), movie, tmp_path / "out")
    blocks = tuple(linked_blocks(tmp_path / "out"))
    assert len(blocks) > 1
    tracking = Tracking(movie, blocks, read_run(tmp_path / "out"))
    alone = census_of(replace(tracking, blocks=(tracking.block,))).summary
    mine, theirs = run_.summary.to_dict(), alone.to_dict()
    for name in ("expected_wrong_links", "mean_confidence", "expected_divisions", "doubling_time"):
        assert mine.pop(name) == pytest.approx(theirs.pop(name))
    for name in ("doubling_time_interval", "least_certain"):
        mine.pop(name), theirs.pop(name)
    assert mine == theirs


def test_track_counts_debris_if_asked(repaired: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The masks as repaired, tracked again: nothing is repaired there, and the option is taken."""
    masks = tmp_path / "masks"
    assert run(["repair", str(repaired), "-o", str(masks), "-q", "--with-debris"]) == 0
    assert run(["track", str(masks), "-o", str(tmp_path / "out"), "--with-debris", "--no-repair", "-q"]) == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["summary"]["with_debris"] is True
