"""A tracking beside its truth, pair by pair; where masks are missing, the right mother may be in an earlier frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dunno.errors import TruthError
from dunno.evaluation.outcomes import BEGINNING, RIGHT_LINK, SWAP, UNSEEN, Decisions
from dunno.tracking import Tracking
from dunno.truth import MOTHERLESS, EarlierMothers, TrueMothers, earlier_mothers, true_mothers
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
        parts.append(_decide_pair(pair, true, earlier_mothers(truth, pair, true) if gaps else None, number))
    return _join(parts)


def of_tracking(truth: Truth, tracking: Tracking) -> Truth:
    """The truth, matched to a tracking's repaired masks where it was matched to the given ones."""
    return matched_again(truth, tracking.movie) if tracking.about.judges_masks and truth.markers is not None else truth


def _span(frames: Ints) -> str:
    return f"{frames[0]} … {frames[-1]}" if len(frames) else "none"


def _decide_pair(pair: PairPosterior, true: TrueMothers, earlier: EarlierMothers | None, number: int) -> Decisions:
    """The decisions about a pair's daughters, by the pair's own edges.

    With `earlier`, by those across gaps, too: a daughter whose mother is not in the pair is judged by the latest earlier frame that
    shows the cell.
    """
    n = len(pair.daughters)
    known = true.known & ~np.isnan(pair.entropy)
    if earlier is None:
        into, beyond = pair.near, np.zeros(n, np.bool_)
        log_appear, p_appear = pair.log_no_mother, np.exp(pair.log_no_mother)
    else:
        into, beyond, p_appear = pair.block.into(pair.t), earlier.frame >= 0, pair.p_appear
        with np.errstate(divide="ignore"):
            log_appear = np.log(p_appear)
    daughter = pair.block.daughter[into] - pair.daughter_rows.start
    probability, log_probability = pair.block.probability[into], pair.block.log_probability[into]
    selected, edge_true = pair.block.selected[into], _true_edges(pair, true, earlier)

    right, confidence = (true.mother == MOTHERLESS) & ~beyond, p_appear.copy()
    right[daughter[selected]] = edge_true[selected]
    confidence[daughter[selected]] = probability[selected]
    log_true = np.where((true.mother == MOTHERLESS) & ~beyond, log_appear, -np.inf)
    log_true[daughter[edge_true]] = log_probability[edge_true]
    is_candidate = true.mother == MOTHERLESS
    is_candidate[daughter[edge_true]] = True
    square: Floats = p_appear**2 + np.bincount(daughter, probability**2, minlength=n)

    links = selected & known[daughter]
    across = pair.block.gap[into] > 0
    found = Decisions(
        link_confidence=probability[links],
        link_right=edge_true[links],
        link_kind=_kinds(true, beyond, daughter[links], across[links], edge_true[links]),
        link_entropy=pair.entropy[daughter[links]],
        link_pair=np.full(int(links.sum()), number),
        confidence=confidence[known],
        right=right[known],
        pair=np.full(int(known.sum()), number),
        log_true=log_true[known],
        square=square[known],
        true_links=np.array([true.n_edges + (beyond & true.known).sum()]),
        n_edges=np.array([known[daughter].sum()]),
        counts={
            "false_detections": int((~true.known).sum()),
            "missed_detections": true.n_missed,
            "mothers_with_more_than_two_daughters": true.n_many,
            "undetected_mothers": int((true.undetected & true.known).sum()),
            "true_mother_no_candidate": int((known & ~is_candidate).sum()),
            "daughters_without_distribution": int((true.known & np.isnan(pair.entropy)).sum()),
        },
    )
    if earlier is not None:
        found.counts.update(true_gap_links=int((beyond & known).sum()), gap_links=int((links & across).sum()))
    return found


def _true_edges(pair: PairPosterior, true: TrueMothers, earlier: EarlierMothers | None) -> Bools:
    """(E,) which of the edges join a pair's daughters to their true mothers; those across gaps come last."""
    near = true.is_true(pair.mother, pair.daughter)
    if earlier is None:
        return near
    cells, far, daughter = pair.block.cells, pair.block.mother[pair.far], pair.earlier.daughter
    there = (cells.frame[far] == earlier.frame[daughter]) & (cells.label[far] == earlier.label[daughter])
    return np.append(near, there)


def _kinds(true: TrueMothers, beyond: Bools, daughter: Ints, across: Bools, right: Bools) -> Ints:
    """(L,) whether each link is right, or in which way it is wrong; one past a missing mask has an unseen mother."""
    seen = (true.mother[daughter] >= 0) | (beyond[daughter] & across)
    unseen = true.undetected[daughter] | beyond[daughter]
    wrong = np.where(seen, SWAP, np.where(unseen, UNSEEN, BEGINNING))
    return np.where(right, RIGHT_LINK, wrong).astype(np.int64)


def _join(parts: Sequence[Decisions]) -> Decisions:
    fields = [name for name in Decisions.__dataclass_fields__ if name != "counts"]
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}
    counts = {name: sum(part.counts[name] for part in parts) for name in parts[0].counts}
    return Decisions(**arrays, counts=counts)
