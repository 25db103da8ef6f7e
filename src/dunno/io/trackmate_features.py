"""The features that a TrackMate file declares: what they are called, their dimension, and whether they are whole numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dunno.io.columns import axes_of


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
    "P_FALSE": Declaration("P(the mask holds no cell)", "NONE", False, "P(false)"),
    "P_TWO": Declaration("P(the mask holds two cells)", "NONE", False, "P(two)"),
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
