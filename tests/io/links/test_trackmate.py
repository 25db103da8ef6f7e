import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie
from dunno.errors import InputError
from dunno.io import read_links

from .colony import TRUE_LINKS, as_set

PIXEL = 0.5


def spot(name: int, frame: int, y: float, x: float) -> str:
    return f'<Spot ID="{name}" FRAME="{frame}" POSITION_X="{x}" POSITION_Y="{y}" POSITION_Z="0"/>'


def edge(first: int, second: int) -> str:
    return f'<Edge SPOT_SOURCE_ID="{first}" SPOT_TARGET_ID="{second}"/>'


def write(path: Path, spots: str, edges: str) -> Path:
    path.write_text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<TrackMate version="7.11"><Model spatialunits="micron"><AllSpots>'
        f'<SpotsInFrame frame="0">{spots}</SpotsInFrame></AllSpots><AllTracks><Track name="a">{edges}</Track></AllTracks>'
        f'</Model><Settings><ImageData pixelwidth="{PIXEL}" pixelheight="{PIXEL}" voxeldepth="1.0"/></Settings></TrackMate>'
    )
    return path


def example(folder: Path, movie: Movie) -> Path:
    spots = []
    for t in range(len(movie)):
        cells = movie.detections(t)
        for label, (y, x) in zip(cells.label.tolist(), cells.centroid * PIXEL, strict=True):
            spots.append(spot(1000 * t + label, t, y, x))
    edges = [edge(1000 * t + mother, 1000 * after + daughter) for t, mother, after, daughter in TRUE_LINKS]
    return write(folder / "tracks.xml", "".join(spots), "".join(edges))


def test_spots_are_matched_in_their_own_units_and_edges_have_no_direction(colony: Movie, tmp_path: Path) -> None:
    spots = [(10, 0, 0.75, 0.75), (11, 0, 0.75, 4.75), (20, 1, 0.75, 0.75), (21, 1, 0.75, 4.25), (70, 7, 1, 1)]
    path = write(tmp_path / "t.xml", "".join(spot(*each) for each in spots), edge(10, 20) + edge(21, 11) + edge(10, 99))
    links = read_links(path, colony)
    assert as_set(links) == {(0, 1, 1, 1), (0, 2, 1, 3)}
    assert links.unmatched == ("1 spots lie in frames that the movie does not have",)


def test_what_is_no_trackmate_file_is_refused(colony: Movie, tmp_path: Path) -> None:
    (tmp_path / "c.xml").write_text("<TrackMate>")
    with pytest.raises(InputError, match="c.xml: is no complete XML"):
        read_links(tmp_path / "c.xml", colony)
    (tmp_path / "d.xml").write_text("<TrackMate/>")
    with pytest.raises(InputError, match="d.xml: holds no TrackMate spots"):
        read_links(tmp_path / "d.xml", colony)


def test_a_large_file_is_not_held_as_a_tree(tmp_path: Path) -> None:
    """20,000 spots with outlines are 6 MB of text; as a tree they take 25 MB, their numbers less than one."""
    outline = " ".join(["0.5 0.5"] * 20)
    many = "".join(
        f'</SpotsInFrame><SpotsInFrame frame="{t}">'
        + spot(t, t, 0.0, 0.0).replace("/>", f' ROI_N_POINTS="20">{outline}</Spot>')
        for t in range(20_000)
    )
    path = write(tmp_path / "many.xml", many, edge(0, 1))
    movie = Movie(np.ones((2, 2, 2), int))
    read_links(path, movie)  # imports are not counted
    tracemalloc.start()
    links = read_links(path, movie)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert as_set(links) == {(0, 1, 1, 1)}
    assert peak < path.stat().st_size


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('POSITION_X="4.75"', 'POSITION_X=""', "t.xml: cannot be read as TrackMate XML"),
        ('FRAME="0"', 'FRAME="inf"', "t.xml: cannot be read as TrackMate XML"),
        ('ID="10"', f'ID="{9**30}"', "t.xml: cannot be read as TrackMate XML"),
        ("UTF-8", "KLINGON-8", "t.xml: (cannot be read as TrackMate XML|is no complete XML)"),
        (f'pixelwidth="{PIXEL}"', 'pixelwidth="0"', "t.xml: has pixels of size .*; expected sizes above zero"),
        (f'pixelwidth="{PIXEL}"', 'pixelwidth="nan"', "t.xml: has pixels of size"),
    ],
)
def test_numbers_that_are_none_get_one_clear_line(
    old: str, new: str, message: str, colony: Movie, tmp_path: Path
) -> None:
    path = write(tmp_path / "t.xml", spot(10, 0, 0.75, 4.75) + spot(20, 1, 0.75, 0.75), edge(10, 20))
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        read_links(path, colony)


@pytest.mark.parametrize("place", [float("inf"), float("nan"), 1e308])
def test_a_spot_without_a_place_is_listed(place: float, colony: Movie, tmp_path: Path) -> None:
    path = write(tmp_path / "t.xml", spot(10, 0, 0.75, place) + spot(20, 1, 0.75, 0.75), edge(10, 20))
    assert read_links(path, colony).unmatched == ("spot 10: has no place, or one that is not finite",)


def export(path: Path, unit: str, *particles: list[tuple[int, float, float]]) -> Path:
    """As TrackMate's action "Export tracks to XML file" writes it."""
    tracks = "".join(
        f'<particle nSpots="{len(spots)}">'
        + "".join(f'<detection t="{t}" x="{x}" y="{y}" z="0.0" />' for t, y, x in spots)
        + "</particle>"
        for spots in particles
    )
    path.write_text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<Tracks nTracks="{len(particles)}" spaceUnits="{unit}" frameInterval="1.0" '
        f'timeUnits="sec" generationDateTime="Mo, 16 Nov 2026" from="TrackMate v7.11.1">{tracks}</Tracks>'
    )
    return path


STAYS, MOVES = [(0, 1.5, 1.5), (1, 1.5, 1.5), (2, 1.5, 1.5)], [(0, 1.5, 9.5), (1, 1.5, 8.5), (2, 1.5, 8.5)]
LINKS = {(0, 1, 1, 1), (1, 1, 2, 1), (0, 2, 1, 3), (1, 3, 2, 4)}


def test_exported_tracks_are_read(colony: Movie, tmp_path: Path) -> None:
    links = read_links(export(tmp_path / "e.xml", "pixel", STAYS, MOVES), colony)
    assert (as_set(links), links.unmatched) == (LINKS, ())


def test_exported_tracks_in_micrometres_need_the_size_of_a_pixel(colony: Movie, tmp_path: Path) -> None:
    half = [[(t, y / 2, x / 2) for t, y, x in spots] for spots in (STAYS, MOVES)]
    path = export(tmp_path / "e.xml", "micron", *half)
    with pytest.raises(
        InputError, match="e.xml: has places in 'micron', and the size of a pixel is not known; give it with --scale"
    ):
        read_links(path, colony)
    assert as_set(read_links(path, Movie([colony.masks(t) for t in range(3)], scale=0.5))) == LINKS


def test_an_exported_division_is_read_and_what_follows_it_is_listed(colony: Movie, tmp_path: Path) -> None:
    divides = [(0, 1.5, 9.5), (1, 1.5, 8.5), (1, 5.0, 8.0), (2, 1.5, 8.5), (2, 4.0, 5.0)]
    links = read_links(export(tmp_path / "e.xml", "pixel", STAYS, divides), colony)
    assert as_set(links) == {(0, 1, 1, 1), (1, 1, 2, 1), (0, 2, 1, 3), (0, 2, 1, 4)}
    assert links.unmatched == (
        "a track has 2 spots in frame 1, and an export of tracks does not say which goes on as which; save the whole TrackMate "
        "file instead",
    )
