"""Tables of tracks as napari, LapTrack, btrack, trackpy and Ultrack write them."""

from pathlib import Path

import numpy as np
import pytest

from dunno import Movie
from dunno.errors import InputError
from dunno.io import read_links

from .colony import TRUE_LINKS, as_set

TRACKS = {1: [(0, 1), (1, 1), (2, 1)], 2: [(0, 2), (1, 3), (2, 4)], 3: [(0, 3), (1, 2), (2, 2)]}
"""Frames and labels of the colony's true tracks."""


def rows(movie: Movie) -> list[tuple[int, int, int, float, float]]:
    """Track, frame, label, y and x."""
    found = []
    for track, cells in TRACKS.items():
        for frame, label in cells:
            here = movie.detections(frame)
            y, x = here.centroid[here.label == label][0].tolist()
            found.append((track, frame, label, y, x))
    return found


def example(folder: Path, movie: Movie) -> Path:
    lines = "".join(f"{track},{t},{label}\n" for track, t, label, _, _ in rows(movie))
    (folder / "tracks.csv").write_text("track_id,frame,label\n" + lines)
    return folder / "tracks.csv"


HEADERS = {
    "napari": ("ID,T,Y,X", "{track},{t}.0,{y},{x}"),
    "napari without names": ("", "{track},{t}.0,{y},{x}"),
    "napari, 3D columns": ("track_id,t,z,y,x", "{track},{t},0,{y},{x}"),
    "trackpy": (",y,x,mass,size,ecc,signal,raw_mass,ep,frame,particle", "7,{y},{x},1,1,0,1,1,0,{t},{track}"),
    "btrack": ("ID,t,x,y,z,parent,root,state,generation,dummy", "{track},{t},{x},{y},0,{track},{track},5,0,False"),
    "ultrack": ("track_id,t,z,y,x,id,parent_track_id,parent_id", "{track},{t},0,{y},{x},100,-1,-1"),
    "laptrack": ("frame,index,label,y,x,tree_id,track_id", "{t},0,{label},0,0,{track},{track}"),
    "regionprops": ("label,centroid-0,centroid-1,frame,track_id", "{label},{y},{x},{t},{track}"),
    "semicolons": ("track_id;frame;label", "{track};{t};{label}"),
}


@pytest.mark.parametrize("program", HEADERS)
def test_tables_of_many_programs_are_read(program: str, colony: Movie, tmp_path: Path) -> None:
    header, line = HEADERS[program]
    lines = [line.format(track=track, t=t, label=label, y=y, x=x) for track, t, label, y, x in rows(colony)]
    (tmp_path / "t.csv").write_text("\n".join([*([header] if header else []), *reversed(lines)]) + "\n")
    links = read_links(tmp_path / "t.csv", colony)
    assert (as_set(links), links.unmatched) == (TRUE_LINKS, ())


def test_a_napari_array_is_read(colony: Movie, tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.array([(track, t, y, x) for track, t, _, y, x in rows(colony)]))
    assert as_set(read_links(tmp_path / "t.npy", colony)) == TRUE_LINKS
    np.save(tmp_path / "u.npy", np.zeros((3, 7)))
    with pytest.raises(InputError, match="u.npy: cannot be read as napari tracks .7.; expected an array"):
        read_links(tmp_path / "u.npy", colony)


@pytest.mark.parametrize(
    ("header", "parent"),
    [("track_id,frame,label,parent_track_id", "2"), ("track,t,label,parent", "2.0"), ("ID,T,label,mother_track", "2")],
)
def test_parents_make_divisions(header: str, parent: str, colony: Movie, tmp_path: Path) -> None:
    lines = [f"2,0,2,0\n5,1,3,{parent}\n6,1,4,{parent}\n5,2,4,{parent}\n"]
    (tmp_path / "t.csv").write_text(f"{header}\n" + "".join(lines))
    assert as_set(read_links(tmp_path / "t.csv", colony)) == {(0, 2, 1, 3), (0, 2, 1, 4), (1, 3, 2, 4)}


def test_trees_without_parents_are_followed_where_they_are_clear(colony: Movie, tmp_path: Path) -> None:
    lines = "0,2,0,0\n1,3,0,1\n1,4,0,2\n0,1,1,3\n1,1,1,3\n"
    (tmp_path / "t.csv").write_text("frame,label,tree_id,track_id\n" + lines)
    assert as_set(read_links(tmp_path / "t.csv", colony)) == {(0, 2, 1, 3), (0, 2, 1, 4), (0, 1, 1, 1)}


def test_what_cannot_be_used_is_listed(colony: Movie, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "track_id,frame,label,parent\n1,0,1,0\n1,1,1,0\n1,1,2,0\n2,0,2,0\n2,2,4,0\n3,1,3,9\n"
    )
    links = read_links(tmp_path / "t.csv", colony)
    assert as_set(links) == {(0, 1, 1, 1), (0, 2, 2, 4)}
    assert links.unmatched == (
        "track 1 is twice in frame 1; expected one row of a track in a frame",
        "track 3 comes from track 9, which is not there",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("track_id,frame,x\n1,0,1\n", "lacks the columns .* or one of tracks .track_id, frame, and label or y, x"),
        ("track_id,frame,x\n1,0,1\n", "it has track_id, frame, x$"),
        ("track_id,frame,label\n1,0,1\n1,1,one\n", "the column label holds what is no number"),
        ("track_id,frame,label\n1,0,1\n1,1,1.5\n", "the column label has 1.5 in row 1; expected whole numbers"),
        ("track_id,frame,label\n1,0,1\n1,1\n", "row 1 ends early; expected 3 columns: track_id,frame,label"),
    ],
)
def test_a_table_that_is_not_understood_says_what_came(
    content: str, message: str, colony: Movie, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(InputError, match=message):
        read_links(tmp_path / "t.csv", colony)


def test_a_table_of_a_plane_does_not_fit_volumes(colony: Movie, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("ID,T,Y,X\n1,0,1,1\n")
    volumes = Movie([colony.masks(t)[None] for t in range(3)])
    with pytest.raises(InputError, match="has the columns ID, T, Y, X, but none for z; expected track_id, frame"):
        read_links(tmp_path / "t.csv", volumes)
