import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dunno import Tracker
from dunno.errors import InputError
from dunno.lineage.resting import rest_of, rested
from dunno.simulate import colony as simulate
from dunno.tracking import Tracking
from dunno.tracking.forests import draw_links


@pytest.fixture(scope="module")
def tracking() -> Tracking:
    return Tracker("distance", "SM", calibration=None).track(simulate(cells=12, frames=10, motion=0.4, cycle=6).movie)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def n_cells(tracking: Tracking) -> int:
    return sum(len(tracking.movie.detections(t)) for t in range(len(tracking.movie)))


def test_pandas_and_csv_agree(tracking: Tracking, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    tracking.to_csv(tmp_path / "csv")
    edges, cells = tracking.to_pandas()
    for frame, name in ((edges, "edges"), (cells, "detections")):
        written = pandas.read_csv(tmp_path / "csv" / f"{name}.csv")
        assert list(written.columns) == list(frame.columns)
        np.testing.assert_allclose(written.to_numpy(float), frame.to_numpy(float), rtol=1e-8)


def test_networkx_has_links_and_on_request_candidates(tracking: Tracking) -> None:
    links = tracking.to_networkx()
    assert links.number_of_nodes() == n_cells(tracking)
    assert links.number_of_edges() == sum(int(pair.selected.sum()) for pair in tracking.pairs)
    assert max(degree for _, degree in links.out_degree()) == 2
    assert tracking.to_networkx(candidates=True).number_of_edges() == sum(len(pair.mother) for pair in tracking.pairs)


@pytest.mark.filterwarnings("ignore")  # napari's own imports warn
def test_napari_takes_the_tracks(tracking: Tracking) -> None:
    layers = pytest.importorskip("napari.layers", reason="needs napari: pip install 'dunno[napari]'")
    layer = layers.Layer.create(*tracking.to_napari())
    assert isinstance(layer, layers.Tracks)
    assert len(layer.data) == n_cells(tracking)
    confidence = np.sort(layer.features["confidence"].dropna())
    expected = np.concatenate([pair.probability[pair.selected] for pair in tracking.pairs])
    np.testing.assert_allclose(confidence, np.sort(expected))
    rows = {row.track: row for row in tracking.tracks()}
    assert layer.graph == {track: [row.mother] for track, row in rows.items() if row.mother}
    for track in rows:
        times = layer.data[layer.data[:, 0] == track, 1]
        assert times.tolist() == list(range(rows[track].first, rows[track].last + 1))


def test_a_tracks_confidence_is_the_product_of_its_links(tracking: Tracking, tmp_path: Path) -> None:
    tracking.to_csv(tmp_path / "csv")
    written = {int(row["track"]): row for row in rows_of(tmp_path / "csv" / "tracks.csv")}
    data, more, _ = tracking.to_napari()
    confidence = more["features"]["confidence"]
    for row in tracking.tracks():
        inside = (data[:, 0] == row.track) & (data[:, 1] > row.first)
        assert row.confidence == pytest.approx(np.prod(confidence[inside]))
        assert row.least == pytest.approx(min(confidence[inside], default=1.0))
        assert float(written[row.track]["confidence"]) == pytest.approx(row.confidence)


def test_forests_are_drawn_from_the_posterior() -> None:
    movie = simulate(cells=15, frames=5, motion=0.4, cycle=8).movie
    tracking = Tracker(seed=1).track(movie)
    frequency = draw_links(tracking.block, 2000, seed=3).mean(axis=0)
    np.testing.assert_allclose(frequency, tracking.block.probability, atol=0.06)  # five standard errors


def test_forests_are_draws_in_which_cells_rest() -> None:
    movie = simulate(cells=15, frames=5, motion=0.4, cycle=8).movie
    tracking = Tracker(seed=1).track(movie)
    forests = tracking.sample(400, seed=3)
    drawn, rest = draw_links(tracking.block, 400, seed=3), rest_of(tracking.block)
    for forest, links in zip(forests, drawn, strict=True):
        mended = rested(replace(tracking.block, selected=links), rest)
        assert (forest.block.selected == mended.selected).all()
    for r in range(len(tracking.pairs)):
        loads = [np.bincount(forest.pairs[r].mother[forest.pairs[r].selected], minlength=1).max() for forest in forests]
        assert max(loads) <= 2
    again = tracking.sample(400, seed=3)
    assert all((a.pairs[2].selected == b.pairs[2].selected).all() for a, b in zip(forests, again, strict=True))
    assert len({len(forest.tracks()) for forest in forests}) > 1
    expected = sum((1 - pair.probability[pair.selected]).sum() for pair in tracking.pairs)
    assert tracking.expected_wrong_links() == pytest.approx(expected)


def test_only_the_posterior_can_be_drawn_from(tracking: Tracking) -> None:
    with pytest.raises(InputError, match="only results of method JP"):
        tracking.sample(2)


def test_exports_replace_their_own_kind(tracking: Tracking, tmp_path: Path) -> None:
    for export in (tracking.to_geff, tracking.to_csv, tracking.to_ctc):
        export(tmp_path / export.__name__)
        export(tmp_path / export.__name__, overwrite=True)
