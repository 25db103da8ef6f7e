"""What a person can say about a cell."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dunno.errors import DecisionError

MOTHER, NO_MOTHER, SKIP = "mother", "no mother", "skip"
DIVIDES, DOES_NOT_DIVIDE, DISAPPEARS = "divides", "does not divide", "disappears"
ABOUT_DAUGHTERS = (MOTHER, NO_MOTHER, SKIP)
ABOUT_MOTHERS = (DIVIDES, DOES_NOT_DIVIDE, DISAPPEARS)


@dataclass(frozen=True)
class Decision:
    """One thing that a person said; cells are named by original frame and label.

    Attributes:
        kind: About a daughter: "mother" (this one), "no mother" or "skip" (cannot say). About a mother: "divides",
            "does not divide" or "disappears".
        frame: The frame of the cell that it is about.
        label: Her label.
        mother: For "mother", the label of the mother, in the frame before.
    """

    kind: str
    frame: int
    label: int
    mother: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in (*ABOUT_DAUGHTERS, *ABOUT_MOTHERS):
            expected = ", ".join(map(repr, (*ABOUT_DAUGHTERS, *ABOUT_MOTHERS)))
            raise DecisionError(f"a decision of kind {self.kind!r}; expected one of {expected}")
        numbers = (self.frame, self.label, 0 if self.mother is None else self.mother)
        if any(isinstance(number, bool) or not isinstance(number, int) for number in numbers):
            raise DecisionError(f"frame, label and mother are {numbers}; expected whole numbers")
        if (self.kind == MOTHER) != (self.mother is not None):
            raise DecisionError(f"a decision of kind {self.kind!r} with mother {self.mother}; only 'mother' names one")

    @property
    def about_daughter(self) -> bool:
        """Whether it is about a daughter, not about a mother."""
        return self.kind in ABOUT_DAUGHTERS

    @property
    def subject(self) -> tuple[bool, int, int]:
        """What it is about; of two decisions on one subject the later one counts."""
        return self.about_daughter, self.frame, self.label

    def to_dict(self) -> dict[str, Any]:
        """As the log holds it."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Decision:
        """Read what `to_dict` made."""
        return cls(content["kind"], content["frame"], content["label"], content.get("mother"))


def in_force(decisions: list[Decision]) -> list[Decision]:
    """The decisions that count: the last one on each subject, the latest last."""
    last: dict[tuple[bool, int, int], Decision] = {}
    for decision in decisions:
        last.pop(decision.subject, None)
        last[decision.subject] = decision
    return list(last.values())
