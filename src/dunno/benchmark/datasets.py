"""Which annotated movies there are under a folder."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

from dunno.errors import DunnoError, DunnoWarning, InputError
from dunno.io import read

ANNOTATION = "_GT"


@dataclass(frozen=True)
class Dataset:
    """A folder of sequences in CTC layout.

    Attributes:
        path: The folder.
        sequences: Names of its annotated sequences, in order; the first is calibrated on.
    """

    path: Path
    sequences: tuple[str, ...]

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

    @property
    def has_images(self) -> bool:
        """Whether its first sequence has images; one that cannot be read is said to, and its units say what is wrong."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DunnoWarning)
                return read(self.path / self.sequences[0]).has_images
        except DunnoError:
            return True


def find_datasets(root: Path) -> list[Dataset]:
    """Find `root/<dataset>/<sequence>_GT`; the root itself may also be one dataset."""
    if not root.is_dir():
        raise InputError(f"{root}: there is no such folder")
    own = _sequences(root)
    if own:
        return [Dataset(root.absolute(), own)]
    folders = sorted(each for each in root.iterdir() if each.is_dir())
    found = [Dataset(folder.absolute(), _sequences(folder)) for folder in folders if _sequences(folder)]
    if not found:
        raise InputError(
            f"{root}: holds no annotated movies; expected {root.name}/DATASET/01{ANNOTATION}/TRA/man_track.txt, as the Cell "
            "Tracking Challenge has it (dunno simulate makes one)"
        )
    return found


def _sequences(folder: Path) -> tuple[str, ...]:
    annotated = sorted(each.name for each in folder.glob(f"*{ANNOTATION}") if each.is_dir())
    return tuple(name.removesuffix(ANNOTATION) for name in annotated)
