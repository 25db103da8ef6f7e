"""Runs read a frame once, and notice masks that have changed."""

import json
import shutil
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

import dunno
from benchmarks.crowd import Crowd
from dunno import Movie, Tracker
from dunno.errors import DunnoWarning, InputError, MovieError
from dunno.io.cell_files import StoredCells, read_cells
from dunno.io.output import reopen_movie
from dunno.runs.run import progress_left, track_into
from dunno.work.schedule import open_pool

from .test_run import Shares, content


class Counted:
    """Frames that count how often each is read, from whatever thread; `changed` ones are rolled."""

    def __init__(self, frames: Any, changed: tuple[int, ...] = ()) -> None:
        self.frames, self.changed = frames, changed
        self.frame_shape = frames.frame_shape
        self.reads: Counter[int] = Counter()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, t: int) -> np.ndarray:
        with self._lock:
            self.reads[t] += 1
        return np.roll(self.frames[t], 1, axis=0) if t in self.changed else self.frames[t]


ONCE = dict.fromkeys(range(40), 1)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_default_run_reads_every_frame_once(tmp_path: Path, workers: int) -> None:
    masks, images = Counted(Crowd(15, 40)), Counted(Crowd(15, 40))
    track_into(Tracker(workers=workers), Movie(masks, images), tmp_path / "out")
    assert masks.reads == images.reads == ONCE


def test_tracking_in_memory_reads_every_frame_once() -> None:
    masks, images = Counted(Crowd(15, 40)), Counted(Crowd(15, 40))
    tracking = Tracker(workers=2).track(Movie(masks, images))
    assert masks.reads == images.reads == ONCE
    tracking.movie.detections(7)
    assert masks.reads == ONCE


def test_a_cost_that_looks_at_pixels_reads_them_once_more(tmp_path: Path) -> None:
    masks = Counted(Crowd(15, 16))
    track_into(Tracker("overlap", "SM", calibration=None, workers=1), Movie(masks), tmp_path / "out")
    assert masks.reads == dict.fromkeys(range(16), 2)


def test_a_folder_of_files_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dunno.io import images

    reads: Counter[str] = Counter()
    read_image = images.read_image

    def counted(path: Path) -> np.ndarray:
        reads[path.name] += 1
        return read_image(path)

    monkeypatch.setattr(images, "read_image", counted)
    (tmp_path / "masks").mkdir()
    for t in range(5):
        tifffile.imwrite(tmp_path / "masks" / f"{t}.tif", Crowd(9, 5)[t], compression="zlib")
    track_into(Tracker(method="SM"), dunno.read(tmp_path / "masks"), tmp_path / "out")
    assert reads == {f"{t}.tif": 1 for t in range(5)}


def test_the_cells_of_an_output_are_those_of_the_movie(tmp_path: Path) -> None:
    movie = Movie(Crowd(15, 40), Crowd(15, 40), scale=(2.0, 0.5)).every(2)
    track_into(Tracker(method="SM"), movie, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out" / "cells").iterdir()) == ["000000.npz", "000001.npz"]
    stored = StoredCells(tmp_path / "out" / "cells")
    for t in (0, 15, 16, 19):
        cells = movie.detections(t)
        assert stored[t].frame == 2 * t
        for name in ("label", "centroid", "area", "bbox", "brightness", "total", "texture", "covariance", "touching"):
            np.testing.assert_array_equal(getattr(stored[t], name), getattr(cells, name), err_msg=name)


class Stops(Exception):
    """What a test raises in the middle of a run."""


def stop_while_measuring(stage: str, done: int, total: int) -> None:
    if stage == "measuring frames" and done >= 32:
        raise Stops


def test_a_run_stopped_while_measuring_measures_only_what_is_missing(tmp_path: Path) -> None:
    masks, images = Counted(Crowd(15, 100)), Counted(Crowd(15, 100))
    movie = Movie(masks, images)
    track_into(Tracker(method="SM", workers=1), movie, tmp_path / "whole")
    images.reads.clear()
    with pytest.raises(Stops):
        track_into(Tracker(method="SM", workers=1), movie, tmp_path / "out", tell=stop_while_measuring)
    kept = len(list((tmp_path / "out.partial" / "cells").glob("*.npz")))
    assert 2 <= kept < 7
    left = progress_left(tmp_path / "out")
    assert left is not None and left.startswith(f"{kept} blocks of measured frames are kept in")
    track_into(Tracker(method="SM", workers=1), movie, tmp_path / "out", resume=True)
    assert images.reads == dict.fromkeys(range(100), 1)
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def test_a_run_stopped_while_measuring_is_not_continued_with_other_choices(tmp_path: Path) -> None:
    with pytest.raises(Stops):
        track_into(
            Tracker(method="SM", workers=1),
            Movie(Crowd(9, 100)),
            tmp_path / "out",
            tell=stop_while_measuring,
        )
    with pytest.raises(InputError, match=r"was begun with scale null, not \[2.0, 2.0\]"):
        track_into(Tracker(method="SM"), Movie(Crowd(9, 100), scale=2.0), tmp_path / "out", resume=True)


@pytest.mark.parametrize("moment", ["while measuring", "while tracking", "complete"])
def test_a_resumed_run_refuses_masks_that_have_changed_and_names_the_first(tmp_path: Path, moment: str) -> None:
    def tell(stage: str, done: int, total: int) -> None:
        wanted = {"while measuring": "measuring frames", "while tracking": "tracking frames"}.get(moment)
        if stage == wanted and done >= 64:
            raise Stops

    tracker = Tracker(method="SM", workers=2)
    try:
        track_into(tracker, Movie(Crowd(9, 100)), tmp_path / "out", tell=tell)
    except Stops:
        pass
    changed = Movie(Counted(Crowd(9, 100), changed=(37, 5)))
    where = "out" if moment == "complete" else "out.partial"
    with pytest.raises(InputError, match=f"{where}: frame 5: the masks have changed .* start anew without --resume"):
        track_into(tracker, changed, tmp_path / "out", resume=True)
    track_into(tracker, Movie(Counted(Crowd(9, 100))), tmp_path / "out", resume=True)  # the same masks are fine


def test_a_complete_output_of_an_older_version_is_not_taken_for_this_run(tmp_path: Path) -> None:
    movie, tracker = Movie(Crowd(9, 5)), Tracker(method="SM")
    track_into(tracker, movie, tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / "cells")
    with pytest.raises(InputError, match="has no cells/ folder; it was made by an older version, track again"):
        track_into(tracker, movie, tmp_path / "out", resume=True)


def folder_of_masks(folder: Path, frames: int, broken: int) -> Path:
    folder.mkdir(parents=True)
    for t in range(frames):
        tifffile.imwrite(folder / f"m{t:02d}.tif", Crowd(12, frames)[t], compression="zlib")
    path = folder / f"m{broken:02d}.tif"
    path.write_bytes(path.read_bytes()[:200])
    return folder


def test_a_broken_frame_is_marked_in_its_file_and_stays_broken_on_resume(tmp_path: Path) -> None:
    masks = folder_of_masks(tmp_path / "masks", 20, broken=7)
    tracker = Tracker(method="SM")
    found = track_into(tracker, dunno.read(masks), tmp_path / "out")
    cells, broken = read_cells(tmp_path / "out" / "cells" / "000000.npz")
    assert list(broken) == [7]
    assert "m07.tif: cannot be read" in broken[7]
    assert cells.rows(7) == slice(int(cells.ends[7]), int(cells.ends[7]))
    assert [each.frame for each in found.summary.broken] == [7]
    again = track_into(tracker, dunno.read(masks), tmp_path / "out", resume=True)
    assert [each.frame for each in again.summary.broken] == [7]
    tifffile.imwrite(masks / "m07.tif", Crowd(12, 20)[7])
    with pytest.raises(InputError, match="frame 7: the masks have changed"):
        track_into(tracker, dunno.read(masks), tmp_path / "out", resume=True)


def test_images_that_cannot_be_read_leave_cells_without_light_and_one_warning(tmp_path: Path) -> None:
    masks = [Crowd(12, 6)[t] for t in range(6)]
    images = [*masks[:4], masks[4][:5], masks[5][:5]]
    with pytest.warns(DunnoWarning, match=r"frame 4: a frame of shape .* \(frame 4 and 1 more\)") as caught:
        track_into(Tracker(method="SM"), Movie(masks, images), tmp_path / "out")
    assert len(caught) == 1
    stored = StoredCells(tmp_path / "out" / "cells")
    assert [bool(np.isnan(stored[t].brightness).all()) for t in range(6)] == [False] * 4 + [True] * 2
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["summary"]["broken"] == []


def test_a_movie_in_memory_with_a_broken_frame_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MovieError, match="m07.tif: cannot be read"):
        Tracker(method="SM").track(dunno.read(folder_of_masks(tmp_path / "masks", 20, broken=7)))


@pytest.mark.parametrize("kind", ["threads", "processes", "elsewhere"])
def test_cells_are_the_same_to_the_bit_whoever_measures_them(tmp_path: Path, kind: str) -> None:
    Crowd(20, 60).save(tmp_path / "masks.zarr")
    movie = dunno.read(tmp_path / "images.zarr", masks=tmp_path / "masks.zarr")
    track_into(Tracker(method="SM", workers=1), movie, tmp_path / "one")
    with open_pool(4 if kind == "threads" else 2, processes=kind == "processes") as pool:
        executor = Shares(pool) if kind == "elsewhere" else pool  # one that dunno does not know might be anywhere
        track_into(Tracker(method="SM", executor=executor, workers=2), movie, tmp_path / "many")
    assert len(list((tmp_path / "many" / "cells").iterdir())) == 4
    assert content(tmp_path / "one") == content(tmp_path / "many")


def test_an_output_is_opened_with_its_cells(tmp_path: Path) -> None:
    Crowd(20, 20).save(tmp_path / "masks.zarr")
    track_into(Tracker(method="SM"), dunno.read(tmp_path / "masks.zarr"), tmp_path / "out")
    movie = reopen_movie(tmp_path / "out")
    assert movie.has_cells
    Crowd(20, 20, seed=1).save(tmp_path / "masks.zarr")
    assert len(movie.detections(3)) == len(Movie(Crowd(20, 20)).detections(3))
    with pytest.raises(MovieError, match="frame 3: the masks have changed"):
        movie.masks(3)
    shutil.rmtree(tmp_path / "out" / "cells")
    older = reopen_movie(tmp_path / "out")
    assert not older.has_cells
    older.masks(3)
