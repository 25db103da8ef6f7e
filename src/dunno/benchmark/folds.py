"""What is calibrated on what: the first sequence for the others, or a single movie's halves for each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dunno.benchmark.units import Unit
from dunno.io import read
from dunno.types import Movie, Truth


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive frames that are tracked by themselves, with their truth."""

    movie: Movie
    truth: Truth

    def __len__(self) -> int:
        return len(self.movie)

    def part(self, selection: slice) -> Part:
        """Some of the frames."""
        return Part(self.movie.part(selection), self.truth.part(selection))


@dataclass(frozen=True, eq=False)
class Fold:
    """A sequence to evaluate.

    Attributes:
        sequence: Its name.
        whole: All of it.
        evaluate: What of it is tracked and scored: all, or its two halves, without the pair across the cut.
        calibrate: For each of those, what its calibration is fitted on.
    """

    sequence: str
    whole: Part
    evaluate: tuple[Part, ...]
    calibrate: tuple[Part, ...]


def open_folds(unit: Unit) -> list[Fold]:
    """Read a unit's movies at its frame step."""
    sequences = {name: _open(Path(unit.path) / name, unit.step) for name in unit.sequences}
    if len(sequences) == 1:
        ((name, whole),) = sequences.items()
        return [halved(name, whole)]
    first, *others = sequences.items()
    return [Fold(name, part, (part,), (first[1],)) for name, part in others]


def halved(name: str, whole: Part) -> Fold:
    """Cross-fit a single movie: each half is calibrated on the other, and no frame pair lies across the cut."""
    cut = len(whole) // 2
    halves = (whole.part(slice(0, cut)), whole.part(slice(cut, None)))
    return Fold(name, whole, halves, halves[::-1])


def _open(path: Path, step: int) -> Part:
    movie, truth = read(path, truth=True)
    return Part(movie.every(step), truth.every(step))
