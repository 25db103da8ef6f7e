"""Decisions where masks are missing: the right mother may be in an earlier frame than the pair's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.evaluation.outcomes import BEGINNING, RIGHT_LINK, SWAP, UNSEEN, Decisions
from dunno.truth import EarlierMothers, TrueMothers
from dunno.types import Floats, Ints, PairPosterior
from dunno.types.block import Edges


def with_gaps(part: Decisions, pair: PairPosterior, true: TrueMothers, earlier: EarlierMothers) -> Decisions:
    """The decisions about a pair, with its links across gaps, judged by the latest earlier frame that shows the cell."""
    known = true.known & ~np.isnan(pair.entropy)
    beyond = earlier.frame >= 0
    gaps, cells = pair.earlier, pair.block.cells
    p_appear = pair.p_appear
    right_edge = (cells.frame[pair.block.mother[pair.far]] == earlier.frame[gaps.daughter]) & (
        cells.label[pair.block.mother[pair.far]] == earlier.label[gaps.daughter]
    )
    chosen = np.zeros(len(known), np.bool_)
    chosen[gaps.daughter[gaps.selected]] = True
    linked = np.zeros(len(known), np.bool_)
    linked[pair.daughter[pair.selected]] = True
    confidence, log_true, square = (np.zeros(len(known)) for _ in range(3))
    confidence[known], log_true[known], square[known] = part.confidence, part.log_true, part.square
    right = np.zeros(len(known), np.bool_)
    right[known] = part.right
    right_link = np.zeros(len(known), np.bool_)
    right_link[gaps.daughter[gaps.selected & right_edge]] = True
    right = np.where(chosen, right_link, right & (~beyond | linked))
    alone = ~chosen & ~linked
    confidence = np.where(alone, p_appear, confidence)
    confidence[gaps.daughter[gaps.selected]] = gaps.probability[gaps.selected]
    log_true = _log_true(log_true, pair, true, beyond, gaps, right_edge, p_appear)
    none = np.exp(pair.log_no_mother)
    square = square - none**2 + p_appear**2
    square = square + np.bincount(gaps.daughter, gaps.probability**2, minlength=len(known))
    links = gaps.selected & known[gaps.daughter]
    number = part.pair[:1] if len(part.pair) else part.link_pair[:1]
    return replace(
        part,
        link_confidence=np.concatenate([part.link_confidence, gaps.probability[links]]),
        link_right=np.concatenate([part.link_right, right_edge[links]]),
        link_kind=np.concatenate(
            [_past_missing(part, pair, known, beyond), _kinds(gaps, links, right_edge, true, beyond)]
        ),
        link_entropy=np.concatenate([part.link_entropy, pair.entropy[gaps.daughter[links]]]),
        link_pair=np.concatenate([part.link_pair, np.repeat(number, int(links.sum()))]),
        right=right[known],
        confidence=confidence[known],
        log_true=log_true[known],
        square=square[known],
        true_links=part.true_links + int((beyond & true.known).sum()),
        n_edges=part.n_edges + int(known[gaps.daughter].sum()),
        counts={**part.counts, "true_gap_links": int((beyond & known).sum()), "gap_links": int(links.sum())},
    )


def _log_true(
    log_true: Floats,
    pair: PairPosterior,
    true: TrueMothers,
    beyond: np.ndarray,
    gaps: Edges,
    right_edge: np.ndarray,
    p_appear: Floats,
) -> Floats:
    """(n,) log probability of the truth: a mother here, one in an earlier frame, or none at all."""
    with np.errstate(divide="ignore"):
        appeared = np.log(p_appear)
    found = np.where(true.mother >= 0, log_true, np.where(beyond, -np.inf, appeared))
    found[gaps.daughter[right_edge]] = gaps.log_probability[right_edge]
    return found


def _past_missing(part: Decisions, pair: PairPosterior, known: np.ndarray, beyond: np.ndarray) -> Ints:
    """(L,) links within the pair of daughters whose true mother is in an earlier frame lead past a missing mask."""
    links = pair.selected & known[pair.daughter]
    return np.where(beyond[pair.daughter[links]], UNSEEN, part.link_kind)


def _kinds(gaps: Edges, links: np.ndarray, right: np.ndarray, true: TrueMothers, beyond: np.ndarray) -> Ints:
    """(L,) whether each link across a gap is right, or in which way it is wrong."""
    daughter = gaps.daughter[links]
    seen = (true.mother[daughter] >= 0) | beyond[daughter]
    wrong = np.where(seen, SWAP, np.where(true.undetected[daughter], UNSEEN, BEGINNING))
    return np.where(right[links], RIGHT_LINK, wrong).astype(np.int64)
