"""All outlines at once against one at a time."""

import re

import numpy as np

from dunno.report.crops import outline, outlines


def strokes(path: str) -> set[tuple[str, int, int]]:
    """A path as edges of single pixels."""
    found = set()
    for x, y, way, end in re.findall(r"M(\d+) (\d+)([HV])(\d+)", path):
        first = int(x) if way == "H" else int(y)
        found |= {(way, k if way == "H" else int(x), int(y) if way == "H" else k) for k in range(first, int(end))}
    return found


def test_all_at_once_are_what_each_is_alone() -> None:
    labels = np.random.default_rng(0).integers(0, 4, (9, 7)) * 5
    found = outlines(labels)
    assert sorted(found) == [5, 10, 15]
    for label, path in found.items():
        assert strokes(path) == strokes(outline(labels == label))


def test_an_empty_crop_has_none() -> None:
    assert outlines(np.zeros((3, 3), np.int64)) == {}
