from pathlib import Path

import geff
import numpy as np
import pytest
import zarr
from geff.core_io import read_to_memory
from geff.validate.data import ValidationConfig, validate_data

import dunno
from dunno import Movie, Tracker
from dunno.cli import run
from dunno.io import read_links
from dunno.simulate import colony
from dunno.tracking import Tracking

from ...conftest import COLONY
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
    monkeypatch.setattr("dunno.io.zarr_folder.CHUNK_ROWS", 7)
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
def test_napari_track_edit_opens_it_with_confidence_as_a_feature(tracking: Tracking, tmp_path: Path) -> None:
    loader = library("funtracks.import_export")
    tracking.to_geff(tmp_path / "tracks.geff")
    found = loader.import_from_geff(tmp_path / "tracks.geff")  # what the plugin's dialog does with nothing changed
    told = {"probability", "entropy", "p_appear", "cost"} & set(found.features)
    assert told == {"probability", "entropy", "p_appear", "cost"}
    assert found.features["probability"]["value_type"] == "float"
    nodes, edges = found.graph.node_attrs(), found.graph.edge_attrs()
    own = tracking.cells.incoming
    known = np.isfinite(own)
    np.testing.assert_array_equal(nodes["probability"].to_numpy()[known], own[known])
    np.testing.assert_array_equal(nodes["label"].to_numpy(), tracking.cells.label)
    believed = dict(zip(nodes["node_id"].to_list(), own.tolist(), strict=True))
    assert edges["probability"].to_list() == [believed[daughter] for daughter in edges["target_id"].to_list()]
    assert found.graph.num_edges() == known.sum()


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_a_graph_lies_beside_its_labels_in_one_ome_zarr(version: str, tmp_path: Path) -> None:
    path = ome_zarr(tmp_path / "movie.ome.zarr", version)
    assert run(["track", str(path), "-o", str(tmp_path / "out"), "--max-distance", "9", "-q"]) == 0
    assert run(["export", str(tmp_path / "out"), "--to", "geff", "-o", str(path / "tracks.geff"), "-q"]) == 0
    metadata = geff.GeffMetadata.read(path / "tracks.geff")
    (related,) = [each for each in metadata.related_objects if each.type == "labels"]
    assert (related.path, related.node_prop) == ("../labels/cells", "seg_id")
    labels = zarr.open(path / "tracks.geff" / related.path / "0", mode="r")
    graph, _ = geff.read(path / "tracks.geff")
    for _, node in graph.nodes(data=True):
        y, x = (round(node[axis] / size) for axis, size in zip("yx", (0.5, 0.25), strict=True))
        assert labels[int(node["t"]), y, x] == node[related.node_prop]
    assert len(dunno.read(path)) == 3  # the movie is what it was
    links = read_links(path / "tracks.geff", dunno.read(path))
    assert len(links) == graph.number_of_edges() > 4


@by_others
@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_napari_opens_image_and_labels_with_a_graph_beside_them(
    version: str, tracking: Tracking, tmp_path: Path
) -> None:
    reader = library("napari_ome_zarr")
    path = ome_zarr(tmp_path / "movie.ome.zarr", version)
    tracking.to_geff(path / "tracks.geff")
    assert [kind for _, _, kind in reader.napari_get_reader(str(path))(str(path))] == ["image", "labels"]


def ome_zarr(path: Path, version: str) -> Path:
    """An image with labels, in the metadata of either version."""
    axes = [{"name": name, "type": kind} for name, kind in (("t", "time"), ("y", "space"), ("x", "space"))]
    scale = [{"type": "scale", "scale": [1.0, 0.5, 0.25]}]
    scales = [{"name": "cells", "axes": axes, "datasets": [{"path": "0", "coordinateTransformations": scale}]}]
    root = zarr.open_group(path, mode="w", zarr_format=2 if version == "0.4" else 3)
    for group in (root, root.create_group("labels/cells")):
        own = {"multiscales": scales if version == "0.5" else [{**scales[0], "version": version}]}
        own |= {} if group is root else {"image-label": {"version": version, "source": {"image": "../../"}}}
        group.attrs.update({"ome": {**own, "version": version}} if version == "0.5" else own)
        group.create_array("0", data=np.stack(COLONY))
    names = {"labels": ["cells"]}
    root["labels"].attrs.update({"ome": {**names, "version": version}} if version == "0.5" else names)
    return path


def test_the_convention_holds_that_the_page_describes(tmp_path: Path) -> None:
    tracking = Tracker(max_gap=2, evidence="places").track(colony(cells=12, frames=10, motion=0.4, cycle=6).movie)
    tracking.to_geff(tmp_path / "tracks.geff")
    read = {
        name: read_to_memory(tmp_path / "tracks.geff" / place)
        for name, place in (("solution", ""), ("candidates", "candidates"))
    }
    page = (Path(__file__).parents[3] / "docs" / "geff.md").read_text().splitlines()
    rows = [
        [part.strip().strip("`") for part in line.split("|")[1:4]]
        for line in page
        if line.startswith(("| sol", "| can"))
    ]
    assert len(rows) == 9
    for name, kind, prop in rows:
        graph = read[name]
        column, about = graph[f"{kind}_props"][prop], getattr(graph["metadata"], f"{kind}_props_metadata")[prop]
        values = column["values"] if column["missing"] is None else column["values"][~column["missing"]]
        assert len(values) and about.name and about.description
        if prop.startswith("p"):
            assert 0 <= values.min() <= values.max() <= 1
    nodes, candidates = read["solution"]["node_props"], read["candidates"]
    np.testing.assert_array_equal(read["solution"]["node_ids"], candidates["node_ids"])
    related = read["solution"]["metadata"].related_objects
    assert [(each.type, each.path) for each in related] == [("geff", "candidates")]
    ends, chosen = candidates["edge_ids"], candidates["edge_props"]["selected"]["values"]
    assert set(map(tuple, ends[chosen].tolist())) == set(map(tuple, read["solution"]["edge_ids"].tolist()))
    total = np.bincount(
        ends[:, 1], candidates["edge_props"]["probability"]["values"], minlength=len(candidates["node_ids"])
    )
    known = ~nodes["p_appear"]["missing"]
    np.testing.assert_allclose((total + nodes["p_appear"]["values"])[known], 1.0, atol=1e-9)
    np.testing.assert_array_equal(known, nodes["t"]["values"] > 0)
    linked = np.isin(read["solution"]["node_ids"], read["solution"]["edge_ids"][:, 1])
    np.testing.assert_array_equal(nodes["probability"]["missing"], ~linked)
    about = read["solution"]["metadata"].extra["dunno"]
    assert about["verdict"] in ("supported", "untested", "contradicted") and about["reason"]
    assert about["calibrated"] == (about["verdict"] == "supported")
