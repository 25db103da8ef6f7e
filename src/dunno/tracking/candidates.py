"""Which edges of a pair are worth a cost: those within the gate, those that the cost asks for, and somebody's own links."""

from __future__ import annotations

from dunno.calibration import ModelCalibration
from dunno.tracking.gate import find_candidates, merge
from dunno.tracking.plan import Plan
from dunno.types import Candidates, FramePair


def candidates_of(plan: Plan, pair: FramePair) -> Candidates:
    """All of them, each once."""
    farther = plan.calibration.reach(pair) if isinstance(plan.calibration, ModelCalibration) else 1.0
    follows = plan.calibration is not None and plan.calibration.makes_costs  # only a model counts from there
    stage = pair.stage if follows else None
    found = find_candidates(pair.mothers, pair.daughters, farther * plan.gate, stage)
    if hasattr(plan.cost, "candidates"):
        found = merge(found, plan.cost.candidates(pair), len(pair.mothers))
    if plan.links is not None:
        given = Candidates(*plan.links.between(pair.mothers, pair.daughters))
        found = merge(found, given, len(pair.mothers))
    return found
