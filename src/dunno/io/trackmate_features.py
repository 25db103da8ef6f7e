"""What a TrackMate file says of spots, links and families: the features that it declares, and the elements of its tracks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dunno.io.columns import axes_of
from dunno.lineage.tracks import TrackRow
from dunno.types import Floats, Ints


class Declaration(NamedTuple):
    """A feature as TrackMate declares it; `dimension` is one of its `Dimension` names."""

    name: str
    dimension: str
    is_int: bool
    short: str = ""


SPOT = {
    "QUALITY": Declaration("Quality", "QUALITY", False),
    "POSITION_X": Declaration("X", "POSITION", False),
    "POSITION_Y": Declaration("Y", "POSITION", False),
    "POSITION_Z": Declaration("Z", "POSITION", False),
    "POSITION_T": Declaration("T", "TIME", False),
    "FRAME": Declaration("Frame", "NONE", True),
    "RADIUS": Declaration("Radius", "LENGTH", False, "R"),
    "VISIBILITY": Declaration("Visibility", "NONE", True),
    "LABEL": Declaration("Label in the masks", "NONE", True, "Label"),
    "TRACKLET": Declaration("Track from birth to division", "NONE", True, "Tracklet"),
    "MASK_AREA": Declaration("Area or volume of the mask", "AREA", False, "Mask area"),
    "PROBABILITY": Declaration("Probability of the link to its mother", "NONE", False, "P(link)"),
    "ENTROPY": Declaration("Entropy of its mother's identity", "NONE", False, "Entropy"),
    "P_APPEAR": Declaration("P(appears)", "NONE", False),
    "P_DISAPPEAR": Declaration("P(disappears)", "NONE", False),
    "P_DIVIDE": Declaration("P(divides)", "NONE", False),
    "REVIEWED": Declaration("Decided by a person", "NONE", True, "Reviewed"),
}

EDGE = {
    "SPOT_SOURCE_ID": Declaration("Source spot ID", "NONE", True, "Source ID"),
    "SPOT_TARGET_ID": Declaration("Target spot ID", "NONE", True, "Target ID"),
    "LINK_COST": Declaration("Edge cost", "COST", False, "Cost"),
    "PROBABILITY": Declaration("Probability that the link is right", "NONE", False, "P(link)"),
    "FRAMES_APART": Declaration("Frames between its spots", "NONE", True, "Frames"),
}

TRACK = {
    "TRACK_INDEX": Declaration("Track index", "NONE", True, "Index"),
    "TRACK_ID": Declaration("Track ID", "NONE", True, "ID"),
    "NUMBER_SPOTS": Declaration("Number of spots in track", "NONE", True, "N spots"),
    "NUMBER_GAPS": Declaration("Number of gaps", "NONE", True, "N gaps"),
    "NUMBER_SPLITS": Declaration("Number of split events", "NONE", True, "N splits"),
    "TRACK_DURATION": Declaration("Duration of track", "TIME", False, "Duration"),
    "TRACK_START": Declaration("Track start", "TIME", False, "Start"),
    "TRACK_STOP": Declaration("Track stop", "TIME", False, "Stop"),
    "LEAST_PROBABILITY": Declaration("Probability of its least certain link", "NONE", False, "Least P(link)"),
    "EXPECTED_WRONG_LINKS": Declaration("Links expected to be wrong", "NONE", False, "Wrong links"),
}

RENAMED = {"track": "TRACKLET", "area": "MASK_AREA"}


def spot_features(columns: dict[str, np.ndarray], frame: int, minutes: float | None) -> dict[str, np.ndarray]:
    """One frame's spots by TrackMate's names; places along a missing axis are 0, and everything is visible."""
    n = len(columns["label"])
    axes = axes_of(columns)
    zero = np.zeros(n)
    known = {
        "QUALITY": np.ones(n),
        **{f"POSITION_{axis.upper()}": columns[axis] if axis in axes else zero for axis in "xyz"},
        "POSITION_T": np.full(n, frame * (minutes or 1.0)),
        "FRAME": np.full(n, frame),
        "VISIBILITY": np.ones(n, np.int64),
    }
    others = {
        RENAMED.get(name, name.upper()): values for name, values in columns.items() if name not in ("frame", *axes)
    }
    return {**known, **others}


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
