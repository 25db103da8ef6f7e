"""One summary of how right a tracking is, and how true its probabilities are."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from dunno.evaluation.calibration_error import BINS, check_bins, error_floor, expected_error
from dunno.evaluation.divisions import DIVISION_TOLERANCE, DivisionScores, division_scores, matched_divisions
from dunno.evaluation.followed_cells import FollowedCells
from dunno.evaluation.held_cells import HeldCells
from dunno.evaluation.held_links import held_links
from dunno.evaluation.outcomes import Decisions, promises
from dunno.evaluation.own_tracks import OwnTracks, own_tracks
from dunno.evaluation.pairs_with_truth import decide
from dunno.evaluation.sparsification import kept_right
from dunno.tracking import Tracking
from dunno.types import Bools, Floats, Ints, Truth

ZERO_FLOOR = 1e-12
"""Probability that counts for an exact 0 in −log P, so that one impossible truth does not make the mean infinite."""

INTERVAL = (2.5, 97.5)


@dataclass(frozen=True)
class Scores:
    """How right, and how honest. NaN where undefined; `reasons` says why.

    Attributes:
        n_links: Selected links whose daughter is a true cell.
        n_daughters: Daughters that take part.
        n_edges: Candidate edges of those daughters.
        n_true_links: True links between masks; a daughter has one to each detected mother of a cell in its mask.
        accuracy: Share of selected links that is right (the paper's).
        recall: Share of true links that was selected.
        daughter_accuracy: Share of daughters whose decision, a mother or ⊥, is right.
        ece: Expected calibration error of the links, in bins of equal width (ten unless asked otherwise; so are all others).
        ece_floor: What a perfectly calibrated predictor with these confidences would stay below in 95 % of draws.
        ece_daughters: Of all daughters' decisions.
        ece_daughters_floor: Its floor.
        promised_wrong: Σ(1 − P) over the links: how many are promised to be wrong.
        found_wrong: How many are wrong: `swaps`, `unseen_mothers` and `beginnings` together.
        promised_swaps: Σ(1 − P) over links whose daughter's true mother is among the masks.
        swaps: Wrong links whose daughter's true mother is among the masks.
        unseen_mothers: Links of daughters whose true mother is annotated but in no mask.
        beginnings: Links to cells that the annotation begins.
        nll: Mean −log P(truth) over daughters; exact zeros, and true mothers that are no candidates, count as 1e-12.
        brier: Mean squared error of daughters' distributions, from 0 to 2.
        auroc: Chance that a right link is more confident than a wrong one.
        aurc: Mean share of wrong links among the most confident ones, over all shares kept; lower is better.
        divisions: Divisions reported beside the true ones, within a tolerance of frames.
        tracks: Whether annotated cells have tracks of their own.
        held_recall: Share of the true links that was made; each leads from the latest of four earlier frames that show the cell.
        n_bins: Bins of confidence in every calibration error.
        counts: What was left out or odd.
        intervals: 95 % bootstrap intervals over frame pairs, where asked for.
        reasons: Why a score is undefined.
    """

    n_links: int
    n_daughters: int
    n_edges: int
    n_true_links: int
    accuracy: float
    recall: float
    daughter_accuracy: float
    ece: float
    ece_floor: float
    ece_daughters: float
    ece_daughters_floor: float
    promised_wrong: float
    found_wrong: int
    promised_swaps: float
    swaps: int
    unseen_mothers: int
    beginnings: int
    nll: float
    brier: float
    auroc: float
    aurc: float
    divisions: DivisionScores | None = None
    tracks: OwnTracks | None = None
    held_recall: float = float("nan")
    n_bins: int = BINS
    counts: dict[str, int] = field(default_factory=dict)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def sentence(self) -> str:
        """Promised beside found, in words."""
        return promised_and_found(self.promised_wrong, self.swaps, self.unseen_mothers, self.beginnings)

    def to_dict(self) -> dict[str, Any]:
        """Numbers and strings only; NaN as `None`."""
        content = {**asdict(self), "divisions": self.divisions and self.divisions.to_dict()}
        content["tracks"] = self.tracks and self.tracks.to_dict()
        return _without_nan(content)


def _without_nan(content: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_nan(value) if key in ("divisions", "tracks") and value else None if value != value else value
        for key, value in content.items()
    }


def promised_and_found(promised: float, swaps: int, unseen: int, beginnings: int) -> str:
    """How many links were promised to be wrong, and how many are, by kind.

    Example:
        >>> promised_and_found(39.7, 36, 2, 37)
        'promised 40 wrong links; found 36 swaps, 2 links past a missing mask, 37 cells that the annotation begins'
    """
    return (
        f"promised {promised:,.0f} wrong links; found {_counted(swaps, 'swap')}, {_counted(unseen, 'link')} past a missing mask, "
        f"{_counted(beginnings, 'cell')} that the annotation begins"
    )


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def score(
    tracking: Tracking,
    truth: Truth,
    *,
    bootstrap: int = 0,
    seed: int = 0,
    n_bins: int = BINS,
    tolerance: int = DIVISION_TOLERANCE,
) -> Scores:
    """Score a tracking against its truth.

    Args:
        tracking: What was tracked.
        truth: What is true; refused if its frames are others.
        bootstrap: Resamplings of frame pairs for 95 % intervals; 0 for none.
        seed: For the floors and the bootstrap.
        n_bins: Bins of confidence in every calibration error.
        tolerance: By how many frames a reported division may be off.
    """
    check_bins(n_bins)
    decisions = decide(tracking, truth)
    reasons = _reasons(decisions)
    intervals: dict[str, tuple[float, float]] = {}
    if bootstrap and len(tracking.pairs) < 2:
        reasons["intervals"] = "one frame pair only: there is nothing to resample"
    elif bootstrap:
        intervals = _bootstrap(decisions, len(tracking.pairs), bootstrap, seed, n_bins)
    followed, held = FollowedCells.of(tracking), HeldCells.of(tracking.movie, truth)
    links = held_links(followed, held)
    divided = matched_divisions(followed, held, np.flatnonzero(followed.divides), tolerance)
    return Scores(
        n_links=len(decisions.link_right),
        n_daughters=len(decisions.right),
        n_edges=int(decisions.n_edges.sum()),
        n_true_links=int(decisions.true_links.sum()),
        n_bins=n_bins,
        **core_scores(decisions, n_bins),
        **promises(links.kind, links.probability),
        ece_floor=error_floor(decisions.link_confidence, n_bins, seed),
        ece_daughters_floor=error_floor(decisions.confidence, n_bins, seed),
        auroc=auroc(decisions.link_confidence, decisions.link_right),
        aurc=aurc(decisions.link_confidence, decisions.link_right),
        divisions=division_scores(followed, held, tolerance, knows=tracking.block.has_events),
        tracks=own_tracks(followed, held, divided),
        held_recall=links.recall,
        counts=decisions.counts,
        intervals=intervals,
        reasons=reasons,
    )


def core_scores(decisions: Decisions, n_bins: int) -> dict[str, Any]:
    """The scores that a bootstrap gives intervals for; see `Scores`."""
    surprise = -np.maximum(decisions.log_true, np.log(ZERO_FLOOR))
    p_true = np.exp(decisions.log_true)
    n_true_links = int(decisions.true_links.sum())
    return {
        "accuracy": _mean(decisions.link_right),
        "recall": float(decisions.link_right.sum() / n_true_links) if n_true_links else float("nan"),
        "daughter_accuracy": _mean(decisions.right),
        "ece": expected_error(decisions.link_confidence, decisions.link_right, n_bins),
        "ece_daughters": expected_error(decisions.confidence, decisions.right, n_bins),
        "nll": _mean(surprise),
        "brier": _mean(decisions.square - 2 * p_true + 1),
    }


def _bootstrap(
    decisions: Decisions, n_pairs: int, draws: int, seed: int, n_bins: int
) -> dict[str, tuple[float, float]]:
    """Resample frame pairs; links of one pair are wrong together, so they stay together."""
    rng = np.random.default_rng(seed)
    links = [np.flatnonzero(decisions.link_pair == number) for number in range(n_pairs)]
    daughters = [np.flatnonzero(decisions.pair == number) for number in range(n_pairs)]
    found: dict[str, list[float]] = {}
    for _ in range(draws):
        picked = rng.integers(n_pairs, size=n_pairs)
        link, daughter = np.concatenate([links[i] for i in picked]), np.concatenate([daughters[i] for i in picked])
        for name, value in core_scores(_pick(decisions, link, daughter, picked), n_bins).items():
            found.setdefault(name, []).append(value)
    return {name: _interval(values) for name, values in found.items() if not np.isnan(values).all()}


def _interval(values: list[float]) -> tuple[float, float]:
    low, high = np.nanpercentile(values, INTERVAL)
    return float(low), float(high)


def _pick(decisions: Decisions, link: Ints, daughter: Ints, pair: Ints) -> Decisions:
    by_link = {name: getattr(decisions, name)[link] for name in ("link_confidence", "link_right", "link_entropy")}
    names = ("confidence", "right", "log_true", "square")
    by_daughter = {name: getattr(decisions, name)[daughter] for name in names}
    return replace(decisions, **by_link, **by_daughter, true_links=decisions.true_links[pair])


def auroc(confidence: Floats, right: Bools) -> float:
    """Chance that a right link is more confident than a wrong one, ties counting half; NaN if all or none are right."""
    n_right, n_wrong = int(right.sum()), int((~right).sum())
    if n_right == 0 or n_wrong == 0:
        return float("nan")
    values, place = np.unique(confidence, return_inverse=True)
    good = np.bincount(place, right, minlength=len(values))
    bad = np.bincount(place, ~right, minlength=len(values))
    below = np.cumsum(bad) - bad
    return float((good * (below + bad / 2)).sum() / (n_right * n_wrong))


def aurc(confidence: Floats, right: Bools) -> float:
    """Area under the risk–coverage curve: the mean share of wrong links among the k most confident, over all k."""
    if len(right) == 0:
        return float("nan")
    kept = np.arange(1, len(right) + 1)
    return float(np.mean(1 - kept_right(confidence, right) / kept))


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


LINK_SCORES = ("accuracy", "ece", "ece_floor", "auroc", "aurc")


def _reasons(decisions: Decisions) -> dict[str, str]:
    """Why scores are undefined; where several reasons hold, the last one counts."""
    reasons = {}
    if decisions.true_links.sum() == 0:
        reasons["recall"] = "there are no true links"
    if (right := decisions.link_right).all() or not right.any():
        reasons["auroc"] = f"the answer is always {'yes' if right.all() else 'no'}: there is nothing to tell apart"
    if len(decisions.right) == 0:
        reasons["daughter_accuracy"] = "no daughter takes part"
    if len(decisions.link_right) == 0:
        reasons |= dict.fromkeys(LINK_SCORES, "there are no links")
    return reasons
