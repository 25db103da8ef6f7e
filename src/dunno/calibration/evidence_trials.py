"""Which evidence was tried on a movie, and what skipping frames said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dunno.types.records import MaybeKnown


@dataclass(frozen=True)
class Trial:
    """A term that was tried beside those that had joined before."""

    name: str  # The term
    before: MaybeKnown  # Loss per daughter with every second frame left out, in nats, without it
    after: MaybeKnown  # The same with it; by what it saves on a few daughters, where they show that it is of no use
    wrong_before: MaybeKnown  # Share of links that are wrong there, as all frames show, without it
    wrong_after: MaybeKnown  # The same with it; NaN where a few daughters decided, or none
    joined: bool  # Whether it speaks
    # For a term that joins because of them: by which share single steps see more divisions than skipped ones
    excess: float | None = None
    # For a term that joins because of them: how many links are thought to be wrong where cells push each other
    exchanged: float | None = None


def in_words(trials: Sequence[Trial]) -> str:
    """One sentence for people; empty where nothing was tried."""
    masks = [each for each in trials if each.excess is not None]
    pushed = [each for each in trials if each.exchanged is not None]
    told = [_helping([each for each in trials if each not in masks and each not in pushed])]
    if masks:
        more = f"{masks[0].excess:.0%} more divisions are seen with all frames than with every second one"
        told.append(f"masks may be wrong: {more}")
    if pushed:
        told.append(f"cells push each other, and about {pushed[0].exchanged:.0f} more links than motion says are wrong")
    return "; ".join(each for each in told if each)


def _helping(trials: Sequence[Trial]) -> str:
    joined, left = ([each for each in trials if each.joined is kept] for kept in (True, False))
    if not trials:
        return ""
    rest = f"not needed: {_listed(left)}" if left else ""
    if not joined:
        return f"only where cells are and how they move; {rest}"
    first, last = joined[0].wrong_before, joined[-1].wrong_after
    fewer = f" ({1 - last / first:.0%} fewer wrong links expected)" if first > last > 0 or first > last else ""
    return "; ".join(part for part in (f"also {_listed(joined)}{fewer}", rest) if part)


def _listed(trials: Sequence[Trial]) -> str:
    names = [PLAIN_NAMES.get(each.name, each.name) for each in trials]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


PLAIN_NAMES = {
    "parting": "where the daughters of a division lie",
    "readiness": "whether a cell is due to divide",
    "overlap": "how much masks overlap",
    "axes": "how cells are turned",
    "jumps": "sudden changes",
    "touching": "cells that push each other",
}
"""Of terms whose own names say little to a person who does not know the model."""
