"""Which edges of a pair are worth a cost: those within the gate, those that the cost asks for, and somebody's own links."""

from __future__ import annotations

from dunno.tracking.gate import find_candidates, merge
from dunno.tracking.plan import Plan
from dunno.types import Candidates, FramePair


def candidates_of(plan: Plan, pair: FramePair) -> Candidates:
    """All of them, each once."""
    calibration = plan.calibrated_by
    stage = pair.stage if calibration.makes_costs else None  # only a model counts from there
    found = find_candidates(pair.mothers, pair.daughters, calibration.reach(pair) * plan.gate, stage)
    if (asked := plan.cost.candidates(pair)) is not None:
        found = merge(found, asked, len(pair.mothers))
    if plan.links is not None:
        given = Candidates(*plan.links.between(pair.mothers, pair.daughters))
        found = merge(found, given, len(pair.mothers))
    return found
