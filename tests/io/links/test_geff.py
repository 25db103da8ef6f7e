from pathlib import Path

import geff
import networkx
import numpy as np
import pytest

from dunno import Movie
from dunno.errors import InputError
from dunno.io import read_links

from .colony import TRUE_LINKS, as_set


def write(path: Path, places: dict[int, tuple[float, ...]], edges: list[tuple[int, int]]) -> Path:
    axes = ["t", "z", "y", "x"] if len(next(iter(places.values()))) == 4 else ["t", "y", "x"]
    graph = networkx.DiGraph()
    for node, place in places.items():
        graph.add_node(node, **dict(zip(axes, place, strict=True)))
    graph.add_edges_from(edges)
    geff.write(graph, path, axis_names=axes, axis_types=["time"] + ["space"] * (len(axes) - 1))
    return path


def example(folder: Path, movie: Movie) -> Path:
    places = {}
    for t in range(len(movie)):
        cells = movie.detections(t)
        places |= {1000 * t + n: (t, *place) for n, place in zip(cells.label.tolist(), cells.centroid, strict=True)}
    edges = [(1000 * t + mother, 1000 * after + daughter) for t, mother, after, daughter in TRUE_LINKS]
    return write(folder / "links.geff", places, edges)


def test_points_are_matched_by_place(colony: Movie, tmp_path: Path) -> None:
    places = [(0, 1.4, 1.6), (1, 1.0, 2.0), (2, 1.5, 1.5), (0, 0.0, 6.0), (1, 4.0, 5.0)]
    links = read_links(write(tmp_path / "p.geff", dict(enumerate(places)), [(0, 1), (1, 2), (3, 4)]), colony)
    assert as_set(links) == {(0, 1, 1, 1), (1, 1, 2, 1)}
    assert links.unmatched == ("spot 3 in frame 0: lies on no cell",)


def test_a_cell_has_one_spot(colony: Movie, tmp_path: Path) -> None:
    places = {7: (0, 1.0, 1.0), 8: (0, 2.0, 2.0), 9: (1, 1.0, 1.0)}
    links = read_links(write(tmp_path / "p.geff", places, [(8, 9), (7, 9)]), colony)
    assert as_set(links) == {(0, 1, 1, 1)}
    assert links.unmatched == ("spot 8 in frame 0: lies on cell 1, which has a spot already",)


def test_a_point_beside_a_cell_belongs_to_it_within_its_radius(tmp_path: Path) -> None:
    ring = np.ones((2, 5, 5), int)
    ring[:, 2, 2] = 0
    links = read_links(write(tmp_path / "p.geff", {0: (0, 2.0, 2.0), 1: (1, 0.0, 0.0)}, [(0, 1)]), Movie(ring))
    assert as_set(links) == {(0, 1, 1, 1)}


def test_an_edge_back_in_time_is_no_link(colony: Movie, tmp_path: Path) -> None:
    links = read_links(write(tmp_path / "p.geff", {0: (0, 1.0, 1.0), 1: (1, 1.0, 1.0)}, [(1, 0)]), colony)
    assert len(links) == 0
    assert links.unmatched == ("1 in frame 1 → 1 in frame 0: does not lead to a later frame, at most 11 frames on",)


def test_a_graph_of_another_dimension_or_none_is_refused(colony: Movie, tmp_path: Path) -> None:
    volume = write(tmp_path / "v.geff", {0: (0, 0.0, 1.0, 1.0), 1: (1, 0.0, 1.0, 1.0)}, [(0, 1)])
    with pytest.raises(InputError, match=r"has the axes \['t', 'z', 'y', 'x'\]; expected time and 2 of space"):
        read_links(volume, colony)
    (tmp_path / "broken.geff" / "nodes").mkdir(parents=True)
    with pytest.raises(InputError, match="broken.geff: cannot be read as GEFF"):
        read_links(tmp_path / "broken.geff", colony)
