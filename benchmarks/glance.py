"""What a glance at the table of cells says: which movies' masks are clean, and which masks may hold two cells.

    DUNNO_DATA=... python -m benchmarks.glance [--every 1,5]

A Markdown row per movie: merges per 1,000 masks that were looked at, the verdict, and milliseconds of processor for the movie.
Where masks are not clean: segments per mask (masks, parts, unions; of some frames), and which share of the masks that hold two
annotated cells is cut in two, and of those that hold more in three. Spoiled as in `benchmarks.mask_sets`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.clock import fastest
from benchmarks.held import MASKS, numbers_held, with_annotation
from benchmarks.mask_sets import FAULTS
from dunno import Movie, read
from dunno.segments.glance import Glance, glance
from dunno.simulate import spoil
from dunno.types import KeptCells

CLEAN = (
    "Fluo-N2DL-HeLa/01_ST/SEG",
    "Fluo-N2DL-HeLa/02_ST/SEG",
    "Cglut-2min/01_GT/TRA",
    "PhC-C2DL-PSC/01_ST/SEG",
    "DIC-C2DH-HeLa/01_ST/SEG",
    "DIC-C2DH-HeLa/02_ST/SEG",
    "Migration/01_GT/TRA",
    "BF-C2DL-HSC/02_GT/TRA",
    "BF-C2DL-MuSC/01_GT/TRA",
    "iPSC-07/01_GT/TRA",
    "iPSC-07/03_GT/TRA",
    "iPSC-02/01_GT/TRA",
)
PROGRAMS = ("Fluo-C2DL-Huh7/01_CSTQ", "PhC-C2DH-U373/02_CSTQ")
SPOILED = ("Fluo-N2DL-HeLa/01", "Fluo-N2DL-HeLa/02")
SAMPLED = 12
"""Frames whose segments are counted."""

HEADER = "| masks | every | masks | merges per 1,000 | verdict | ms | segments per mask | of two kept | of more kept |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", default="1,5")
    steps = [int(step) for step in parser.parse_args().every.split(",")]
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    for name, movie, held in movies(Path(os.environ["DUNNO_DATA"])):
        cells = {t: movie.detections(t).without_pixels() for t in range(len(movie))}
        kept = movie.with_cells(KeptCells(cells))
        for step in steps:
            few = kept.every(step)
            seen = glance(few)
            columns = [
                name, str(step), f"{seen.masks:,}", f"{1e3 * seen.merges / seen.masks:.2f}",
                "clean" if seen.are_clean() else "not clean", f"{fastest(3, glance, few):.0f}",
            ]  # fmt: skip
            columns += (
                ["", "", ""]
                if seen.are_clean()
                else [f"{segments_per_mask(few, seen):.2f}", *shares_kept(kept, seen, held)]
            )
            print(f"| {' | '.join(columns)} |", flush=True)


def movies(data: Path) -> Iterator[tuple[str, Movie, np.ndarray | None]]:
    """Their masks, and how many annotated cells each mask holds, where that is known."""
    for name in (*CLEAN, *PROGRAMS):
        sequence = name.split("/")[1].partition("_")[0]
        yield name, read(data / name.split("/")[0] / sequence, masks=data / name), None
    for name in MASKS:
        movie, annotated = with_annotation(data, name)
        yield f"{name}_RES", movie, numbers_held(movie, annotated)
    for name in SPOILED:
        movie, truth = read(data / name, truth=True)
        for kind in ("usual", "heavy"):
            faults = FAULTS[kind]
            assert faults is not None
            worse = spoil(movie, truth, faults).movie
            yield f"{name}, {kind} faults", worse, numbers_held(worse, movie)


def segments_per_mask(movie: Movie, seen: Glance) -> float:
    """Masks, parts and unions of some frames, over masks."""
    masks = segments = 0
    for t in np.unique(np.linspace(0, len(movie) - 1, SAMPLED).astype(int)).tolist():
        cells = movie.detections(t)
        parts, unions = seen.segments(movie.masks(t), None, cells, np.array(movie.scale))
        masks += len(cells)
        segments += len(cells) + len(parts.row) + len(unions.first)
    return segments / masks


def shares_kept(movie: Movie, seen: Glance, held: np.ndarray | None) -> list[str]:
    """Of masks that hold two annotated cells, those that are cut; of those that hold more, those that are cut in three."""
    if held is None:
        return ["", ""]
    into = seen.into(np.concatenate([movie.detections(t).area for t in range(len(movie))]))
    two, more = into[held == 2] >= 2, into[held > 2] >= 3
    return [f"{each.sum()} of {len(each)} ({each.mean():.4f})" if len(each) else "–" for each in (two, more)]


if __name__ == "__main__":
    main()
