"""Which annotated movies there are under a folder, and which part of them serves for what."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dunno.errors import DunnoWarning, InputError
from dunno.io import read
from dunno.tracking.tracker import Tracker
from dunno.types import Movie, Truth

ANNOTATION = "_GT"


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive frames that are tracked by themselves, with their truth."""

    sequence: str
    movie: Movie
    truth: Truth

    def __len__(self) -> int:
        return len(self.movie)

    def every(self, step: int) -> Part:
        """A lower temporal resolution."""
        return Part(self.sequence, self.movie.every(step), self.truth.every(step))


@dataclass(frozen=True)
class Dataset:
    """A folder of sequences in CTC layout."""

    path: Path  # The folder
    sequences: tuple[str, ...]  # Names of its annotated sequences, in order

    @property
    def name(self) -> str:
        """What to call it."""
        return self.path.name

    @property
    def stamp(self) -> str:
        """Changes when the annotations do, so that what was measured on other ones is not used again."""
        tables = [self.path / f"{name}{ANNOTATION}" / "TRA" / "man_track.txt" for name in self.sequences]
        found = [table.stat() if table.is_file() else None for table in tables]
        return ",".join("-" if each is None else f"{each.st_size}:{each.st_mtime_ns}" for each in found)

    def parts(self) -> tuple[Part, ...]:
        """The first is learnt from and calibrated on, the others are evaluated: sequences, or the halves of a single one."""
        return _parts(self)


@lru_cache(maxsize=1)  # a dataset's units come one after another
def _parts(dataset: Dataset) -> tuple[Part, ...]:
    whole = [_open(dataset.path / name) for name in dataset.sequences]
    if len(whole) > 1:
        return tuple(whole)
    ((only),) = whole
    cut = len(only) // 2
    halves = {"first": slice(0, cut), "second": slice(cut, None)}
    return tuple(
        Part(f"{only.sequence}, {which} half", only.movie.part(half), only.truth.part(half))
        for which, half in halves.items()
    )


def _open(path: Path) -> Part:
    """A sequence, its cells measured once for all that follows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DunnoWarning)  # what it says of the masks is in the table
        movie, truth = read(path, truth=True)
        if len(movie) > 1:
            movie = Tracker(method="SM", calibration=None, workers=1).track(movie).movie
        return Part(path.name, movie, truth)


def find_datasets(root: Path, names: Collection[str] = ()) -> list[Dataset]:
    """Find `root/<dataset>/<sequence>_GT`, all or those of some names; the root itself may also be one dataset."""
    if not root.is_dir():
        raise InputError(f"{root}: there is no such folder")
    folders = [root, *sorted(each for each in root.iterdir() if each.is_dir())]
    found = [Dataset(folder.absolute(), own) for folder in folders if (own := _sequences(folder))]
    if not found:
        raise InputError(
            f"{root}: holds no annotated movies; expected {root.name}/DATASET/01{ANNOTATION}/TRA/man_track.txt, as the Cell "
            "Tracking Challenge has it (dunno simulate makes one)"
        )
    unknown = sorted(set(names) - {each.name for each in found})
    if unknown:
        raise InputError(f"{root}: holds no {', '.join(unknown)}; there are {', '.join(each.name for each in found)}")
    return [each for each in found if not names or each.name in names]


def _sequences(folder: Path) -> tuple[str, ...]:
    annotated = sorted(each.name for each in folder.glob(f"*{ANNOTATION}") if each.is_dir())
    return tuple(name.removesuffix(ANNOTATION) for name in annotated)
