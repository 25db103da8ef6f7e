"""The tests' colony in files, and whether it came back."""

import pickle
from pathlib import Path

import imagecodecs
import numpy as np
import tifffile

from dunno import Movie

from ..conftest import COLONY


def write_frames(folder: Path, names: list[str], frames: list[np.ndarray] = COLONY, **options: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in zip(names, frames, strict=True):
        if name.endswith(".png"):
            (folder / name).write_bytes(imagecodecs.png_encode(frame))
        else:
            tifffile.imwrite(folder / name, frame, **options)
    return folder


def write_sequence(root: Path, place: str = "01_GT/TRA", stem: str = "man_track", first: int = 0) -> Path:
    write_frames(root / place, [f"{stem}{t + first:03d}.tif" for t in range(3)])
    return root / "01"


def assert_is_colony(movie: Movie) -> None:
    assert len(movie) == 3
    for t in range(3):
        np.testing.assert_array_equal(movie.masks(t), COLONY[t])
    copy = pickle.loads(pickle.dumps(movie))
    np.testing.assert_array_equal(copy.masks(2), COLONY[2])
