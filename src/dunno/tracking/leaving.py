"""Of cells that are lost, the share that left the field: the term `border` against all other ways of being lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.calibration import Calibration
from dunno.calibration.kinds.model import ModelCalibration
from dunno.models.carrying import without_flow
from dunno.terms.axes import Axes
from dunno.terms.border import Border
from dunno.types import Candidates, PairPosterior
from dunno.types.stage import stage_jump
from dunno.types.stretch import Stretch, Transition


def with_border_share(calibration: Calibration | None, pair: PairPosterior) -> PairPosterior:
    """The pair with the share of being lost that is leaving the field; as it is where no model knows.

    It looks at places and at the movie's usual motion, not at how neighbours move or how active a cell is.
    """
    if not isinstance(calibration, ModelCalibration) or not calibration.model.has(Border.name):
        return pair
    none = np.empty(0, np.int64)
    stage = stage_jump(pair.mothers.centroid, pair.daughters.centroid)
    one = np.ones(len(pair.mothers))
    stretch = Stretch.of([Transition(pair.mothers, pair.daughters, Candidates(none, none), one, stage=stage)])
    model = without_flow(calibration.at(stretch))
    if model.has(Axes.name):
        stretch = model.term(Axes.name).measured(stretch)
    return replace(pair, border_share=model.ways(stretch).lost_share(Border.name)[: len(pair.mothers)])
