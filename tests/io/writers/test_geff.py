from pathlib import Path

import geff
import numpy as np
import pytest
from geff.core_io import read_to_memory
from geff.validate.data import ValidationConfig, validate_data

from dunno import Movie, Tracker
from dunno.tracking import Tracking

from ..others import by_others, library
from .conftest import n_cells


def test_geff_holds_the_solution_and_all_candidates_and_both_validate(tracking: Tracking, tmp_path: Path) -> None:
    tracking.to_geff(tmp_path / "tracks.geff")
    edges = sum(len(pair.mother) for pair in tracking.pairs)
    links = sum(int(pair.selected.sum()) for pair in tracking.pairs)
    for place, expected in ((tmp_path / "tracks.geff", links), (tmp_path / "tracks.geff" / "candidates", edges)):
        geff.validate_structure(place)
        validate_data(
            read_to_memory(place),
            ValidationConfig(graph=True, tracklet=expected == links, lineage=expected == links, sphere=True),
        )
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
    monkeypatch.setattr("dunno.io.zarr_folder.CHUNK", 7)
    tracking.to_geff(tmp_path / "many.geff")
    one, many = (read_to_memory(tmp_path / name) for name in ("one.geff", "many.geff"))
    np.testing.assert_array_equal(one["edge_ids"], many["edge_ids"])
    for name, column in one["node_props"].items():
        np.testing.assert_array_equal(column["values"], many["node_props"][name]["values"])


@pytest.mark.parametrize("shape", [(3, 4, 5), (3, 2, 4, 5)])
def test_a_movie_without_cells_validates(shape: tuple[int, ...], tmp_path: Path) -> None:
    Tracker().track(Movie(np.zeros(shape, int))).to_geff(tmp_path / "tracks.geff")
    geff.validate_structure(tmp_path / "tracks.geff")
    geff.validate_structure(tmp_path / "tracks.geff" / "candidates")


def test_lengths_are_pixels_unless_there_is_a_scale(tmp_path: Path) -> None:
    masks = np.ones((2, 4, 5), int)
    for scale, unit in ((None, "pixel"), ((2.0, 1.0), "micrometer")):
        path = tmp_path / f"{unit}.geff"
        Tracker().track(Movie(masks, scale=scale)).to_geff(path)
        axes = geff.read(path)[1].axes
        assert [(axis.name, axis.unit) for axis in axes] == [("t", "frame"), ("y", unit), ("x", unit)]


def test_every_property_says_what_it_is(tracking: Tracking, tmp_path: Path) -> None:
    tracking.to_geff(tmp_path / "tracks.geff")
    _, metadata = geff.read(tmp_path / "tracks.geff")
    described = {**metadata.node_props_metadata, **metadata.edge_props_metadata}
    assert all(each.name and len(each.description) > 10 for each in described.values())
    assert metadata.node_props_metadata["area"].unit == "pixel^2"
    assert metadata.track_node_props == {"tracklet": "track", "lineage": "lineage"}
    assert metadata.display_hints.display_horizontal == "x"
    assert [each.path for each in metadata.related_objects] == ["candidates"]


def test_cells_carry_the_probability_of_their_link(tracking: Tracking, tmp_path: Path) -> None:
    tracking.to_geff(tmp_path / "tracks.geff")
    graph, _ = geff.read(tmp_path / "tracks.geff")
    for mother, daughter, told in graph.edges(data=True):
        assert graph.nodes[daughter]["probability"] == told["probability"]
        assert graph.nodes[daughter]["lineage"] == graph.nodes[mother]["lineage"]
    born = [node for node in graph if graph.in_degree(node) == 0]
    assert all("probability" not in graph.nodes[node] for node in born)
    assert all(graph.nodes[node]["seg_id"] == graph.nodes[node]["label"] for node in graph)


@by_others
def test_napari_geff_opens_it(tracking: Tracking, tmp_path: Path) -> None:
    reader = library("napari_geff._reader")
    tracking.to_geff(tmp_path / "tracks.geff")
    read = reader.get_geff_reader(str(tmp_path / "tracks.geff"))
    data, more, kind = next(layer for layer in read(str(tmp_path / "tracks.geff")) if layer[2] == "tracks")
    assert kind == "tracks" and len(data) == n_cells(tracking)
    assert {"probability", "entropy", "p_appear"} <= set(more["features"])


@by_others
def test_traccuracy_loads_all_of_it(tracking: Tracking, tmp_path: Path) -> None:
    loaders = library("traccuracy.loaders")
    tracking.to_geff(tmp_path / "tracks.geff")
    graph = loaders.load_geff_data(str(tmp_path / "tracks.geff"), load_all_props=True)
    assert graph.graph.number_of_nodes() == n_cells(tracking)
    node = next(iter(graph.graph.edges))[1]
    assert {"probability", "entropy", "seg_id"} <= set(graph.graph.nodes[node])


def test_what_no_cell_has_is_not_declared(tracking: Tracking, tmp_path: Path) -> None:
    tracking.to_geff(tmp_path / "tracks.geff")
    _, metadata = geff.read(tmp_path / "tracks.geff")
    assert "entropy" in metadata.node_props_metadata
    assert (
        "p_divide" not in metadata.node_props_metadata
    )  # the method does not know; napari-geff fails on such a property


@by_others
def test_motiles_tracker_loads_it(tracking: Tracking, tmp_path: Path) -> None:
    loader = library("funtracks.import_export")
    tracking.to_geff(tmp_path / "tracks.geff")
    found = loader.import_from_geff(tmp_path / "tracks.geff", node_name_map={"time": "t", "pos": ["y", "x"]})
    assert found.graph.num_nodes() == n_cells(tracking)
