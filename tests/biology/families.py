"""A colony that is known by heart."""

import numpy as np

from dunno.biology import CellRows, Lineage


def rows_of(counts: list[int], **others: object) -> CellRows:
    """Masks of which nothing matters but how many each frame has; a frame takes 10 minutes."""
    ends = np.cumsum([0, *counts])
    n, t = int(ends[-1]), len(counts)
    given: dict[str, object] = {
        "frames": np.arange(t),
        "times": 10.0 * np.arange(t),
        "unit": "minutes",
        "ends": ends,
        "label": np.concatenate([np.arange(count) + 1 for count in counts]),
        "place": np.column_stack([np.arange(n) * 3.0, np.arange(n) * 4.0]),
        "area": np.full(n, 4.0),
        "brightness": np.full(n, np.nan),
        "total": np.full(n, np.nan),
        "at_border": np.zeros(n, bool),
    }
    return CellRows(**{**given, **others})  # type: ignore[arg-type]


def colony() -> Lineage:
    """A divides into B and C (frame 1); B divides into D and E (frame 3); C is lost after frame 2; F appears in frame 3.

    Rows, frame by frame: A · B C · B C · D E F · D E F.
    """
    mother = [-1, 0, 0, 1, 2, 3, 3, -1, 5, 6, 7]
    return Lineage.from_mothers(rows_of([1, 2, 2, 3, 3]), np.array(mother))
