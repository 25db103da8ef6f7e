"""A tracking beside its truth, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dunno.errors import TruthError
from dunno.evaluation.across_gaps import with_gaps
from dunno.evaluation.outcomes import BEGINNING, RIGHT_LINK, SWAP, UNSEEN, Decisions
from dunno.tracking import Tracking
from dunno.truth import MOTHERLESS, TrueMothers, earlier_mothers, true_mothers
from dunno.truth.matching import matched_again
from dunno.types import Bools, Floats, Ints, PairPosterior, Truth


def decide(tracking: Tracking, truth: Truth) -> Decisions:
    """Lay a tracking beside its truth; refuses a truth with other frames."""
    if not np.array_equal(tracking.movie.frames, truth.frames):
        raise TruthError(
            f"the tracking has {len(tracking.movie)} frames ({_span(tracking.movie.frames)}), the truth has {len(truth)} "
            f"({_span(truth.frames)}); they must be the same, so use the same every(n, start) on both"
        )
    truth = of_tracking(truth, tracking)
    gaps = tracking.about.longest_gap > 0  # it is judged by links across gaps where it could have made some
    parts = []
    for number, pair in enumerate(tracking.pairs):
        true = true_mothers(truth, pair)
        part = _decide_pair(pair, true, number)
        parts.append(with_gaps(part, pair, true, earlier_mothers(truth, pair, true)) if gaps else part)
    return _join(parts)


def of_tracking(truth: Truth, tracking: Tracking) -> Truth:
    """The truth, matched to a tracking's repaired masks where it was matched to the given ones."""
    return matched_again(truth, tracking.movie) if tracking.about.judges_masks and truth.markers is not None else truth


def _span(frames: Ints) -> str:
    return f"{frames[0]} … {frames[-1]}" if len(frames) else "none"


def _decide_pair(pair: PairPosterior, true: TrueMothers, number: int) -> Decisions:
    n = len(pair.daughters)
    known = true.known & ~np.isnan(pair.entropy)
    probability, p_no_mother = pair.probability, np.exp(pair.log_no_mother)
    edge_true = true.is_true(pair.mother, pair.daughter)

    chosen = np.full(n, MOTHERLESS)
    chosen[pair.daughter[pair.selected]] = pair.mother[pair.selected]
    right = chosen == true.mother
    right[pair.daughter[pair.selected]] = edge_true[pair.selected]
    confidence = p_no_mother.copy()
    confidence[pair.daughter[pair.selected]] = probability[pair.selected]

    log_true = np.where(true.mother == MOTHERLESS, pair.log_no_mother, -np.inf)
    log_true[pair.daughter[edge_true]] = pair.log_probability[edge_true]
    is_candidate = true.mother == MOTHERLESS
    is_candidate[pair.daughter[edge_true]] = True
    square: Floats = p_no_mother**2 + np.bincount(pair.daughter, probability**2, minlength=n)

    links = pair.selected & known[pair.daughter]
    return Decisions(
        link_confidence=probability[links],
        link_right=edge_true[links],
        link_kind=_kinds(pair, true, links),
        link_entropy=pair.entropy[pair.daughter[links]],
        link_pair=np.full(int(links.sum()), number),
        confidence=confidence[known],
        right=right[known],
        pair=np.full(int(known.sum()), number),
        log_true=log_true[known],
        square=square[known],
        true_links=np.array([true.n_edges]),
        n_edges=np.array([known[pair.daughter].sum()]),
        counts={
            "false_detections": int((~true.known).sum()),
            "missed_detections": true.n_missed,
            "mothers_with_more_than_two_daughters": true.n_many,
            "undetected_mothers": int((true.undetected & true.known).sum()),
            "true_mother_no_candidate": int((known & ~is_candidate).sum()),
            "daughters_without_distribution": int((true.known & np.isnan(pair.entropy)).sum()),
        },
    )


def _kinds(pair: PairPosterior, true: TrueMothers, links: Bools) -> Ints:
    """(L,) whether each link is right, or in which way it is wrong."""
    daughter = pair.daughter[links]
    mother, unseen = true.mother[daughter], true.undetected[daughter]
    wrong = np.where(mother >= 0, SWAP, np.where(unseen, UNSEEN, BEGINNING))
    return np.where(true.is_true(pair.mother[links], daughter), RIGHT_LINK, wrong).astype(np.int64)


def _join(parts: Sequence[Decisions]) -> Decisions:
    fields = [name for name in Decisions.__dataclass_fields__ if name != "counts"]
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}
    counts = {name: sum(part.counts[name] for part in parts) for name in parts[0].counts}
    return Decisions(**arrays, counts=counts)
