"""What flows through dunno: frozen bundles of aligned arrays.

Shapes: a frame has n (or, as the earlier one of a pair, m) detections in d = 2 or 3 dimensions; a pair has E candidate
edges. The mother of a cell that did not divide is itself, one frame earlier.
"""

from dunno.types.arrays import Bools, Floats, Ints
from dunno.types.block import Block
from dunno.types.cells import Cells, CellSource, KeptCells
from dunno.types.detections import Detections, Pixels, Redrawn
from dunno.types.movie import FewFrames, Frames, Movie, check_step, count_frames, where_is
from dunno.types.pairs import BrokenFrame, Candidates, EventCosts, FramePair, PairPosterior
from dunno.types.points import Points
from dunno.types.run_info import RunInfo
from dunno.types.truth import Truth

__all__ = [
    "Block",
    "Bools",
    "BrokenFrame",
    "Candidates",
    "CellSource",
    "Cells",
    "Detections",
    "EventCosts",
    "FewFrames",
    "Floats",
    "FramePair",
    "Frames",
    "Ints",
    "KeptCells",
    "Movie",
    "PairPosterior",
    "Pixels",
    "Points",
    "Redrawn",
    "RunInfo",
    "Truth",
    "check_step",
    "count_frames",
    "where_is",
]
