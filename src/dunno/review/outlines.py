"""The outlines of all cells of a crop at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from dunno.types.labels import LabelImage


def outlines(labels: LabelImage) -> dict[int, str]:
    """Each label's border as an SVG path: what `crops.outline` gives, label by label, in one go.

    Example:
        >>> outlines(np.array([[7]]))
        {7: 'M0 0H1M0 1H1M0 0V1M1 0V1'}
    """
    padded = np.pad(labels, 1)
    above, below = padded[:-1, 1:-1], padded[1:, 1:-1]
    left, right = padded[1:-1, :-1].T, padded[1:-1, 1:].T
    parts: dict[int, list[str]] = defaultdict(list)
    sides = (
        (below, above, "M{1} {0}H{2}"),
        (above, below, "M{1} {0}H{2}"),
        (right, left, "M{0} {1}V{2}"),
        (left, right, "M{0} {1}V{2}"),
    )
    for one, other, line in sides:
        for label, *place in _runs(np.where(one != other, one, 0)):
            parts[label].append(line.format(*place))
    return {label: "".join(strokes) for label, strokes in parts.items()}


def _runs(values: LabelImage) -> Iterator[tuple[int, int, int, int]]:
    """(value, row, first, one past the last) of every run of one value along the rows; zeros are no runs."""
    padded = np.pad(values, ((0, 0), (1, 1)))
    row, first = np.nonzero(padded[:, 1:] != padded[:, :-1])
    value = padded[row, first + 1]
    last = np.append(first[1:], 0)  # every row ends with a zero, so that a run ends in its own row
    kept = value != 0
    columns = (value, row, first, last)
    return zip(*(column[kept].tolist() for column in columns), strict=True)
