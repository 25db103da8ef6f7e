"""napari's reader of outputs: a folder that `dunno track` or `dunno demo` wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from dunno.io.writing import RUN_FILE, read_marker
from dunno.napari.layers import Layer, begin_at_first_frame, output_layers

Paths = str | Sequence[str]


def get_reader(path: Paths) -> Callable[[Paths], list[Layer]] | None:
    """What reads a path; `None` where it is no output of dunno, so that others are asked."""
    return None if output_of(path) is None else read_output


def output_of(path: Paths) -> Path | None:
    """The output that a path means: the folder itself, its `run.json`, or that of a demo."""
    if not isinstance(path, str):
        return output_of(path[0]) if len(path) == 1 else None
    folder = Path(path).parent if Path(path).name == RUN_FILE else Path(path)
    return next((each for each in (folder, folder / "tracks") if "parameters" in read_marker(each)), None)


def read_output(path: Paths) -> list[Layer]:
    """The layers of an output: image and masks, tracks coloured by confidence, doubtful cells as points."""
    folder = output_of(path)
    begin_at_first_frame()
    return [] if folder is None else output_layers(folder)
