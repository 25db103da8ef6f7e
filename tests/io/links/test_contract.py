"""What holds for every source of links; a new file in the room is tested on arrival.

The test file that mirrors a source has `example(folder, movie)`, which writes the colony's true links in the source's form
and returns their path.
"""

import pickle
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker, rooms
from dunno.errors import DunnoWarning, InputError
from dunno.io import read_links
from dunno.io.links import LinkSource, sources
from dunno.io.writers import export
from dunno.simulate import colony as simulate

from ...conftest import COLONY
from .colony import TRUE_LINKS, as_set

SOURCES = {source.name: source for source in sources()}
every_source = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


def example_of(source: LinkSource, folder: Path, movie: Movie) -> Path:
    module = type(source).__module__.rpartition(".")[2]
    path: Path = import_module(f"tests.io.links.test_{module}").example(folder, movie)
    return path


def test_the_sources_are_the_files_of_the_room() -> None:
    assert {"csv", "ctc", "geff", "trackmate", "tracks"} <= set(SOURCES)
    orders = [source.order for source in SOURCES.values()]
    assert orders == sorted(set(orders))
    assert all(10 < len(rooms.summary(type(source))) < 120 for source in SOURCES.values())


@every_source
def test_the_true_links_come_back_from_every_form(source: LinkSource, colony: Movie, tmp_path: Path) -> None:
    path = example_of(source, tmp_path, colony)
    links = read_links(path, colony)
    assert as_set(links) == TRUE_LINKS
    assert links.unmatched == ()
    assert links.source == str(path)
    assert links.frame.tolist() == sorted(links.frame.tolist())
    assert as_set(pickle.loads(pickle.dumps(links))) == TRUE_LINKS


@every_source
def test_a_form_is_read_by_its_own_source(source: LinkSource, colony: Movie, tmp_path: Path) -> None:
    path = example_of(source, tmp_path, colony)
    assert next(each.name for each in sources() if each.accepts(path)) == source.name


@every_source
def test_links_of_part_of_a_movie_are_kept_and_the_others_told(
    source: LinkSource, colony: Movie, tmp_path: Path
) -> None:
    links = read_links(example_of(source, tmp_path, colony), colony.part(slice(0, 2)))
    assert as_set(links) == {link for link in TRUE_LINKS if link[2] < 2}


@every_source
def test_links_of_a_movie_without_cells_are_all_unmatched(source: LinkSource, colony: Movie, tmp_path: Path) -> None:
    links = read_links(example_of(source, tmp_path, colony), Movie([np.zeros_like(frame) for frame in COLONY]))
    assert len(links) == 0
    assert len(links.unmatched) >= 6
    assert all(problem and "\n" not in problem for problem in links.unmatched)


@every_source
def test_what_is_no_source_is_declined_without_an_error(source: LinkSource, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "folder").mkdir()
    for name in ("notes.txt", "folder", "nowhere", "no/where/at.all"):
        assert not source.accepts(tmp_path / name)


class WatchedFrames:
    """Masks that count how often each is read, and how many are in memory at a time."""

    def __init__(self, masks: list[np.ndarray]) -> None:
        self.masks, self.reads = masks, [0] * len(masks)

    def __len__(self) -> int:
        return len(self.masks)

    def __getitem__(self, t: int) -> np.ndarray:
        self.reads[t] += 1
        return self.masks[t].copy()


@every_source
def test_a_frame_is_read_once(source: LinkSource, colony: Movie, tmp_path: Path) -> None:
    path = example_of(source, tmp_path, colony)
    frames = WatchedFrames(COLONY)
    movie = Movie(frames)
    frames.reads = [0, 0, 0]
    read_links(path, movie)
    assert frames.reads == [1, 1, 1]


@pytest.mark.parametrize(("name", "place"), [("csv", "edges.csv"), ("ctc", ""), ("geff", "")])
def test_what_dunno_writes_it_reads_again(name: str, place: str, tmp_path: Path) -> None:
    movie = simulate(cells=10, frames=8, motion=0.3, cycle=5).movie
    tracking = Tracker("distance", "SM", calibration=None).track(movie)
    export(name, tmp_path / "out", tracking.blocks, tracking.about, movie)
    expected = {
        (p.mother_frame, int(p.mothers.label[p.mother[e]]), p.daughter_frame, int(p.daughters.label[p.daughter[e]]))
        for p in tracking.pairs
        for e in np.flatnonzero(p.selected)
    }
    links = read_links(tmp_path / "out" / place, movie)
    assert as_set(links) == expected
    assert links.unmatched == ()


def test_what_is_no_source_of_links_is_refused_with_what_is(colony: Movie, tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text("")
    with pytest.raises(
        InputError, match="e.txt: is no table of tracks, CSV table, CTC result folder, GEFF or TrackMate XML"
    ):
        read_links(tmp_path / "e.txt", colony)
    with pytest.raises(
        InputError, match="nowhere: there is no such file or folder; --links takes a table of tracks, CSV table, CTC"
    ):
        read_links(tmp_path / "nowhere", colony)


def test_links_become_candidates_and_are_kept_as_selected(colony: Movie, tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("mother_frame,mother,frame,daughter\n0,1,1,3\n1,1,2,1\n")
    links = read_links(tmp_path / "links.csv", colony)
    first, second = Tracker("distance", "SM", calibration=None, max_distance=2.5, links=links).track(colony).pairs
    chosen = np.flatnonzero(first.selected)
    assert [(first.mother[e], first.daughter[e]) for e in chosen] == [(0, 2)]  # seven pixels: the gate alone missed it
    assert first.cost[chosen].tolist() == [24.5]
    assert 0 < first.probability[chosen[0]] < 1e-6
    assert int(second.selected.sum()) == 1


@pytest.mark.parametrize("name", ["geff", "tracks"])
def test_places_in_the_other_unit_are_recognised_and_told(name: str, colony: Movie, tmp_path: Path) -> None:
    scaled = Movie([colony.masks(t) for t in range(3)], scale=0.1)
    path = example_of(SOURCES[name], tmp_path, colony)  # in pixels
    if name == "tracks":  # in micrometres
        module = import_module("tests.io.links.test_tracks")
        rows = [f"{track},{t},{y / 10},{x / 10}" for track, t, _, y, x in module.rows(colony)]
        path.write_text("\n".join(["ID,T,Y,X", *rows]))
    with pytest.warns(
        DunnoWarning, match="its places fit the masks in (pixels, not in µm|µm, not in pixels), and are taken so"
    ):
        assert as_set(read_links(path, scaled)) == TRUE_LINKS
