"""A question of a review: whom it is about, and how it came to be asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Question:
    """A daughter to ask about."""

    row: int  # Its row in the review's table
    pair: int  # The number of the frame pair
    frame: int  # Original index of its frame
    label: int  # Its label
    audit: bool  # Whether it was drawn at random
    chance: float  # The chance that it, of all, was asked now
    left: int  # How many daughters had no answer then

    @property
    def log(self) -> dict[str, Any]:
        """What the log keeps."""
        return {"audit": self.audit, "chance": self.chance, "left": self.left}
