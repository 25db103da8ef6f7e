"""What holds for every reader; a new file in the room is tested on arrival.

The test file that mirrors a reader has `example(folder)`, which writes the colony in the reader's form and returns its path.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from dunno import read, rooms
from dunno.errors import MovieError
from dunno.io.readers import HasFrames, Reader, ReadingOptions, readers

from ...conftest import COLONY
from ..movies import assert_is_colony, write_frames

READERS = {reader.name: reader for reader in readers()}
OF_MASKS = {name: reader for name, reader in READERS.items() if getattr(reader, "has_masks", True)}
every_reader = pytest.mark.parametrize("reader", OF_MASKS.values(), ids=OF_MASKS)
every_source = pytest.mark.parametrize("reader", [each for each in READERS.values() if isinstance(each, HasFrames)])


def example_of(reader: Reader, folder: Path) -> Path:
    module = type(reader).__module__.rpartition(".")[2]
    path: Path = import_module(f"tests.io.readers.test_{module}").example(folder)
    return path


def test_the_readers_are_the_files_of_the_room() -> None:
    assert {"cellpose", "ctc", "folder", "hdf5", "numpy", "tiff", "zarr"} <= set(READERS)
    orders = [reader.order for reader in READERS.values()]
    assert orders == sorted(set(orders))


INVENTED = """
import numpy as np

class InventedReader:
    \"\"\"A NumPy array of labels.\"\"\"

    name, form, order = "invented", "an invented form (.cells)", 55

    def accepts(self, path):
        return path.suffix == ".cells"

    def read(self, path, options):
        return options.movie(np.load(path), name=path.stem, mask_source=str(path))
"""


def test_a_new_reader_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "colony.cells").open("wb") as file:
        np.save(file, np.stack(COLONY))
    with pytest.raises(MovieError, match="cannot read .cells; expected"):
        read(tmp_path / "colony.cells")
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "invented.py").write_text(INVENTED)
    monkeypatch.setattr(
        "dunno.io.readers.__path__", [*import_module("dunno.io.readers").__path__, str(tmp_path / "room")]
    )
    assert_is_colony(read(tmp_path / "colony.cells"))
    (tmp_path / "movie.mp4").touch()
    with pytest.raises(MovieError, match="an invented form"):
        read(tmp_path / "movie.mp4")


@every_reader
def test_every_reader_says_in_one_line_what_it_reads(reader: Reader) -> None:
    assert 10 < len(rooms.summary(type(reader))) < 120
    assert reader.form.startswith(("a ", "an "))


@every_reader
def test_the_colony_comes_back_from_every_form(reader: Reader, tmp_path: Path) -> None:
    path = example_of(reader, tmp_path)
    movie = read(path)
    assert_is_colony(movie)
    assert movie.path == str(path)
    assert str(tmp_path) in movie.mask_source
    assert movie.frames.tolist() == [0, 1, 2]


@every_reader
def test_a_form_is_read_by_its_own_reader(reader: Reader, tmp_path: Path) -> None:
    path = example_of(reader, tmp_path)
    assert next(each.name for each in readers() if each.accepts(path)) == reader.name


@every_reader
def test_what_is_no_movie_is_declined_without_an_error(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "nothing").touch()
    (tmp_path / "lost.tif").symlink_to(tmp_path / "nowhere.tif")
    for name in ("notes.txt", "nothing", "lost.tif", "nowhere", "no/where/at.all"):
        assert not reader.accepts(tmp_path / name)


@every_reader
def test_what_the_user_says_overrules_the_files(reader: Reader, tmp_path: Path) -> None:
    movie = read(example_of(reader, tmp_path), scale=(3.0, 2.0), interval=7.5)
    assert movie.scale == (3.0, 2.0)
    assert movie.interval == 7.5
    assert reader.read(example_of(reader, tmp_path / "again"), ReadingOptions()).interval is None


class OpenedFiles:
    """Notes which files below a folder are opened, by whomever."""

    def __init__(self) -> None:
        self.below: Path | None = None
        self.paths: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, details: tuple[Any, ...]) -> None:
        if self.below is not None and event == "open" and str(details[0]).startswith(str(self.below)):
            self.paths.append(str(details[0]))


@pytest.fixture(scope="module")
def opened() -> OpenedFiles:
    return OpenedFiles()


@every_reader
def test_a_form_is_known_by_names_and_no_file_is_opened(reader: Reader, tmp_path: Path, opened: OpenedFiles) -> None:
    path = example_of(reader, tmp_path)
    opened.below, opened.paths = tmp_path, []
    try:
        assert reader.accepts(path)
        assert opened.paths == []
        reader.read(path, ReadingOptions()).masks(0)
        assert opened.paths != []  # it would have been noticed
    finally:
        opened.below = None


@every_reader
def test_a_file_that_ends_early_is_named(reader: Reader, tmp_path: Path) -> None:
    path = example_of(reader, tmp_path)
    largest = max((file for file in tmp_path.rglob("*") if file.is_file()), key=lambda file: file.stat().st_size)
    largest.write_bytes(largest.read_bytes()[: largest.stat().st_size // 2])
    with pytest.raises(MovieError, match=r"cannot be .*\(") as caught:
        [read(path).masks(t) for t in range(3)]
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


@every_source
def test_masks_may_lie_apart_from_the_images(reader: HasFrames, tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "images.tif", np.stack(COLONY) + 50, photometric="minisblack")
    movie = read(tmp_path / "images.tif", masks=example_of(reader, tmp_path))
    assert_is_colony(movie)
    np.testing.assert_array_equal(movie.images(1), COLONY[1] + 50)


@every_source
def test_images_may_lie_apart_from_the_masks(reader: HasFrames, tmp_path: Path) -> None:
    masks = write_frames(tmp_path / "other", ["a.png", "b.png", "c.png"])
    movie = read(example_of(reader, tmp_path), masks=masks)
    assert_is_colony(movie)
    np.testing.assert_array_equal(movie.images(2), COLONY[2])
