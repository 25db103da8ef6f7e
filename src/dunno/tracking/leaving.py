"""Of cells that are lost, the share that left the field: the term `border` against all other ways of being lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dunno.calibration import Calibration
from dunno.calibration.kinds.model import ModelCalibration
from dunno.models.drift import without_drift
from dunno.models.model import SMALLEST
from dunno.types import Block, Floats, PairPosterior
from dunno.types.stretch import Stretch

LEAST_LINKS_OF_A_BORDER = 8  # links; judged
"""From so many on, links say where a frame's cells go."""


def with_border_shares(calibration: Calibration | None, block: Block) -> Block:
    """The block with the share of being lost that is leaving the field; as it is where no model knows.

    It looks at places, at the movie's usual motion and at where most cells of the frame go (the stage may have jumped), not at how
    neighbours move or how active a cell is.
    """
    if not isinstance(calibration, ModelCalibration):
        return block
    border = next((term.name for term in calibration.model.terms if term.lost_as == "left"), None)
    if border is None:
        return block
    stretch = _side_by_side(list(block.pairs()))
    model = without_drift(calibration.at(stretch))
    stretch = model.measured(stretch)
    ways = {term.name: way for term in model.terms if (way := term.lost(model, stretch)) is not None}
    total = np.maximum(np.sum([*ways.values()], axis=0), SMALLEST)
    share = np.full(len(block.cells), np.nan)
    share[block.begin[block.first] : block.begin[-2]] = (ways[border] / total)[stretch.is_mother]
    return replace(block, border_share=share)


def _side_by_side(pairs: Sequence[PairPosterior]) -> Stretch:
    """Pairs without edges as a stretch in which each has its own two frames, so that it knows of no others."""
    cells = tuple(each for pair in pairs for each in (pair.mothers, pair.daughters))
    row_frame = np.repeat(np.arange(len(cells)), [len(each) for each in cells])
    none, transition = np.empty(0, np.int64), row_frame // 2
    times = [each.time for each in cells if each.time is not None]
    stages = [_common_step(pair) for pair in pairs]
    still = np.zeros(cells[0].centroid.shape[1])
    return Stretch(
        frames=np.array([each.frame for each in cells], np.int64),
        transitions=np.arange(len(cells)).reshape(-1, 2),
        cells=cells,
        row_frame=row_frame,
        place=np.concatenate([each.centroid for each in cells]),
        mother=none,
        daughter=none,
        spread=np.ones(len(row_frame)),
        leads=np.where(row_frame % 2 == 0, transition, -1),
        follows=np.where(row_frame % 2 == 1, transition, -1),
        clock=np.array(times) if len(times) == len(cells) else None,
        stage=None
        if all(each is None for each in stages)
        else np.stack([still if each is None else each for each in stages]),
    )


def _common_step(pair: PairPosterior) -> Floats | None:
    """(d,) the median displacement of the pair's links; `None` where there are few."""
    if np.count_nonzero(pair.selected) < LEAST_LINKS_OF_A_BORDER:
        return None
    mother, daughter = pair.mother[pair.selected], pair.daughter[pair.selected]
    return np.asarray(np.median(pair.daughters.centroid[daughter] - pair.mothers.centroid[mother], axis=0))
