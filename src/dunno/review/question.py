"""A question of a review: whom it is about, and how it came to be asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Question:
    """A daughter to ask about.

    Attributes:
        row: Its row in the review's table.
        pair: The number of the frame pair.
        frame: Original index of its frame.
        label: Its label.
        audit: Whether it was drawn at random.
        chance: The chance that it, of all, was asked now.
        left: How many daughters had no answer then.
    """

    row: int
    pair: int
    frame: int
    label: int
    audit: bool
    chance: float
    left: int

    @property
    def log(self) -> dict[str, Any]:
        """What the log keeps."""
        return {"audit": self.audit, "chance": self.chance, "left": self.left}
