"""How an output was tracked, so that its blocks can be tracked again."""

from __future__ import annotations

import numpy as np

from dunno.calibration import Calibration
from dunno.calibration.applying import cost_of
from dunno.methods.joint_posterior import JointPosterior
from dunno.tracking.plan import Plan
from dunno.types import RunInfo


def plan_of(about: RunInfo, calibration: Calibration) -> Plan:
    """The plan of an output of method JP, with a calibration that makes costs."""
    gate = about.max_distance
    gate = np.inf if gate is None else float(gate)
    return Plan(
        cost=cost_of(about),
        method=JointPosterior(),
        perturbation=None,
        gate=gate,
        max_distance=gate,
        appear_cost=None,
        disappear_cost=None,
        divide_cost=None,
        no_mother=about.no_mother,
        seed=about.seed,
        links=None,
        calibration=calibration,
    )
