"""Two frames with the candidate edges between them: what stretches are joined from."""

from __future__ import annotations

from typing import NamedTuple

from dunno.types.arrays import Floats
from dunno.types.detections import Detections
from dunno.types.pairs import Candidates


class Transition(NamedTuple):
    """Two frames' cells with the candidate edges between them, and how much each mother's squared steps vary."""

    mothers: Detections
    daughters: Detections
    candidates: Candidates
    spread: Floats
    score: Floats | None = None
    """(E,) what each edge costs, where a cost that is no motion speaks."""
    stage: Floats | None = None
    """(d,) by how much the stage jumped between the frames; `None` if it did not."""
