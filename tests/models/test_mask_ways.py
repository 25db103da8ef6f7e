"""A mask of two cells that comes apart into three: one of them divided."""

import numpy as np
import pytest

from dunno import Tracker
from dunno.types import Bools, Floats

SIZE = 96
FRAMES = 12
MERGED = range(4, 8)


def disc(place: tuple[float, float], radius: float) -> Bools:
    y, x = np.mgrid[:SIZE, :SIZE]
    return np.asarray((y - place[0]) ** 2 + (x - place[1]) ** 2 <= radius**2)


def movie(born: int) -> np.ndarray:
    """Two cells beside each other, in one mask for a while; then one of them, or its two daughters, and others far away."""
    rng = np.random.default_rng(0)
    masks = np.zeros((FRAMES, SIZE, SIZE), np.uint16)
    others = [(12.0, 12.0), (12.0, 80.0), (80.0, 12.0), (80.0, 80.0), (12.0, 46.0), (80.0, 46.0)]
    for t in range(FRAMES):
        for k, place in enumerate(others):
            masks[t][disc((place[0] + rng.normal(0, 0.4), place[1] + rng.normal(0, 0.4)), 6.0)] = k + 10
        one, two = (46.0, 39.5), (46.0, 52.5)
        if t < MERGED.start:
            masks[t][disc(one, 6.4)], masks[t][disc(two, 6.0)] = 1, 2
        elif t in MERGED:
            masks[t][disc(one, 6.4) | disc(two, 6.0)] = 3
        else:
            masks[t][disc(one, 6.4)] = 4
            if born == 1:
                masks[t][disc(two, 6.0)] = 5
            else:
                masks[t][disc((41.5, 52.5), 4.2)], masks[t][disc((51.0, 52.5), 4.2)] = 5, 6
    return masks


def p_divide(masks: np.ndarray) -> Floats:
    """Of the merged mask in its last frame, and how many links leave it."""
    found = Tracker(evidence="places,masks", workers=1).track(masks)
    pair = found.pairs[MERGED.stop - 1]
    mother = int(np.flatnonzero(pair.mothers.label == 3)[0])
    return np.array([np.exp(pair.log_divide[mother]), pair.load[mother], pair.divides[mother]])


@pytest.mark.parametrize(("born", "links"), [(1, 2), (2, 3)])
def test_one_of_two_cells_in_a_mask_divides_where_three_come_out_of_it(born: int, links: int) -> None:
    probability, load, divides = p_divide(movie(born))
    assert load == links
    assert bool(divides) == (born == 2)
    assert (probability > 0.5) == (born == 2)
