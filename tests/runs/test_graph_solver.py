"""tracksdata's graphs, in the environment that has the package (make readers)."""

import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dunno
from dunno import Movie, Tracker
from dunno.errors import InputError, MissingExtra
from dunno.simulate import colony
from dunno.tracking import Tracking
from dunno.tracksdata import Solver
from dunno.types import Points
from tests.io.others import by_others, library

MOVIE = colony(cells=8, frames=6, motion=0.15, seed=3).movie
MASKS = np.stack([MOVIE.masks(t) for t in range(6)])
OPTIONS = {"calibration": None}


@pytest.fixture(scope="module")
def tracking() -> Tracking:
    return Tracker(**OPTIONS).track(MOVIE)


def of_masks(masks: np.ndarray = MASKS, **options: Any) -> Any:
    """A graph as tracksdata makes it of label images: places, masks and boxes, no edges."""
    package = library("tracksdata")
    graph = package.graph.RustWorkXGraph()
    with package.options.options_context(show_progress=False):
        package.nodes.RegionPropsNodes(extra_properties=["label"], **options).add_nodes(graph, labels=masks)
    return graph


def of_places(scale: tuple[float, ...] = (1.0, 1.0), n: int = 1) -> Any:
    """A graph of places alone, its frames in another order, n of each colony beside each other."""
    graph, polars = library("tracksdata").graph.RustWorkXGraph(), library("polars")
    for axis in "yx":
        graph.add_node_attr_key(axis, polars.Float64)
    if scale != (1.0, 1.0):
        graph.metadata.update(scale=scale)
    far = max(MOVIE.shape)
    for t in reversed(range(6)):
        for k in range(n):
            places = (MOVIE.detections(t).centroid + np.array([0, k * far])) * scale
            graph.bulk_add_nodes([{"t": t, "y": y, "x": x} for y, x in places.tolist()])
    return graph


def linked(graph: Any) -> Any:
    """The true links, and a wrong one that no solution holds."""
    table = graph.node_attrs(attr_keys=["node_id", "t", "label"]).rows()
    node = {(t, label): node for node, t, label in table}
    graph.add_edge_attr_key("solution", library("polars").Boolean)
    edges = [(node[t - 1, c], node[t, c], True) for t, c in node if (t - 1, c) in node]
    edges += [(edges[0][0], edges[1][1], False)]
    graph.bulk_add_edges([{"source_id": a, "target_id": b, "solution": c} for a, b, c in edges])
    return graph


def told(graph: Any, name: str = "probability") -> dict[tuple[int, int, int, int], Any]:
    """What a graph says of its edges, by frame and place in the frame (ascending by number)."""
    frame = dict(graph.node_attrs(attr_keys=["node_id", "t"]).select("node_id", "t").rows())
    rank = {node: sum(frame[n] == t for n in frame if n < node) for node, t in frame.items()}
    edges = graph.edge_attrs(attr_keys=[name]).select("source_id", "target_id", name).rows()
    return {(frame[a], rank[a], frame[b], rank[b]): value for a, b, value in edges}


def believed(tracking: Tracking, links: bool) -> dict[tuple[int, int, int, int], float]:
    block = tracking.block
    kept = block.selected if links else np.ones(len(block.selected), bool)
    ends = [
        (block.cells.frame[rows][kept], (rows - block.begin[block.frame_of[rows]])[kept])
        for rows in (block.mother, block.daughter)
    ]
    keys = zip(*(each.tolist() for end in ends for each in end), strict=True)
    return dict(zip(keys, block.probability[kept].tolist(), strict=True))


@by_others
def test_a_graph_gets_probabilities_on_the_edges_of_its_solution() -> None:
    given = linked(of_masks())
    trusted = dunno.trust(given, MASKS, calibration=None, method="SM")
    assert trusted is given
    own = believed(Tracker(calibration=None, method="SM", max_distance=None).track(MOVIE), links=False)
    found, solution = told(trusted), told(trusted, "solution")
    assert len(found) == 42 and sum(np.isfinite(list(found.values()))) == 41
    for edge, probability in found.items():
        assert probability == pytest.approx(own[edge]) if solution[edge] else np.isnan(probability)


@by_others
def test_labels_may_be_left_out_and_views_are_graphs_too() -> None:
    whole = linked(of_masks())
    whole.remove_node_attr_key("label")
    attrs = library("tracksdata").attrs
    view = whole.filter(attrs.EdgeAttr("solution") == True).subgraph()  # noqa: E712
    dunno.trust(view, MASKS, calibration=None, method="SM")
    assert np.isfinite(view.edge_attrs()["probability"].to_numpy()).sum() == 41
    assert np.isfinite(whole.edge_attrs()["probability"].to_numpy()).sum() == 41


@by_others
def test_memory_grows_with_the_nodes() -> None:
    from dunno.io.graphs import rows_of_graph

    peaks = []
    for n in (2, 20):
        graph = of_places(n=n)
        tracemalloc.start()
        rows, _ = rows_of_graph(graph, 2)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(rows.frame) == 52 * n
    assert peaks[1] < 12 * peaks[0]


@by_others
def test_the_solver_writes_what_the_tracker_says_of_the_masks(tracking: Tracking) -> None:
    graph, made = of_masks(), Solver(**OPTIONS)
    solution = made.solve(graph)
    expected = believed(tracking, links=True)
    assert told(graph) == pytest.approx(expected)
    assert told(solution) == pytest.approx(expected)
    assert solution.num_nodes() == graph.num_nodes() == len(tracking.block.cells)
    assert made.tracking.about.verdict == tracking.about.verdict
    nodes = graph.node_attrs()
    np.testing.assert_allclose(nodes["p_divide"].to_numpy(), tracking.cells.p_divide)


@by_others
def test_edges_that_are_there_are_told_and_not_doubled(tracking: Tracking) -> None:
    graph = linked(of_masks())
    wrong = next(edge for edge, kept in told(graph, "solution").items() if not kept)
    solver = Solver(candidates=True, return_solution=False, **OPTIONS)
    assert solver.solve(graph) is None
    found, expected = told(graph), believed(tracking, links=False)
    assert graph.num_edges() == len(found) == len({*expected, wrong})
    assert {edge: found[edge] for edge in expected} == pytest.approx(expected)
    links = believed(tracking, links=True)
    assert {edge for edge, kept in told(graph, "solution").items() if kept} == set(links)


@by_others
@pytest.mark.parametrize("scale", [(1.0, 1.0), (0.5, 0.25)])
def test_places_are_enough(scale: tuple[float, ...]) -> None:
    graph = of_places(scale)
    solution = Solver(**OPTIONS).solve(graph)
    cells = [MOVIE.detections(t) for t in range(6)]
    label = {t: np.arange(1, len(each) + 1) for t, each in enumerate(cells)}
    points = Points(label, {t: each.centroid for t, each in enumerate(cells)}, diameter=1.0)
    expected = Tracker(**OPTIONS).track(Movie(points, scale=scale))
    assert told(solution) == pytest.approx(believed(expected, links=True))


@by_others
def test_nodes_stay_what_they_are_where_their_masks_would_be_repaired() -> None:
    movie = colony(cells=20, frames=10, motion=0.1, seed=1, merged=0.1, split=0.1, false=0.05).movie
    masks = np.stack([movie.masks(t) for t in range(len(movie))])
    repaired, kept = (Tracker(repair=repair).track(Movie(masks)) for repair in (None, False))
    assert any((repaired.masks(t) != masks[t]).any() for t in range(len(movie)))
    graph = of_masks(masks)
    Solver().solve(graph)
    assert graph.num_nodes() == len(kept.cells) and told(graph) == pytest.approx(believed(kept, links=True))
    with pytest.raises(InputError, match="a solver keeps the graph's nodes"):
        Solver(repair=True)
    out = repaired.to_tracksdata()
    drawn = library("tracksdata").array.GraphArrayView(out, shape=out.metadata["shape"], attr_key="label")
    np.testing.assert_array_equal(np.asarray(drawn), [repaired.masks(t) for t in range(len(movie))])
    assert np.isfinite(out.node_attrs()["p_segment"].to_numpy()).any()


@by_others
def test_what_cannot_be_tracked_is_refused_in_a_line() -> None:
    package, solver = library("tracksdata"), Solver()
    with pytest.raises(InputError, match="a graph of type dict; expected one of tracksdata"):
        solver.solve({})
    with pytest.raises(InputError, match="the graph has no nodes"):
        solver.solve(package.graph.RustWorkXGraph())
    bare = package.graph.RustWorkXGraph()
    bare.bulk_add_nodes([{"t": 0}])
    with pytest.raises(InputError, match="the graph's nodes have t; expected t, and mask, or y, x, or z, y, x"):
        solver.solve(bare)
    exclusive = of_places()
    exclusive.add_overlap(*exclusive.node_ids()[:2])
    with pytest.raises(InputError, match="nodes that exclude each other"):
        solver.solve(exclusive)
    doubled = of_masks()
    doubled.bulk_add_nodes([dict(doubled.node_attrs().drop("node_id").rows(named=True)[0])])
    with pytest.raises(InputError, match="the graph, frame 0: masks of nodes overlap"):
        solver.solve(doubled)


@by_others
def test_a_tracking_becomes_a_graph_that_tracksdata_can_write(tracking: Tracking, tmp_path: Path) -> None:
    package = library("tracksdata")
    graph = tracking.to_tracksdata()
    assert told(graph) == pytest.approx(believed(tracking, links=True))
    assert told(tracking.to_tracksdata(candidates=True)) == pytest.approx(believed(tracking, links=False))
    view = np.asarray(package.array.GraphArrayView(graph, shape=graph.metadata["shape"], attr_key="label"))
    np.testing.assert_array_equal(view, MASKS)
    graph.to_geff(tmp_path / "tracks.geff")
    again, _ = package.graph.RustWorkXGraph.from_geff(tmp_path / "tracks.geff")
    assert told(again) == pytest.approx(told(graph))
    assert again.metadata["dunno"]["verdict"] == tracking.about.verdict


@by_others
def test_frames_keep_their_numbers_and_places_their_unit() -> None:
    library("tracksdata")
    solver = Solver(**OPTIONS)
    movie = Movie(MASKS, scale=(0.5, 0.5)).every(2, start=1)
    graph = Tracker(**OPTIONS).track(movie).to_tracksdata()
    nodes = graph.node_attrs()
    assert sorted(set(nodes["t"].to_list())) == [1, 3, 5]
    assert graph.metadata["shape"] == (6, *MASKS.shape[1:])
    first = movie.detections(0)
    here = nodes.filter(nodes["t"] == 1)
    np.testing.assert_allclose(here.select("y", "x").to_numpy(), first.centroid)
    solver.solve(graph)
    assert solver.tracking.movie.frames.tolist() == [1, 3, 5]
    assert solver.tracking.movie.scale == (0.5, 0.5)


def test_what_is_missing_is_named(tracking: Tracking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tracksdata", None)
    with pytest.raises(MissingExtra, match=r"pip install 'dunno\[tracksdata\]'"):
        tracking.to_tracksdata()
