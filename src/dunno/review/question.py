"""A question of a review: whom it is about, and how she came to be asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Question:
    """A daughter to ask about.

    Attributes:
        row: Her row in the review's table.
        pair: The number of the frame pair.
        frame: Original index of her frame.
        label: Her label.
        audit: Whether she was drawn at random.
        chance: The chance that she, of all, was asked now.
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
