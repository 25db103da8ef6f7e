"""How an output was tracked, so that its blocks can be tracked again."""

from __future__ import annotations

import numpy as np

from dunno.calibration import Calibration
from dunno.costs import cost_that_made
from dunno.tracking.plan import Plan
from dunno.tracking.tracker import Tracker
from dunno.types import RunInfo


def plan_of(about: RunInfo, calibration: Calibration) -> Plan:
    """The plan of an output of method JP, with a calibration that makes costs."""
    gate = np.inf if about.max_distance is None else about.max_distance
    cost = cost_that_made(about)
    return Tracker(cost, no_mother=about.no_mother, seed=about.seed, calibration=calibration).draft(gate, gate)
