"""Tracks of other programs, as they hand them out, with probabilities."""

import pickle
from typing import Any

import networkx as nx
import numpy as np
import pytest

import dunno
from dunno.errors import DunnoWarning, InputError
from dunno.simulate import colony as simulate
from tests.io.others import by_others, library

MOVIE = simulate(cells=8, frames=6, motion=0.15, seed=3).movie
MASKS = np.stack([MOVIE.masks(t) for t in range(6)])
CELLS = [MOVIE.detections(t) for t in range(6)]
OPTIONS = {"calibration": None, "method": "SM"}


def table() -> Any:
    """The true tracks: labels are tracks."""
    pandas = pytest.importorskip("pandas")
    parts = [
        pandas.DataFrame({"frame": t, "label": cells.label, "y": cells.centroid[:, 0], "x": cells.centroid[:, 1]})
        for t, cells in enumerate(CELLS)
    ]
    return pandas.concat(parts, ignore_index=True)


def own() -> dict[tuple[int, int], float]:
    """What dunno believes of the links of true tracks, by frame and label."""
    tracking = dunno.Tracker(max_distance=None, **OPTIONS).track(MOVIE)
    return {
        (pair.daughter_frame, int(pair.daughters.label[d])): float(pair.probability[e])
        for pair in tracking.pairs
        for e, (m, d) in enumerate(zip(pair.mother, pair.daughter, strict=True))
        if pair.mothers.label[m] == pair.daughters.label[d]
    }


def test_the_masks_may_be_anything_that_is_read(tmp_path: Any) -> None:
    tracks = table().assign(track_id=lambda t: t.label)
    np.save(tmp_path / "masks.npy", MASKS)
    found = [dunno.trust(tracks, masks, **OPTIONS) for masks in (MASKS, MOVIE, tmp_path / "masks.npy")]
    for each in found[1:]:
        np.testing.assert_array_equal(each["probability"], found[0]["probability"])


def test_laptrack_hands_out_tables() -> None:
    laptrack = pytest.importorskip("laptrack")
    pytest.importorskip("sklearn")
    tracker = laptrack.LapTrack(cutoff=15**2, splitting_cutoff=15**2)
    tables = tracker.predict_dataframe(table(), ["y", "x"], frame_col="frame", only_coordinate_cols=False)
    trusted, splits, _ = dunno.trust(tables, MASKS, **OPTIONS)
    assert list(trusted.columns) == [*tables[0].columns, "probability"]
    believed, seen = own(), 0
    for row in trusted.itertuples():
        if np.isfinite(row.probability) and (row.frame, row.label) in believed:
            seen += row.probability == pytest.approx(believed[row.frame, row.label])
    assert seen > 30
    assert trusted[trusted.frame == 0].probability.isna().all()
    alone = dunno.trust(tables[0], MASKS, **OPTIONS)  # the trees say enough where they are clear
    assert (alone.probability.isna() | (alone.probability == trusted.probability)).all()
    assert len(splits) == len(tables[1])


@pytest.mark.filterwarnings("ignore")  # napari's own imports warn
def test_a_napari_layer_is_told_in_its_features() -> None:
    napari = pytest.importorskip("napari")
    tracks = table()
    data = tracks[["label", "frame", "y", "x"]].to_numpy(float)
    layer = napari.layers.Tracks(data)
    trusted = dunno.trust(layer, MASKS, **OPTIONS)
    assert trusted is layer
    believed = own()
    for (label, frame, _, _), probability in zip(layer.data, layer.features["probability"], strict=True):
        if np.isfinite(probability):
            assert probability == pytest.approx(believed[int(frame), int(label)])
    assert np.isfinite(layer.features["probability"]).sum() > 30
    array, properties = dunno.trust(data, MASKS, **OPTIONS)
    assert array is data
    assert np.nanmin(properties["probability"]) == pytest.approx(np.nanmin(layer.features["probability"]))


def graph(kind: type = nx.DiGraph) -> Any:
    """As `trackastra.tracking` makes it: nodes with `time`, `label` and `coords`."""
    made = kind()
    for t, cells in enumerate(CELLS):
        for label, place in zip(cells.label.tolist(), cells.centroid, strict=True):
            made.add_node((t, label), time=t, label=label, coords=tuple(place), weight=1.0)
            if t and label in CELLS[t - 1].label:
                made.add_edge((t - 1, label), (t, label), weight=0.9)
    return made


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.Graph])
@pytest.mark.parametrize("left_out", ["label", "coords"])
def test_a_graph_comes_back_with_probabilities_on_its_edges(kind: type, left_out: str) -> None:
    given = graph(kind)
    for node in given:
        del given.nodes[node][left_out]
    trusted = dunno.trust(given, MASKS, **OPTIONS)
    believed = own()
    for first, second, about in trusted.edges(data=True):
        assert about["probability"] == pytest.approx(believed[max(first, second)])
        assert about["weight"] == 0.9
    assert "probability" not in next(iter(given.edges(data=True)))[2]


@by_others
def test_motiles_own_graph_is_understood() -> None:
    made = library("motile").TrackGraph(graph(), frame_attribute="time")
    trusted, believed = dunno.trust(made, MASKS, **OPTIONS), own()
    assert len(trusted.edges) == made.to_nx_graph().number_of_edges() > 30
    assert all(each["probability"] == pytest.approx(believed[late]) for _, late, each in trusted.edges(data=True))


def test_trackastras_own_graph_is_understood() -> None:
    tracking = pytest.importorskip("trackastra.tracking")
    nodes = [
        {"id": f"{t}_{label}", "coords": tuple(place), "time": t, "label": label}
        for t, cells in enumerate(CELLS)
        for label, place in zip(cells.label.tolist(), cells.centroid, strict=True)
    ]
    number = {node["id"]: i for i, node in enumerate(nodes)}
    for i, node in enumerate(nodes):
        node["id"] = i
    weights = [
        ((number[f"{t - 1}_{label}"], number[f"{t}_{label}"]), 0.8)
        for t in range(1, 6)
        for label in CELLS[t].label.tolist()
        if label in CELLS[t - 1].label
    ]
    made = tracking.build_graph(nodes=nodes, weights=weights, use_distance=False, max_distance=50)
    trusted = dunno.trust(made, MASKS, **OPTIONS)
    assert len(trusted.edges) == len(weights)
    assert all(0 <= each["probability"] <= 1 for _, _, each in trusted.edges(data=True))


class Tracklet:
    """What dunno asks of btrack's: `to_dict()` with lists per column."""

    def __init__(self, name: int, frames: list[int]) -> None:
        self.name, self.frames = name, frames

    def to_dict(self) -> dict[str, list[float]]:
        places = [CELLS[t].centroid[CELLS[t].label == self.name][0] for t in self.frames]
        n = len(self.frames)
        return {
            "ID": [self.name] * n,
            "t": self.frames,
            "x": [p[1] for p in places],
            "y": [p[0] for p in places],
            "z": [0.0] * n,
            "parent": [self.name] * n,
        }


def test_tracklets_become_a_table() -> None:
    pytest.importorskip("pandas")
    tracks = [Tracklet(n, [0, 1, 2]) for n in (1, 2, 3) if all(n in CELLS[t].label for t in range(3))]
    trusted = dunno.trust(tracks, MASKS, **OPTIONS)
    assert trusted.probability.isna().sum() == len(tracks)
    believed = own()
    row = trusted[(trusted.ID == tracks[0].name) & (trusted.t == 2)].iloc[0]
    assert row.probability == pytest.approx(believed[2, tracks[0].name])


class OfSomebody:
    """Has what graphs have, by other rules: whoever goes through its nodes never comes to an end."""

    edges = ()

    @property
    def nodes(self) -> "OfSomebody":
        return self

    def __getitem__(self, node: int) -> dict[str, int]:
        assert node < 1000
        return {"t": node}


def test_what_is_no_track_is_refused() -> None:
    for wrong, message in (
        ("tracks.csv", "tracks of type str; expected a pandas table, .*files: dunno track"),
        (np.zeros((3, 9)), r"an array of shape \(3, 9\); expected"),
        (nx.DiGraph([(1, 2)]), "the graph's nodes have nothing in common; expected one of time, t, frame, and label"),
        (OfSomebody(), "tracks of type OfSomebody; expected a pandas table"),
        (np.array([[1, 0, 0.0, 0.0], [1, 1, 0.0, 0.0]]), "none of the 1 links could be matched to the masks"),
    ):
        with pytest.raises(InputError, match=message):
            dunno.trust(wrong, MASKS, **OPTIONS)


@pytest.mark.filterwarnings("ignore")  # its own imports warn
def test_btracks_own_tracklets_are_understood() -> None:
    btypes = pytest.importorskip(
        "btrack.btypes",
        reason="btrack is not there, or wants a newer libstdc++ than this machine's",
        exc_type=ImportError,
    )
    tracks = []
    for name in (n for n in CELLS[0].label.tolist() if all(n in CELLS[t].label for t in range(3))):
        places = [CELLS[t].centroid[CELLS[t].label == name][0] for t in range(3)]
        objects = [{"ID": t, "t": t, "x": x, "y": y, "z": 0.0, "label": 5} for t, (y, x) in enumerate(places)]
        data = [btypes.PyTrackObject.from_dict(each) for each in objects]
        tracks.append(btypes.Tracklet(name, data, parent=name))
    trusted = dunno.trust(tracks, MASKS, **OPTIONS)
    believed = own()
    for row in trusted[trusted.t > 0].itertuples():
        assert row.probability == pytest.approx(believed[row.t, row.ID])


@pytest.mark.filterwarnings("ignore")  # its own imports warn
def test_trackpy_hands_out_a_table() -> None:
    trackpy = pytest.importorskip("trackpy", exc_type=ImportError)
    trackpy.quiet()
    linked = trackpy.link(table().drop(columns="label"), 15)
    trusted = dunno.trust(linked, MASKS, **OPTIONS)
    assert trusted.probability.notna().sum() == len(trusted) - trusted.particle.nunique()
    assert trusted.probability.max() <= 1


def html(thing: Any) -> str:
    """What a notebook would show."""
    formatters = pytest.importorskip("IPython.core.formatters")
    return formatters.HTMLFormatter()(thing) or ""


def test_a_notebook_shows_the_verdict_above_what_was_given() -> None:
    tracks = table().assign(track_id=lambda t: t.label)
    shown = html(dunno.trust(tracks, MASKS))
    assert "the tracks that were given</b>: 6 frames, 41 links" in shown
    assert "probabilities <b>untested</b>: " in shown
    assert shown.index("expected to be wrong") < shown.index("99.9 – 100 %") < shown.index("<th>probability</th>")
    assert "probability" not in html(tracks)
    trusted = dunno.trust(graph(), MASKS)
    assert "41 links" in html(trusted) and "DiGraph with 52 nodes and 41 edges" in html(trusted)
    again = pickle.loads(pickle.dumps(trusted))
    assert nx.utils.graphs_equal(again, trusted) and html(again) == html(trusted)


def test_y_and_x_exchanged_are_noticed() -> None:
    tracks = table().assign(track_id=lambda t: t.label).drop(columns="label")
    exchanged = tracks.rename(columns={"y": "x", "x": "y"})
    with pytest.warns(DunnoWarning) as said:
        trusted = dunno.trust(exchanged, MASKS, **OPTIONS)
    assert trusted.probability.isna().mean() > 0.7
    told = [str(each.message) for each in said]
    assert told[0] == (
        "the tracks: most of its places lie on no mask, and with y and x exchanged 52 of 52 do; exchange the columns"
    )
    assert "of 41 links could not be matched to the masks; the first: " in told[1]
    assert "41 links" in html(dunno.trust(tracks, MASKS, **OPTIONS))
