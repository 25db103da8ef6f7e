"""A simulated colony with its truth: made, spoiled where that is asked for, and written as a CTC sequence."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import numpy as np

from dunno.io.ctc import write_masks, write_sequence
from dunno.io.writing import whole
from dunno.simulate.growth import Growth, Snapshot
from dunno.simulate.parameters import Parameters
from dunno.simulate.rendering import RenderedImages, RenderedMasks
from dunno.simulate.spoiling import FaultShares, spoil
from dunno.types import Movie, Truth


@dataclass(frozen=True, eq=False)
class Colony:
    """A simulated movie with its truth, the parameters it was made from and what really happened in it.

    Where masks are spoiled, `faults` says how many, and `clean` is the movie with good ones.
    """

    movie: Movie
    truth: Truth
    parameters: Parameters
    events: dict[str, float]
    faults: FaultShares = field(default_factory=FaultShares)
    clean: Movie | None = None

    def save(self, path: str | Path) -> None:
        """Write a CTC sequence, such as `sim/01`: images, `01_GT/TRA`, `01_GT/SEG` and `01_GT/simulation.json`.

        Spoiled masks are written as a program's would be, into `01_RES`.
        """
        path = Path(path)
        with whole(path) as images, whole(path.with_name(f"{path.name}_GT")) as annotation:
            write_sequence(images, annotation, self.clean or self.movie, self.truth)
            about = {
                "version": version("dunno"),
                "parameters": asdict(self.parameters),
                "faults": asdict(self.faults),
                "events": self.events,
            }
            (annotation / "simulation.json").write_text(json.dumps(about, indent=2) + "\n")
        if self.faults:
            with whole(spoiled_folder(path)) as folder:
                write_masks(folder, self.movie)


def spoiled_folder(path: Path) -> Path:
    """Where the spoiled masks of a sequence are written."""
    return path.with_name(f"{path.name}_RES")


def colony(
    cells: int = 30,
    frames: int = 40,
    motion: float = 0.3,
    seed: int = 0,
    *,
    missed: float = 0.0,
    false: float = 0.0,
    merged: float = 0.0,
    split: float = 0.0,
    **others: float,
) -> Colony:
    """Simulate a colony.

    Args:
        cells: Number of cells in the first frame.
        frames: Number of frames.
        motion: Standard deviation of a step along each axis, as a fraction of the spacing between cells.
        seed: Makes it repeatable.
        missed: Share of the masks that are missing (see `dunno.simulate.FaultShares`).
        false: Number of false masks, as a share of all.
        merged: Share of the masks that are joined with a neighbour's.
        split: Share of the masks that are cut in two.
        **others: More of `Parameters`.

    Example:
        >>> colony(cells=5, frames=3).movie
        Movie('simulation', 3 frames of 76×76, simulated)
    """
    parameters = Parameters(cells, frames, motion, seed, **others)  # type: ignore[arg-type]
    growth = Growth(parameters)
    snapshots = [growth.step() for _ in range(frames)]
    masks, images = RenderedMasks(parameters, snapshots), RenderedImages(parameters, snapshots)
    movie = Movie(masks, images, name="simulation", mask_source="simulated")
    truth = replace(growth.truth(snapshots), markers=masks)
    events = _events(snapshots, truth)
    faults = FaultShares(missed, false, merged, split)
    if not faults:
        return Colony(movie, truth, parameters, events)
    spoiled = spoil(movie, truth, faults, seed)
    return Colony(spoiled.movie, spoiled.truth, parameters, events, faults, movie)


def _events(snapshots: list[Snapshot], truth: Truth) -> dict[str, float]:
    """Count what really happened, for whoever estimates it."""
    mothers, counts = np.unique(truth.mother[truth.mother > 0], return_counts=True)
    steps = [
        (later.centre[now] - earlier.centre[before])
        for earlier, later in pairwise(snapshots)
        for _, before, now in [np.intersect1d(earlier.track, later.track, return_indices=True)]
    ]
    squared = (np.concatenate(steps) ** 2).sum(1) if steps else np.empty(0)
    return {
        "detections": float(sum(len(snapshot.track) for snapshot in snapshots)),
        "divisions": float((counts == 2).sum()),
        "appearances": float(((truth.mother == 0) & (truth.first > 0)).sum()),
        "losses": float(((truth.last < len(snapshots) - 1) & ~np.isin(truth.track, mothers)).sum()),
        "mean_squared_displacement": float(squared.mean()) if len(squared) else 0.0,
    }
