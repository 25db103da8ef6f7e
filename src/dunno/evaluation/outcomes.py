"""What was decided, how surely, and whether it was right: the arrays that every score is made from."""

from __future__ import annotations

from dataclasses import dataclass

from dunno.types import Bools, Floats, Ints

RIGHT_LINK, SWAP, UNSEEN, BEGINNING = range(4)
"""Kinds of links."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """A tracking beside its truth, over all frame pairs.

    L links and N daughters take part; false detections do not (they have no truth), nor do daughters without a
    distribution (possible where ⊥ was left out). Both are counted.

    Attributes:
        link_confidence: (L,) probability of each link.
        link_right: (L,) whether it joins the daughter to its true mother.
        link_kind: (L,) `RIGHT_LINK`, or in which way it is wrong: `SWAP` (the daughter's true mother is among the masks),
            `UNSEEN` (it is annotated but in no mask), `BEGINNING` (the annotation begins the daughter here).
        link_entropy: (L,) entropy of its daughter.
        link_pair: (L,) the frame pair it belongs to.
        confidence: (N,) probability of each daughter's decision, a mother or ⊥.
        right: (N,) whether the decision is right.
        pair: (N,) the frame pair.
        log_true: (N,) log probability of the truth, -inf where it is no candidate.
        square: (N,) sum of squared probabilities over all options.
        has_mother: (N,) whether the truth is a mother, not ⊥.
        is_candidate: (N,) whether the truth is ⊥ or a candidate.
        edge_probability: (M,) probability of every candidate edge of these daughters.
        edge_true: (M,) whether it is a true link.
        p_no_mother: (N,) P(⊥).
        p_divide: (D,) probability that each mother divides; empty where the method does not know.
        divides: (D,) whether it has two or more true daughters.
        true_links: (P,) for each frame pair, how many daughters have a true, detected mother.
        link_drawn: For each frame pair, (K, L of the pair) which of its links each joint sample contains; empty where the
            method has no joint samples.
        counts: What was left out or odd.
    """

    link_confidence: Floats
    link_right: Bools
    link_kind: Ints
    link_entropy: Floats
    link_pair: Ints
    confidence: Floats
    right: Bools
    pair: Ints
    log_true: Floats
    square: Floats
    has_mother: Bools
    is_candidate: Bools
    edge_probability: Floats
    edge_true: Bools
    p_no_mother: Floats
    p_divide: Floats
    divides: Bools
    true_links: Ints
    link_drawn: tuple[Bools, ...]
    counts: dict[str, int]
