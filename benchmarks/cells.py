"""What measuring the cells of a movie costs, beside reading it.

python -m benchmarks.cells MOVIE

Milliseconds of processor per frame, the fastest of a few rounds: decoding masks and images, the light measure (area, centroid, box:
all that there was before), the full one without and with the image, the digest alone, the parts and unions of all masks (which only
masks that are not clean have), and writing cells and reading them back.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.clock import fastest
from dunno import read
from dunno.io.cell_files import read_cells, write_cells
from dunno.segments.glance import CUT_IN_THREE
from dunno.segments.pixels import cut, unite
from dunno.types import Detections, Movie
from dunno.types.labels import measure
from dunno.types.measurements import digest_of, measure_cells

ROUNDS = 5


def main(path: str) -> None:
    """Print a line per step."""
    movie = read(path)
    frames = range(len(movie))
    cells = [movie.detections(t).without_pixels() for t in frames]
    print(f"{movie}, {sum(map(len, cells)):,} cells; milliseconds per frame")
    with tempfile.TemporaryDirectory() as folder:
        for name, step in steps(movie, cells, Path(folder)).items():
            print(f"{name:>34} {sum(fastest(ROUNDS, step, t) for t in frames) / len(frames):8.3f}")


def steps(movie: Movie, cells: list[Detections], folder: Path) -> dict[str, Callable[[int], object]]:
    """What is measured, each for one frame."""
    masks, images = {}, {}
    scale = np.array(movie.scale)

    def kept(t: int) -> tuple[object, object]:
        if t not in masks:  # one frame at a time: those that were just read are still near the processor
            masks.clear(), images.clear()
            masks[t], images[t] = movie.masks(t), movie.images(t) if movie.has_images else None
        return masks[t], images[t]

    file = folder / "cells.npz"
    return {
        "reading masks": movie.masks,
        **({"reading images": movie.images} if movie.has_images else {}),
        "all of it, with reading": movie.detections,
        "light measure": lambda t: measure(kept(t)[0], ""),
        "full measure without image": lambda t: measure_cells(kept(t)[0], None, ""),
        **({"full measure with image": lambda t: measure_cells(*kept(t), "")} if movie.has_images else {}),
        "parts of all masks": lambda t: cut(*kept(t), cells[t], *every_one(cells[t]), scale),
        "unions of all masks": lambda t: unite(kept(t)[0], cells[t], scale),
        "digest": lambda t: digest_of(kept(t)[0], ""),
        "writing a frame's cells": lambda t: write_cells(file, [cells[t]]),
        "reading a frame's cells": lambda t: read_cells(file),
    }


def every_one(cells: Detections) -> tuple[np.ndarray, np.ndarray]:
    """All rows, and into how many parts they are cut: the larger ones in three."""
    return np.arange(len(cells)), 2 + (cells.area > CUT_IN_THREE * np.median(cells.area))


if __name__ == "__main__":
    main(sys.argv[1])
