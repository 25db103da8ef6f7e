"""Who is who after two cells came apart: free particles of which the truth is known, and a spoiled colony."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from dunno import Tracker
from dunno.lineage.tracks import TrackRow
from dunno.simulate import FaultShares, Spoiled, colony, spoil
from dunno.tracking import Tracking
from dunno.tracking.identities import IdentityTable, identities
from dunno.types.block import Edges

FRAMES, MERGED_AT, APART_AT = 6, 2, 4


class Cells(SimpleNamespace):
    """Columns of cells."""

    def __len__(self) -> int:
        return len(self.frame)


@dataclass
class World:
    """Pairs of free particles, far from each other; every second pair shares a mask for two frames."""

    cells: Cells
    edges: Edges
    tracks: list[TrackRow]
    crossed: dict[int, bool]
    """By merged track, whether the first one before is the second one after."""


def world(n: int, motion: float, sizes: float, seed: int) -> World:
    rng = np.random.default_rng(seed)
    rows: list[tuple[int, int, float, float, float]] = []
    tracks: list[TrackRow] = []
    crossed: dict[int, bool] = {}
    edges: list[tuple[int, int]] = []

    def track(first: int, places: np.ndarray, log_area: float, ending: str) -> tuple[int, int, int]:
        number, begin = len(tracks) + 1, len(rows)
        tracks.append(TrackRow(number, first, first + len(places) - 1, 0, ending=ending))
        noise = rng.normal(0, 0.1, len(places))
        area = np.pi * np.exp(log_area + noise)
        rows.extend((first + t, number, *places[t], area[t]) for t in range(len(places)))
        edges.extend((begin + t, begin + t + 1) for t in range(len(places) - 1))
        return number, begin, len(rows) - 1

    for k in range(n):
        angle = rng.uniform(0, 2 * np.pi)
        start = np.array([[0, 0], [2 * np.sin(angle), 2 * np.cos(angle)]]) + np.array([100.0 * k, 0])
        steps = rng.normal(0, motion, (2, FRAMES, 2))
        steps[:, 0] = 0
        path, size = start[:, None] + np.cumsum(steps, axis=1), rng.normal(0, sizes, 2)
        if k % 2:
            for i in range(2):
                track(0, path[i], size[i], "end")
            continue
        before = [track(0, path[i, :MERGED_AT], size[i], "merged") for i in range(2)]
        number, begin, end = track(MERGED_AT, path[:, MERGED_AT:APART_AT].mean(axis=0), 0.7, "apart")
        order = [0, 1] if rng.random() < 0.5 else [1, 0]
        after = [track(APART_AT, path[i, APART_AT:], size[i], "end") for i in order]
        edges.extend((each[2], begin) for each in before)
        edges.extend((end, each[1]) for each in after)
        crossed[number] = order == [1, 0]
    frame, owner, y, x, area = np.array(rows).T
    numbers = {"frame": frame.astype(np.int64), "track": owner.astype(np.int64)}
    table = Cells(**numbers, place=np.stack([y, x], axis=1), area=area)
    mother, daughter = np.array(edges, np.int64).T
    none = np.zeros(len(mother))
    return World(
        table, Edges(mother, daughter, none.astype(int), none, none, np.ones(len(none), bool)), tracks, crossed
    )


def outcome(made: World, found: IdentityTable) -> tuple[np.ndarray, np.ndarray]:
    """Whether each told order is right, and how probable it was said to be."""
    right = []
    for merged, after in zip(found.merged.tolist(), found.after.tolist(), strict=True):
        told_crossed = after[0] > after[1]  # tracks after are numbered in the order in which they are listed
        right.append(told_crossed == made.crossed[merged])
    return np.array(right), found.probability


@pytest.mark.parametrize(("motion", "sizes"), [(0.3, 0.0), (1.0, 0.0), (1.0, 0.4), (3.0, 0.4)])
def test_of_those_called_so_sure_so_many_are_right(motion: float, sizes: float) -> None:
    made = world(800, motion, sizes, seed=7)
    found = identities(made.cells, made.edges, made.tracks)
    right, promised = outcome(made, found)
    assert len(right) == 400
    spread = np.sqrt((promised * (1 - promised)).sum())
    assert abs(right.sum() - promised.sum()) < 3 * spread + 2
    unsure = promised < 0.75
    if unsure.sum() > 30:
        assert right[unsure].mean() == pytest.approx(promised[unsure].mean(), abs=0.15)


def test_slow_cells_are_known_again_and_sizes_help_where_places_do_not() -> None:
    slow, fast, fast_of_all_sizes = (world(400, *each, seed=3) for each in ((0.2, 0.0), (3.0, 0.0), (3.0, 0.6)))
    shares = []
    for made in (slow, fast, fast_of_all_sizes):
        right, _ = outcome(made, identities(made.cells, made.edges, made.tracks))
        shares.append(right.mean())
    assert shares[0] > 0.97
    assert shares[1] < 0.85
    assert shares[2] > shares[1] + 0.05


def test_nothing_merged_nobody_to_tell() -> None:
    made = world(2, 0.5, 0.0, seed=1)
    apart = Edges(*(np.empty(0, np.int64),) * 3, np.empty(0), np.empty(0), np.empty(0, np.bool_))
    assert len(identities(made.cells, apart, made.tracks)) == 0


@pytest.fixture(scope="module")
def spoiled() -> Spoiled:
    made = colony(cells=40, frames=30, motion=0.15, seed=0, cycle=40.0)
    return spoil(made.movie, made.truth, FaultShares(merged=0.04), seed=0)


def test_the_cells_of_a_spoiled_colony_are_known_again(spoiled: Spoiled) -> None:
    tracking: Tracking = Tracker(evidence="places,masks", workers=1).track(spoiled.movie)
    found, cells = tracking.identities, tracking.cells
    owner = np.concatenate(spoiled.truth.tracks)
    first = {track: row for row, track in reversed([*enumerate(cells.track.tolist())])}
    last = {track: row for row, track in enumerate(cells.track.tolist())}
    right, expected = [], 0.0
    for before, after, p in zip(found.before, found.after, found.probability, strict=True):
        were, are = [owner[last[track]] for track in before], [owner[first[track]] for track in after]
        if set(were) == set(are):  # else a link is wrong, and not the order
            right.append(were == are)
            expected += p
    assert len(right) >= 8
    assert np.mean(right) > 0.8
    assert expected == pytest.approx(sum(right), abs=2.5)
