from pathlib import Path

import geff
import networkx
import numpy as np
import pytest

from dunno import Movie, Tracker, read
from dunno.errors import InputError
from dunno.io import read_links
from dunno.simulate import colony as simulate

from ..conftest import COLONY


@pytest.fixture
def movie() -> Movie:
    return Movie(COLONY, name="colony")


def as_set(links: object) -> set[tuple[int, ...]]:
    columns = (links.mother_frame, links.mother, links.frame, links.daughter)
    return set(zip(*(column.tolist() for column in columns), strict=True))


TRUE_LINKS = {(0, 1, 1, 1), (0, 2, 1, 3), (0, 3, 1, 2), (1, 1, 2, 1), (1, 3, 2, 4), (1, 2, 2, 2)}


def test_a_table_gives_links_and_lists_what_is_no_link(movie: Movie, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(
        "mother_frame,mother,frame,daughter,selected\n"
        "0,1,1,1,1\n0,2,1,3,1\n0,2,1,4,0\n0,1,2,1,1\n0,3,1,3,1\n0,9,1,2,1\n"
    )
    links = read_links(tmp_path / "links.csv", movie)
    assert as_set(links) == {(0, 1, 1, 1), (0, 2, 1, 3)}
    assert links.unmatched == (
        "1 in frame 0 → 1 in frame 2: not from one frame to the next; gaps are not closed",
        "3 in frame 0 → 3 in frame 1: a merge; the daughter has mother 2 already",
        "9 in frame 0 → 2 in frame 1: there is no detection 9 in frame 0",
    )


def test_what_dunno_writes_it_reads_again(tmp_path: Path) -> None:
    simulated = simulate(cells=10, frames=8, motion=0.3, cycle=5).movie
    tracking = Tracker("distance", "SM").track(simulated)
    tracking.to_csv(tmp_path / "csv")
    tracking.to_ctc(tmp_path / "ctc")
    tracking.to_geff(tmp_path / "tracks.geff")
    expected = {
        (p.mother_frame, int(p.mothers.label[p.mother[e]]), p.daughter_frame, int(p.daughters.label[p.daughter[e]]))
        for p in tracking.pairs
        for e in np.flatnonzero(p.selected)
    }
    for place in ("csv/edges.csv", "ctc", "tracks.geff"):
        links = read_links(tmp_path / place, simulated)
        assert as_set(links) == expected
        assert links.unmatched == ()


def test_a_geff_of_points_is_matched_by_place(movie: Movie, tmp_path: Path) -> None:
    graph = networkx.DiGraph()
    for node, (t, y, x) in enumerate([(0, 1.4, 1.6), (1, 1.0, 2.0), (2, 1.5, 1.5), (0, 0.0, 6.0), (1, 4.0, 5.0)]):
        graph.add_node(node, t=t, y=y, x=x)
    graph.add_edges_from([(0, 1), (1, 2), (3, 4)])
    geff.write(graph, tmp_path / "points.geff", axis_names=["t", "y", "x"], axis_types=["time", "space", "space"])
    links = read_links(tmp_path / "points.geff", movie)
    assert as_set(links) == {(0, 1, 1, 1), (1, 1, 2, 1)}
    assert links.unmatched == ("spot 3 in frame 0: lies on no cell",)


TRACKMATE = """<?xml version="1.0" encoding="UTF-8"?>
<TrackMate version="7.11"><Model spatialunits="micron" timeunits="sec"><AllSpots>
<SpotsInFrame frame="0"><Spot ID="10" FRAME="0" POSITION_X="0.75" POSITION_Y="0.75" POSITION_Z="0"/>
<Spot ID="11" FRAME="0" POSITION_X="4.75" POSITION_Y="0.75" POSITION_Z="0"/></SpotsInFrame>
<SpotsInFrame frame="1"><Spot ID="20" FRAME="1" POSITION_X="0.75" POSITION_Y="0.75" POSITION_Z="0"/>
<Spot ID="21" FRAME="1" POSITION_X="4.25" POSITION_Y="0.75" POSITION_Z="0"/></SpotsInFrame>
<SpotsInFrame frame="7"><Spot ID="70" FRAME="7" POSITION_X="1" POSITION_Y="1" POSITION_Z="0"/></SpotsInFrame>
</AllSpots><AllTracks><Track name="a"><Edge SPOT_SOURCE_ID="10" SPOT_TARGET_ID="20"/></Track>
<Track name="b"><Edge SPOT_SOURCE_ID="21" SPOT_TARGET_ID="11"/></Track></AllTracks></Model>
<Settings><ImageData pixelwidth="0.5" pixelheight="0.5" voxeldepth="1.0"/></Settings></TrackMate>"""


def test_trackmate_spots_are_matched_in_its_own_units(movie: Movie, tmp_path: Path) -> None:
    (tmp_path / "tracks.xml").write_text(TRACKMATE)
    links = read_links(tmp_path / "tracks.xml", movie)
    assert as_set(links) == {(0, 1, 1, 1), (0, 2, 1, 3)}
    assert links.unmatched == ("1 spots lie in frames that the movie does not have",)


def test_links_become_candidates_and_are_kept_as_selected(movie: Movie, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("mother_frame,mother,frame,daughter\n0,1,1,3\n1,1,2,1\n")
    links = read_links(tmp_path / "links.csv", movie)
    first, second = Tracker("distance", "SM", max_distance=2.5, links=links).track(movie).pairs
    chosen = np.flatnonzero(first.selected)
    assert [(first.mother[e], first.daughter[e]) for e in chosen] == [(0, 2)]  # seven pixels: the gate alone missed it
    assert first.cost[chosen].tolist() == [24.5]
    assert 0 < first.probability[chosen[0]] < 1e-6
    assert int(second.selected.sum()) == 1


def test_what_is_no_source_of_links_is_refused(movie: Movie, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("mother,daughter\n1,2\n")
    (tmp_path / "b.csv").write_text("mother_frame,mother,frame,daughter\n0,one,1,2\n")
    (tmp_path / "c.xml").write_text("<TrackMate>")
    (tmp_path / "d.xml").write_text("<TrackMate/>")
    (tmp_path / "e.txt").write_text("")
    for name, message in (
        ("a.csv", "lacks the columns frame, mother_frame"),
        ("b.csv", "line 2: expected whole numbers"),
        ("c.xml", "is no complete XML"),
        ("d.xml", "holds no TrackMate spots"),
        ("e.txt", "is no CSV table, CTC result folder, GEFF or TrackMate XML"),
        ("nowhere", "there is no such file or folder"),
    ):
        with pytest.raises(InputError, match=message):
            read_links(tmp_path / name, movie)


@pytest.mark.filterwarnings("ignore:masks are taken from")
def test_the_challenges_own_truth_is_a_source_of_links(data: Path) -> None:
    movie = read(data / "Fluo-N2DL-HeLa/01")
    links = read_links(data / "Fluo-N2DL-HeLa/01_GT/TRA", movie)
    assert len(links) > 8400
    assert any("not from one frame to the next" in problem for problem in links.unmatched)
    assert any("no detection covers more than half of it" in problem for problem in links.unmatched)
