"""What holds for every format of results; a new file in the room is tested on arrival."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker, rooms
from dunno.errors import InputError, OutputError
from dunno.io.writers import export, find_format
from dunno.tracking import Tracking
from dunno.types import Block

FORMATS = rooms.members("io.writers")
every_format = pytest.mark.parametrize("name", FORMATS)


def write(name: str, path: Path, tracking: Tracking, overwrite: bool = False) -> Path:
    export(name, path, tracking.blocks, tracking.about, tracking.movie, overwrite=overwrite)
    return path


def bytes_of(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def test_the_formats_are_the_files_of_the_room() -> None:
    assert {"csv", "ctc", "geff"} <= set(FORMATS)
    assert all(10 < len(rooms.summary(each)) < 120 for each in FORMATS.values())


def test_an_unknown_format_lists_what_there_is_and_a_users_own_is_found() -> None:
    with pytest.raises(InputError, match="there is no writer 'mp4'; there are .*csv, ctc, geff.*, and your own"):
        find_format("mp4")
    assert find_format("dunno.io.writers.csv:CsvWriter") is FORMATS["csv"]


@every_format
def test_the_same_tracking_has_the_same_bytes(name: str, tracking: Tracking, tmp_path: Path) -> None:
    first, second = (bytes_of(write(name, tmp_path / each, tracking)) for each in ("a", "b"))
    assert first == second
    assert sum(map(len, first.values())) > 100


@every_format
def test_tracks_are_returned_as_the_tracking_has_them(name: str, tracking: Tracking, tmp_path: Path) -> None:
    found = export(name, tmp_path / "out", tracking.blocks, tracking.about, tracking.movie)
    assert found == tracking.tracks()
    assert len(found) > 12


@every_format
def test_what_fails_on_the_way_leaves_nothing(name: str, tracking: Tracking, tmp_path: Path) -> None:
    def some() -> Iterator[Block]:
        yield tracking.block.part(0, 4)
        raise RuntimeError("the disk is on fire")

    with pytest.raises(RuntimeError, match="on fire"):
        export(name, tmp_path / "out", some(), tracking.about, tracking.movie)
    assert list(tmp_path.iterdir()) == []


@every_format
def test_dunno_replaces_its_own_results_and_nothing_else(name: str, tracking: Tracking, tmp_path: Path) -> None:
    write(name, tmp_path / "out", tracking)
    with pytest.raises(OutputError, match="out: exists already"):
        write(name, tmp_path / "out", tracking)
    write(name, tmp_path / "out", tracking, overwrite=True)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.txt").write_text("years of work")
    with pytest.raises(OutputError, match="is not an output of dunno"):
        write(name, tmp_path / "thesis", tracking, overwrite=True)
    assert bytes_of(tmp_path / "thesis") == {"chapter1.txt": b"years of work"}


@every_format
def test_the_movie_is_needed_only_where_the_format_says_so(name: str, tracking: Tracking, tmp_path: Path) -> None:
    if find_format(name).needs_masks:
        with pytest.raises(InputError, match="the movie's masks"):
            export(name, tmp_path / "out", tracking.blocks, tracking.about)
    else:
        export(name, tmp_path / "out", tracking.blocks, tracking.about)
        assert bytes_of(tmp_path / "out") == bytes_of(write(name, tmp_path / "with", tracking))


@every_format
@pytest.mark.parametrize("shape", [(3, 4, 5), (3, 2, 4, 5)])
def test_movies_without_cells_and_volumes_are_written(name: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    empty = np.zeros(shape, int)
    full = empty.copy()
    full[:2, ..., 1:3, 2] = 7
    for masks, n_tracks in ((empty, 0), (full, 1)):
        tracking = Tracker("distance", "SM", calibration=None).track(Movie(masks))
        found = export(name, tmp_path / str(n_tracks), tracking.blocks, tracking.about, tracking.movie)
        assert len(found) == n_tracks
        assert (tmp_path / str(n_tracks)).exists()
