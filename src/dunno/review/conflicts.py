"""What others said while a person was looking: refused where an answer would take the place of one that was not seen."""

from __future__ import annotations

from collections.abc import Sequence

from dunno.errors import DecisionError
from dunno.review.decisions import Decision
from dunno.review.log import LogLine


def check_seen(decision: Decision, later: Sequence[LogLine]) -> None:
    """Refuse to take the place of what somebody said about the same cell meanwhile."""
    said = next((each for each in later if each.decision.subjects & decision.subjects), None)
    if said is not None:
        raise DecisionError(
            f"{said.who} has decided on cell {decision.label} of frame {decision.frame} since you looked; "
            "look at it, and answer again if you disagree"
        )


def check_nothing_new(later: Sequence[LogLine]) -> None:
    """Refuse to take back what was said meanwhile."""
    if later:
        raise DecisionError(f"{later[-1].who} has decided since you looked, so the last answer is another one now")
