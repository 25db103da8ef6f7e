"""Divisions reported beside those that are true, within a few frames: where masks are imperfect, the moment is uncertain."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dunno.evaluation.pairs_with_truth import of_tracking
from dunno.tracking import Tracking
from dunno.truth import ancestors, position
from dunno.types import Ints, Truth

DIVISION_TOLERANCE = 5

P_DIVIDE_BINS = (0.001, 0.01, 0.1, 0.5, 0.9, 1.0)
"""Ends of the bins of P(divide); what is below the first is left out."""

Report = tuple[int, Ints, float]
"""A mask that may divide: position of its frame, the cells that it holds, and P(divide)."""


@dataclass(frozen=True)
class DivisionBin:
    """Masks whose P(divide) lies between `low` and `high`, this one included."""

    low: float  # Lower end
    high: float  # Upper end
    masks: int  # How many there are, on annotated cells
    promised: float  # Σ P(divide)
    # True divisions within the tolerance. Where several masks could be one division, of whichever bins, each has a share in
    # proportion to its P(divide)
    found: float


@dataclass(frozen=True)
class DivisionScores:
    """Divisions on annotated cells."""

    # Mothers that are linked to two daughters, and whose mask holds an annotated cell, and not two as far as is known
    reported: int
    right: int  # Those of them that are a true division's, each true one counted once
    true: int  # Annotated divisions
    expected: float  # Σ P(divide) over the masks that hold an annotated cell; NaN where the method does not know
    tolerance: int  # By how many frames a report may be off
    # What was promised and found, by P(divide); empty where the method does not know
    bins: tuple[DivisionBin, ...] = ()

    @property
    def precision(self) -> float:
        """Share of the reported ones that are right."""
        return self.right / self.reported if self.reported else float("nan")

    @property
    def recall(self) -> float:
        """Share of the true ones that are reported."""
        return self.right / self.true if self.true else float("nan")

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.right / (self.reported + self.true) if self.reported + self.true else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with what follows from the counts."""
        return {**asdict(self), "precision": self.precision, "recall": self.recall, "f1": self.f1}


def divisions(tracking: Tracking, truth: Truth, tolerance: int = DIVISION_TOLERANCE) -> DivisionScores:
    """Match the divisions of a tracking with the true ones, nearest in time first.

    A report is a true division's if its mother's mask holds the dividing cell, or after the division one of its daughters, and lies
    within `tolerance` frames (as the movie counts them).
    """
    truth = of_tracking(truth, tracking)
    true = true_divisions(truth)
    reports: list[Report] = []
    possible: list[Report] = []
    expected = 0.0
    for pair in tracking.pairs:
        t = position(truth, pair.mother_frame)
        held = _held(truth, t, pair.mothers.label)
        known = np.array([len(each) > 0 for each in held], np.bool_)
        chance = np.full(len(known), np.nan) if pair.log_divide is None else np.exp(pair.log_divide)
        reports += [(t, held[i], float(chance[i])) for i in np.flatnonzero(pair.divides & known).tolist()]
        possible += [
            (t, held[i], float(chance[i])) for i in np.flatnonzero((chance > P_DIVIDE_BINS[0]) & known).tolist()
        ]
        expected += float("nan") if pair.log_divide is None else float(np.nansum(chance[known]))
    right = _matched(_near(reports, true, truth, tolerance))
    bins = () if np.isnan(expected) else _binned(possible, _near(possible, true, truth, tolerance), len(true))
    return DivisionScores(len(reports), right, len(true), expected, tolerance, bins)


def _binned(possible: list[Report], near: list[tuple[int, int, int]], n_true: int) -> tuple[DivisionBin, ...]:
    """What was promised and found in bins of P(divide)."""
    chance = np.array([each[2] for each in possible])
    _, mask, division = np.array(near, np.int64).reshape(-1, 3).T
    total = np.bincount(division, chance[mask], minlength=n_true)
    found = np.bincount(mask, chance[mask] / total[division], minlength=len(chance))
    which = np.digitize(chance, P_DIVIDE_BINS[1:-1], right=True)
    return tuple(
        DivisionBin(low, high, int(own.sum()), float(chance[own].sum()), float(found[own].sum()))
        for k, (low, high) in enumerate(pairwise(P_DIVIDE_BINS))
        for own in (which == k,)
    )


def true_divisions(truth: Truth) -> list[tuple[int, int]]:
    """The dividing track, and the position of the frame in which it is last seen undivided, of every true division in view."""
    children = np.bincount(np.searchsorted(truth.track, truth.mother[truth.mother > 0]), minlength=len(truth.track))
    found = []
    for row in np.flatnonzero(children >= 2).tolist():
        born = truth.first[truth.mother == truth.track[row]].min()
        t = int(np.searchsorted(truth.frames, born, side="left")) - 1
        if 0 <= t < len(truth.frames) - 1 and truth.frames[t] >= truth.first[row]:
            found.append((int(truth.track[row]), t))
    return found


def _held(truth: Truth, t: int, label: Ints) -> list[Ints]:
    """The cells that each mask holds."""
    place = np.searchsorted(truth.labels[t], label)
    own = truth.tracks[t][place]
    besides = truth.held_besides(t)
    return [
        np.concatenate([own[i : i + 1][own[i : i + 1] > 0], besides[1][besides[0] == place[i]]])
        for i in range(len(label))
    ]


def _near(
    reports: list[Report], true: list[tuple[int, int]], truth: Truth, tolerance: int
) -> list[tuple[int, int, int]]:
    """Which reports could be which true divisions: how many frames they are off, the report, and the division."""
    possible = []
    by_track = {track: (k, t) for k, (track, t) in enumerate(true)}
    for r, (t, held, _) in enumerate(reports):
        lines = {int(track) for track in held}
        parents = ancestors(truth, held.copy(), int(truth.frames[max(t - tolerance, 0)])) if len(held) else held
        for track in lines | {int(each) for each in parents} | {_mother(truth, each) for each in lines}:
            if track in by_track and abs(by_track[track][1] - t) <= tolerance:
                possible.append((abs(by_track[track][1] - t), r, by_track[track][0]))
    return possible


def _matched(possible: list[tuple[int, int, int]]) -> int:
    """How many true divisions have a report, each report counted for one at the most."""
    used_reports: set[int] = set()
    used_true: set[int] = set()
    for _, r, k in sorted(possible):
        if r not in used_reports and k not in used_true:
            used_reports.add(r)
            used_true.add(k)
    return len(used_true)


def _mother(truth: Truth, track: int) -> int:
    row = int(np.searchsorted(truth.track, track))
    return int(truth.mother[row])
