"""Do annotated cells have tracks of their own? Whole tracks, own tracks, and complete cycles."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dunno.evaluation.followed_cells import FollowedCells
from dunno.evaluation.held_cells import HeldCells

SHORTEST_LIFE = 5  # frames; judged
"""Annotated cells that are in masks of fewer frames are not asked about."""

BESIDE_A_DIVISION = 3  # frames; judged
"""A division that is seen so much later or earlier than it is annotated breaks no track; nor does a stranger for as long."""


@dataclass(frozen=True)
class OwnTracks:
    """Of annotated cells that are in masks of five frames or more."""

    cells: int  # How many there are
    whole: int  # Those that lie in one track from end to end
    # Those that do, up to three frames beside a division aside, in a track that holds no other annotated cell than mother and
    # daughters for more than three frames
    own: int
    followed: float  # Frames of them that lie in the track that holds most of each, as a share
    cycles: int  # Complete cycles: own tracks of cells that are born and divide, both divisions found
    true_cycles: int  # Cells that are born by a division and divide

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with the shares."""
        shares = {name: getattr(self, name) / self.cells if self.cells else None for name in ("whole", "own")}
        return {**asdict(self), **{f"{name}_share": value for name, value in shares.items()}}


def own_tracks(followed: FollowedCells, held: HeldCells, divided: set[int]) -> OwnTracks:
    """Look at every annotated cell, given those whose divisions were found."""
    tracks = _tracks_of_cells(followed, held)
    strangers = _cells_of_tracks(tracks)
    long = {cell: ids for cell, ids in tracks.items() if len(ids) >= SHORTEST_LIFE}
    most = {cell: max(map(ids.count, set(ids))) for cell, ids in long.items()}
    own = {cell for cell, ids in long.items() if _is_own(held, cell, ids, strangers)}
    cycles = [cell for cell in long if cell in held.divisions and held.mother[cell] in held.divisions]
    complete = [cell for cell in cycles if cell in own and {cell, held.mother[cell]} <= divided]
    frames = sum(map(len, long.values()))
    return OwnTracks(
        cells=len(long),
        whole=sum(most[cell] == len(ids) for cell, ids in long.items()),
        own=len(own),
        followed=sum(most.values()) / frames if frames else float("nan"),
        cycles=len(complete),
        true_cycles=len(cycles),
    )


def _tracks_of_cells(followed: FollowedCells, held: HeldCells) -> dict[int, list[int | None]]:
    """By cell, the track of the mask that holds it, frame by frame; `None` where a mask is in no track."""
    found: dict[int, list[int | None]] = {}
    for t in followed.view:
        for cell, label in held.holder[t].items():
            row = followed.row.get((t, label))
            found.setdefault(cell, []).append(None if row is None else int(followed.track[row]))
    return found


def _cells_of_tracks(tracks: dict[int, list[int | None]]) -> dict[int, dict[int, int]]:
    """By track, the cells that it holds and in how many frames."""
    found: dict[int, dict[int, int]] = {}
    for cell, ids in tracks.items():
        for track in set(ids) - {None}:
            assert track is not None
            found.setdefault(track, {})[cell] = ids.count(track)
    return found


def _is_own(held: HeldCells, cell: int, ids: list[int | None], strangers: dict[int, dict[int, int]]) -> bool:
    daughters = held.daughters.get(cell, set())
    inner = ids[min(BESIDE_A_DIVISION, (len(ids) - 2) // 2) if held.mother[cell] else 0 :]
    if len(daughters) >= 2:
        inner = inner[: len(inner) - min(BESIDE_A_DIVISION, (len(inner) - 1) // 2)]
    track = inner[0]
    if track is None or set(inner) != {track}:
        return False
    kin = {cell, held.mother[cell], *daughters}
    return all(n <= BESIDE_A_DIVISION for other, n in strangers[track].items() if other not in kin)
