"""Of cells that are lost, the share that left the field: the term `border` against all other ways of being lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.calibration import Calibration
from dunno.calibration.kinds.model import ModelCalibration
from dunno.models.carrying import without_flow
from dunno.models.model import SMALLEST
from dunno.terms.axes import Axes
from dunno.terms.border import Border
from dunno.types import Candidates, Floats, PairPosterior
from dunno.types.stretch import Stretch, Transition

LEAST_LINKS = 8
"""From so many on, links say where a frame's cells go."""


def with_border_share(calibration: Calibration | None, pair: PairPosterior) -> PairPosterior:
    """The pair with the share of being lost that is leaving the field; as it is where no model knows.

    It looks at places, at the movie's usual motion and at where most cells of the frame go (the stage may have jumped), not at how
    neighbours move or how active a cell is.
    """
    if not isinstance(calibration, ModelCalibration) or not calibration.model.has(Border.name):
        return pair
    none = np.empty(0, np.int64)
    one = np.ones(len(pair.mothers))
    parts = Transition(pair.mothers, pair.daughters, Candidates(none, none), one, stage=_common_step(pair))
    stretch = Stretch.of([parts])
    model = without_flow(calibration.at(stretch))
    if model.has(Axes.name):
        stretch = model.term(Axes.name).measured(stretch)
    ways = {term.name: way for term in model.terms if (way := term.lost(model, stretch)) is not None}
    total = np.maximum(np.sum([*ways.values()], axis=0), SMALLEST)
    return replace(pair, border_share=(ways[Border.name] / total)[: len(pair.mothers)])


def _common_step(pair: PairPosterior) -> Floats | None:
    """(d,) the median displacement of the pair's links; `None` where there are few."""
    if np.count_nonzero(pair.selected) < LEAST_LINKS:
        return None
    mother, daughter = pair.mother[pair.selected], pair.daughter[pair.selected]
    return np.asarray(np.median(pair.daughters.centroid[daughter] - pair.mothers.centroid[mother], axis=0))
