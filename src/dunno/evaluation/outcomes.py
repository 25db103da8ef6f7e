"""What was decided, how surely, and whether it was right: the arrays that every score is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dunno.types import Bools, Floats, Ints

RIGHT_LINK, SWAP, UNSEEN, BEGINNING = range(4)
"""Kinds of links."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """A tracking beside its truth, over all frame pairs.

    L links and N daughters take part; false detections do not (they have no truth), nor do daughters without a
    distribution (possible where ⊥ was left out). Both are counted.
    """

    link_confidence: Floats  # (L,) probability of each link
    link_right: Bools  # (L,) whether it joins the daughter to its true mother
    # (L,) `RIGHT_LINK`, or in which way it is wrong: `SWAP` (the daughter's true mother is among the masks), `UNSEEN` (it is
    # annotated but in no mask), `BEGINNING` (the annotation begins the daughter here)
    link_kind: Ints
    link_entropy: Floats  # (L,) entropy of its daughter
    link_pair: Ints  # (L,) the frame pair it belongs to
    confidence: Floats  # (N,) probability of each daughter's decision, a mother or ⊥
    right: Bools  # (N,) whether the decision is right
    pair: Ints  # (N,) the frame pair
    log_true: Floats  # (N,) log probability of the truth, -inf where it is no candidate
    square: Floats  # (N,) sum of squared probabilities over all options
    true_links: Ints  # (P,) for each frame pair, how many daughters have a true, detected mother
    n_edges: Ints  # (P,) how many candidate edges lead to the daughters that take part
    counts: dict[str, int]  # What was left out or odd


def promises(kind: Ints, probability: Floats) -> dict[str, Any]:
    """Of (L,) links: how many are promised to be wrong, and how many are, by kind."""
    doubt = 1 - probability
    return {
        "promised_wrong": float(doubt.sum()),
        "found_wrong": int((kind != RIGHT_LINK).sum()),
        "promised_swaps": float(doubt[(kind == RIGHT_LINK) | (kind == SWAP)].sum()),
        "swaps": int((kind == SWAP).sum()),
        "unseen_mothers": int((kind == UNSEEN).sum()),
        "beginnings": int((kind == BEGINNING).sum()),
    }
