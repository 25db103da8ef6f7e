"""What masks look like at first sight."""

from __future__ import annotations

import numpy as np
import pytest

from dunno import Movie
from dunno.segments.glance import glance
from dunno.segments.guess import scale_of
from dunno.segments.table import segment_table


def shown(*frames: int) -> Movie:
    masks = np.zeros((5, 60, 60), np.int32)
    for t in frames:
        masks[t, 5:15, 5:15], masks[t, 30:40, 30:40] = 1, 2
    return Movie(masks)


@pytest.mark.parametrize("frames", [(0,), (2,), (0, 4), (1, 2)])
@pytest.mark.filterwarnings("error")
def test_masks_without_neighbours_in_time_have_a_step_too(frames: tuple[int, ...]) -> None:
    movie = shown(*frames)
    scale = scale_of(segment_table(movie, glance(movie)).segments)
    assert scale.area == 100.0 and scale.crowd == pytest.approx(2 * len(frames) / 5)
    assert 0 < scale.step < scale.area
