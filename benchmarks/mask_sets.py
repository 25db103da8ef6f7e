"""Real movies with masks that a program made, or that are spoiled on purpose, and what is asked of tracking them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dunno import read
from dunno.io.ctc import write_masks
from dunno.simulate import FaultShares, spoil

FAULTS = {
    "usual": FaultShares(missed=0.02, merged=0.01, split=0.01),
    "heavy": FaultShares(missed=0.05, false=0.03, merged=0.03, split=0.03),
    "false": FaultShares(false=0.03),
    "merged": FaultShares(merged=0.03),
    "split": FaultShares(split=0.03),
    "none": None,
}


@dataclass(frozen=True)
class MaskSet:
    """A movie's masks and their annotation.

    Attributes:
        name: What it is called in tables.
        movie: The sequence, for its images; a folder or a name of one that is not there.
        masks: What is tracked.
        truth: The annotation.
        cells: Whole cells with the annotation's labels, where it has markers.
        aims: The least, by column of the benchmark.
        reach: How far a cell moves between frames at the most, in pixels, for peers that must be told; they may try several.
        is_complete: Whether every cell is annotated, so that P(cell) can be judged.
    """

    name: str
    movie: Path
    masks: Path
    truth: Path
    cells: Path | None = None
    aims: Mapping[str, float] = field(default_factory=dict)
    reach: tuple[int, ...] = (10, 15, 25, 40)
    is_complete: bool = False


def mask_sets(work: Path, seeds: int) -> list[MaskSet]:
    """All of them; spoiled masks are made in `work` where they are not there yet."""
    data = Path(os.environ["DUNNO_DATA"])
    found = [
        _of(data / "iPSC-07/01", "_RES", aims={"own": 0.75, "f1": 0.80}),
        _of(data / "iPSC-07/02", "_RES", aims={"f1": 0.78}),
        _of(data / "iPSC-07/03", "_RES", aims={"own": 0.58, "f1": 0.70, "cycles": 15, "det_gain": 0.02}),
        _of(data / "iPSC-02/01", "_RES", aims={"own": 0.65, "f1": 0.70}),
        _of(data / "PhC-C2DL-PSC/01", "_RES", True, {"own": 0.14, "f1": 0.45, "cycles": 20, "det_gain": 0.02}),
        _of(data / "Fluo-C2DL-Huh7/01", "_CSTQ", reach=(25, 50, 80)),
        _of(data / "PhC-C2DH-U373/02", "_CSTQ", reach=(25, 50, 80)),
    ]
    clean = [
        MaskSet(f"{name} clean", data / name, data / f"{name}{place}", data / f"{name}_GT/TRA", whole, is_complete=True)
        for name, place, whole in (
            ("Fluo-N2DL-HeLa/01", "_ST/SEG", data / "Fluo-N2DL-HeLa/01_ST/SEG"),
            ("Fluo-N2DL-HeLa/02", "_ST/SEG", data / "Fluo-N2DL-HeLa/02_ST/SEG"),
            ("PhC-C2DL-PSC/01", "_ST/SEG", data / "PhC-C2DL-PSC/01_ST/SEG"),
            ("iPSC-07/01", "_GT/TRA", None),
            ("iPSC-07/02", "_GT/TRA", None),
            ("iPSC-07/03", "_GT/TRA", None),
        )
    ]
    heavy = [spoiled(data / f"Fluo-N2DL-HeLa/{part}", work, seed) for seed in range(seeds) for part in ("01", "02")]
    return [each for each in (*found, *heavy, *clean) if each.truth.is_dir()]


def _of(
    path: Path,
    place: str,
    whole: bool = False,
    aims: Mapping[str, float] | None = None,
    reach: tuple[int, ...] = (10, 15, 25, 40),
) -> MaskSet:
    name = f"{path.parent.name}/{path.name}"
    cells = path.with_name(f"{path.name}_ST") / "SEG" if whole else None
    truth = path.with_name(f"{path.name}_GT") / "TRA"
    return MaskSet(f"{name} {place}", path, path.with_name(path.name + place), truth, cells, aims or {}, reach)


def spoiled(path: Path, work: Path, seed: int, faults: str = "heavy") -> MaskSet:
    """A sequence whose masks are spoiled."""
    name = f"{path.parent.name}/{path.name} {faults} {seed}"
    masks, shares = work / "spoiled" / name.replace("/", "-").replace(" ", "-"), FAULTS[faults]
    assert shares is not None
    if not masks.is_dir():
        movie, truth = read(path, truth=True)
        write_masks(masks.with_suffix(".partial"), spoil(movie, truth, shares, seed).movie)
        masks.with_suffix(".partial").rename(masks)
    cells = path.with_name(f"{path.name}_ST") / "SEG"
    return MaskSet(name, path, masks, path.with_name(f"{path.name}_GT") / "TRA", cells, is_complete=True)
