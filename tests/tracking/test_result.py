import csv
from pathlib import Path

import geff
import numpy as np
import pytest
import tifffile
from geff.core_io import read_to_memory
from geff.validate.data import ValidationConfig, validate_data

from dunno import Movie, Tracker
from dunno.errors import InputError
from dunno.simulate import colony as simulate
from dunno.tracking import Tracking


@pytest.fixture(scope="module")
def tracking() -> Tracking:
    return Tracker("distance", "SM").track(simulate(cells=12, frames=10, motion=0.4, cycle=6).movie)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def n_cells(tracking: Tracking) -> int:
    return sum(len(tracking.movie.detections(t)) for t in range(len(tracking.movie)))


def test_geff_holds_the_solution_and_all_candidates_and_both_validate(tracking: Tracking, tmp_path: Path) -> None:
    tracking.to_geff(tmp_path / "tracks.geff")
    edges = sum(len(pair.mother) for pair in tracking.pairs)
    links = sum(int(pair.selected.sum()) for pair in tracking.pairs)
    for place, expected in ((tmp_path / "tracks.geff", links), (tmp_path / "tracks.geff" / "candidates", edges)):
        geff.validate_structure(place)
        validate_data(read_to_memory(place), ValidationConfig(graph=True, tracklet=expected == links))
        graph, metadata = geff.read(place)
        assert graph.number_of_nodes() == n_cells(tracking)
        assert graph.number_of_edges() == expected
        assert metadata.extra["dunno"]["calibrated"] is False
        assert [axis.name for axis in metadata.axes] == ["t", "y", "x"]


def test_geff_carries_every_value(tracking: Tracking, tmp_path: Path) -> None:
    tracking.to_geff(tmp_path / "tracks.geff")
    graph, _ = geff.read(tmp_path / "tracks.geff" / "candidates")
    pair = tracking.pairs[3]
    first = sum(len(tracking.movie.detections(t)) for t in range(3))
    second = first + len(pair.mothers)
    for e in range(len(pair.mother)):
        edge = graph.edges[first + pair.mother[e], second + pair.daughter[e]]
        assert edge["probability"] == pair.probability[e]
        assert edge["cost"] == pair.cost[e]
        assert edge["selected"] == pair.selected[e]
    for j in range(len(pair.daughters)):
        node = graph.nodes[second + j]
        assert node["label"] == pair.daughters.label[j]
        assert (node["t"], node["y"], node["x"]) == (4, *pair.daughters.centroid[j])
        assert node["entropy"] == pair.entropy[j]
        assert node["p_appear"] == np.exp(pair.log_no_mother[j])
    assert "entropy" not in graph.nodes[0]
    assert "p_divide" not in graph.nodes[second]


def test_geff_grows_over_many_chunks(tracking: Tracking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tracking.to_geff(tmp_path / "one.geff")
    monkeypatch.setattr("dunno.io.geff.CHUNK", 7)
    tracking.to_geff(tmp_path / "many.geff")
    one, many = (read_to_memory(tmp_path / name) for name in ("one.geff", "many.geff"))
    np.testing.assert_array_equal(one["edge_ids"], many["edge_ids"])
    for name, column in one["node_props"].items():
        np.testing.assert_array_equal(column["values"], many["node_props"][name]["values"])


def test_csv_holds_every_edge_and_every_cell(tracking: Tracking, tmp_path: Path) -> None:
    tracking.to_csv(tmp_path / "csv")
    edges, cells = rows_of(tmp_path / "csv" / "edges.csv"), rows_of(tmp_path / "csv" / "detections.csv")
    assert list(edges[0]) == ["mother_frame", "mother", "frame", "daughter", "cost", "probability", "selected"]
    assert list(cells[0]) == "frame label track y x area entropy p_appear p_disappear p_divide".split()
    assert len(cells) == n_cells(tracking)
    np.testing.assert_allclose(
        [float(row["probability"]) for row in edges],
        np.concatenate([pair.probability for pair in tracking.pairs]),
        rtol=1e-8,
    )
    assert cells[0]["entropy"] == cells[-1]["p_divide"] == ""
    assert cells[-1]["entropy"] != ""


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


def test_ctc_results_obey_the_challenges_rules(tracking: Tracking, tmp_path: Path) -> None:
    tracking.to_ctc(tmp_path / "01_RES")
    rows = np.loadtxt(tmp_path / "01_RES" / "res_track.txt", dtype=int, ndmin=2)
    masks = [tifffile.imread(path) for path in sorted((tmp_path / "01_RES").glob("mask*.tif"))]
    assert len(masks) == len(tracking.movie)
    assert masks[0].dtype == np.uint16
    assert len(np.unique(rows[:, 0])) == len(rows)
    where = {label: [t for t, mask in enumerate(masks) if (mask == label).any()] for label in rows[:, 0]}
    assert {int(label) for mask in masks for label in np.unique(mask)} - {0} == set(rows[:, 0].tolist())
    for label, first, last, mother in rows:
        assert where[label] == list(range(first, last + 1))
        assert mother == 0 or where[mother][-1] == first - 1
    for t, mask in enumerate(masks):
        np.testing.assert_array_equal(mask > 0, tracking.movie.masks(t) > 0)


def test_ctc_counts_the_frames_of_a_coarser_movie_from_zero(tracking: Tracking, tmp_path: Path) -> None:
    Tracker().track(tracking.movie.every(3)).to_ctc(tmp_path / "res")
    names = sorted(path.name for path in (tmp_path / "res").glob("*.tif"))
    assert names == ["mask000.tif", "mask001.tif", "mask002.tif", "mask003.tif"]


def test_empty_movies_write_and_validate(tmp_path: Path) -> None:
    tracking = Tracker().track(Movie(np.zeros((3, 4, 5), int)))
    tracking.to_geff(tmp_path / "tracks.geff")
    tracking.to_csv(tmp_path / "csv")
    tracking.to_ctc(tmp_path / "ctc")
    geff.validate_structure(tmp_path / "tracks.geff")
    geff.validate_structure(tmp_path / "tracks.geff" / "candidates")
    assert rows_of(tmp_path / "csv" / "edges.csv") == []
    assert (tmp_path / "ctc" / "res_track.txt").read_text() == ""


def test_volumes_are_written_with_three_axes(tmp_path: Path) -> None:
    masks = np.zeros((2, 4, 5, 6), int)
    masks[:, 1:3, 2, 2] = 9
    tracking = Tracker().track(Movie(masks, scale=(2, 1, 1)))
    tracking.to_geff(tmp_path / "tracks.geff")
    tracking.to_csv(tmp_path / "csv")
    tracking.to_ctc(tmp_path / "ctc")
    geff.validate_structure(tmp_path / "tracks.geff")
    cell = rows_of(tmp_path / "csv" / "detections.csv")[0]
    assert (cell["z"], cell["y"], cell["x"], cell["area"]) == ("3", "2", "2", "4")
    assert tifffile.imread(tmp_path / "ctc" / "mask000.tif").shape == (4, 5, 6)


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
    forests = tracking.sample(400, seed=3)
    for r, pair in enumerate(tracking.pairs):
        frequency = np.mean([forest.pairs[r].selected for forest in forests], axis=0)
        np.testing.assert_allclose(frequency, pair.probability, atol=0.12)
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
