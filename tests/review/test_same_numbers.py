"""A review counts what the screen, the report and the tables count."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dunno import Movie, Tracker
from dunno.io.block_files import stored_blocks
from dunno.review import Review
from dunno.runs.run import track_into
from dunno.simulate import colony
from tests.repaired import repaired

__all__ = ["repaired"]


@pytest.fixture(scope="module")
def with_gaps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several blocks; links across gaps are taken back where the block before has linked their mothers."""
    made = colony(cells=14, frames=70, motion=0.3, cycle=80.0, seed=3)
    rng = np.random.default_rng(3)
    masks = np.stack([made.movie.masks(t) for t in range(70)])
    for frame, labels in zip(masks, made.truth.labels, strict=True):
        frame[np.isin(frame, labels[rng.random(len(labels)) < 0.12])] = 0
    folder = tmp_path_factory.mktemp("gaps") / "out"
    track_into(Tracker(workers=1, evidence="places", max_gap=3), Movie(masks), folder)
    return folder


def as_told(folder: Path) -> tuple[int, float]:
    told = json.loads((folder / "run.json").read_text())["summary"]
    return told["links"], pytest.approx(told["expected_wrong_links"], abs=1e-6)


def test_links_that_were_taken_back_between_blocks_are_none(with_gaps: Path) -> None:
    stored = sum(int(block.selected.sum()) for block in stored_blocks(with_gaps))
    links, wrong = as_told(with_gaps)
    assert stored > links
    with Review.open(with_gaps, read_only=True) as review:
        assert (review.table.links, review.table.expected_wrong_links) == (links, wrong)
        shown = sum(int(review.pair(t).selected.sum() + review.pair(t).earlier.selected.sum()) for t in range(69))
        assert shown == links


def test_debris_is_neither_counted_nor_asked_about(repaired: Path) -> None:
    links, wrong = as_told(repaired)
    tracks, cells = (pd.read_csv(repaired / f"{name}.csv") for name in ("tracks", "detections"))
    of_debris = cells[cells.track.isin(tracks.track[tracks.p_cell < 0.5]) & (cells.frame > 0)]
    with Review.open(repaired, read_only=True) as review:
        table = review.table
        assert (table.links, table.expected_wrong_links) == (links, wrong)
        assert {table.cell(row) for row in np.flatnonzero(table.debris)} == {
            (frame, label) for frame, label in zip(of_debris.frame, of_debris.label, strict=True)
        }
        rows = np.flatnonzero(table.debris)
        assert len(rows) and not review.unanswered[rows].any()
        assert table.over_time().sum() == pytest.approx(table.error[~table.debris].sum())
