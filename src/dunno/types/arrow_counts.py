"""Divisions that a model sees in a movie, and in the same movie played backwards, where there are none."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from dunno.types.records import Count, NonNegative, Size

NOTHING_BACKWARDS = 0.01  # share; display: below which it is called hardly any


@dataclass(frozen=True)
class ArrowCounts:
    """Expected numbers of divisions in both halves of the movie."""

    forwards: tuple[NonNegative, NonNegative]
    backwards: tuple[NonNegative, NonNegative]  # Played backwards, in the same halves
    frames: Count  # That were looked at
    balance: Size = 1.0  # How many more faults there are forwards: partings of masks over mergings

    @property
    def seen(self) -> float:
        """Forwards, in all."""
        return sum(self.forwards)

    @property
    def impossible(self) -> float:
        """Those that the movie shows backwards, so many as the faults forwards are more."""
        return self.balance * sum(self.backwards)

    @property
    def real(self) -> float:
        """How many of those that are seen are real."""
        return max(self.seen - self.impossible, 0.0)

    @property
    def doubt(self) -> float:
        """Standard deviation of that number, if events are counted by chance."""
        return sqrt(self.seen + self.balance**2 * sum(self.backwards) + 1)

    @property
    def false_shares(self) -> tuple[float, float]:
        """Of both halves, the share of those that are seen which cannot be."""
        return tuple(self.balance * b / max(f, 1e-9) for f, b in zip(self.forwards, self.backwards, strict=True))  # type: ignore[return-value]

    def sentence(self) -> str:
        """As a person would say it: a share, because the number of divisions is said elsewhere, with all that is known of it.

        Example:
            >>> ArrowCounts((40.0, 42.0), (20.0, 25.0), 100).sentence()
            'played backwards, the movie shows 55 % as many divisions as forwards, and none of those can be real'
        """
        share = sum(self.backwards) / max(self.seen, 1e-9)
        if share < NOTHING_BACKWARDS:
            return "played backwards, the movie shows hardly any divisions, as it should"
        return f"played backwards, the movie shows {100 * share:.0f} % as many divisions as forwards, and none of those can be real"
