"""Families as the tracks of a TrackMate file, with what TrackMate says about each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dunno.lineage.tracks import TrackRow
from dunno.types import Floats, Ints


class FamilyEdges:
    """Links by family.

    Ends (L, 3) are mother, daughter and family; values (L, 3) probability, cost and how many frames the ends are apart.
    """

    def __init__(self, ends: Ints, values: Floats) -> None:
        order = np.argsort(ends[:, 2], kind="stable")
        self.mother, self.daughter, self.family = ends[order].T
        self.probability, self.cost, self.apart = values[order].T


def family_elements(edges: FamilyEdges, tracks: Sequence[TrackRow], minutes: float | None) -> Iterator[str]:
    """Yield the elements of all families that have links."""
    names, begin = np.unique(edges.family, return_index=True)
    ends = np.append(begin, len(edges.family))[1:]
    span = _spans(tracks)
    for index, (family, first, end) in enumerate(zip(names.tolist(), begin.tolist(), ends.tolist(), strict=True)):
        own = slice(first, end)
        yield f'      <Track name="Track_{family}"{_about(edges, own, index, family, span[family], minutes)}>\n'
        for mother, daughter, probability, cost, apart in zip(
            edges.mother[own].tolist(),
            edges.daughter[own].tolist(),
            edges.probability[own].tolist(),
            edges.cost[own].tolist(),
            edges.apart[own].tolist(),
            strict=True,
        ):
            yield (
                f'        <Edge SPOT_SOURCE_ID="{mother}" SPOT_TARGET_ID="{daughter}" LINK_COST="{cost:.9g}" '
                f'PROBABILITY="{probability:.9g}" FRAMES_APART="{int(apart)}" />\n'
            )
        yield "      </Track>\n"


def _spans(tracks: Sequence[TrackRow]) -> dict[int, tuple[int, int]]:
    """The first and last frame of each family, by its first track."""
    root: dict[int, int] = {}
    found: dict[int, tuple[int, int]] = {}
    for row in tracks:
        own = root[row.track] = root[row.mother] if row.mother else row.track
        first, last = found.get(own, (row.first, row.last))
        found[own] = (min(first, row.first), max(last, row.last))
    return found


def _about(
    edges: FamilyEdges, own: slice, index: int, family: int, span: tuple[int, int], minutes: float | None
) -> str:
    mothers, probability = edges.mother[own], edges.probability[own]
    unit = minutes or 1.0
    splits = int((np.unique(mothers, return_counts=True)[1] > 1).sum())
    known = {
        "TRACK_INDEX": index,
        "TRACK_ID": family,
        "NUMBER_SPOTS": len(mothers) + 1,
        "NUMBER_GAPS": int((edges.apart[own] > 1).sum()),
        "NUMBER_SPLITS": splits,
        "TRACK_DURATION": (span[1] - span[0]) * unit,
        "TRACK_START": span[0] * unit,
        "TRACK_STOP": span[1] * unit,
        "LEAST_PROBABILITY": float(probability.min()),
        "EXPECTED_WRONG_LINKS": float((1 - probability).clip(0).sum()),
    }
    return "".join(f' {name}="{value:.9g}"' for name, value in known.items())
