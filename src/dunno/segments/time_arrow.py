"""Time's arrow: which divisions are real, told by playing the movie backwards.

Faults of masks do not know which way time runs: masks meet as often as they part. Cells divide and do not fuse, so what a model
takes for divisions in the reversed movie is a sample of what it wrongly takes for divisions. With f(x) and b(x) the densities of
events forwards and backwards, a division that looks like x is real with probability P(x) (1 − b(x) / f(x)); the ratio is a ridge
logistic regression of backwards against forwards. It enters as log odds of divisions, and the movie is solved again: what is taken
from a division goes to the cell that goes on, to debris, or to one that appears.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np

from dunno.segments.answer import Answer
from dunno.segments.hypotheses import Weights
from dunno.segments.law_weights import Laws, Structure
from dunno.segments.laws.neck import neck_levels
from dunno.segments.posterior import SegmentPosterior
from dunno.segments.segments import Segments
from dunno.segments.ways import TWO, Splits
from dunno.types import Floats, Ints
from dunno.types.arrow_counts import ArrowCounts
from dunno.types.records import ValueRange
from dunno.types.sparse import components

GROWTH_UNIT = 0.2  # nats; docs/arrow.md
"""Log ratio of areas that counts for one."""

LONG_LIFE = 20  # frames; docs/arrow.md
"""Frames: who lives longer lives as long."""

LEAST_EVENT = 0.01  # probability; docs/arrow.md
"""Divisions that are less probable make no event."""

FARTHEST, SUREST, CERTAIN = 4.0, 6.0, 6.0  # spreads, nats; docs/arrow.md
"""Bounds of features, in their spreads; of log odds as a feature, and of those that are corrected."""

EVENT_FEATURES = (
    "all",
    "odds",
    "growth",
    "imbalance",
    "separation",
    "area",
    "together",
    "shared",
    "neck",
    "shorter life",
    "longer life",
    "mother's life",
)

LogFactor = Annotated[float, ValueRange(-1e6, 1e6)]

RARE, RARE_SPREAD, SPREAD = -3.0, 1.5, 0.7  # nats; docs/arrow.md
"""Beforehand few divisions are false, whatever they look like: mean and spread of the first weight, and spread of the others."""


class Seen(NamedTuple):
    """A movie as it was solved, in one of the two directions."""

    structure: Structure
    posterior: SegmentPosterior
    answer: Answer


@dataclass(frozen=True, eq=False)
class DivisionEvents:
    """G events: divisions that exclude each other, such as one cell's in this frame or in the next.

    Attributes:
        probability: (G,) of each event.
        features: (G, F) what its most probable division looks like, symmetric in time.
        of_way: (D,) the event of each division among the ways, -1 of those that are too improbable.
    """

    probability: Floats
    features: Floats
    of_way: Ints


@dataclass(frozen=True)
class Arrow:
    """What the reversed movie says of divisions.

    Attributes:
        counts: Divisions that are seen forwards and backwards; its balance is that of partings and mergings of masks.
        weights: (F,) of the log ratio of both densities.
    """

    counts: ArrowCounts
    weights: tuple[
        LogFactor,
        LogFactor,
        LogFactor,
        LogFactor,
        LogFactor,
        LogFactor,
        LogFactor,
        LogFactor,
        LogFactor,
        LogFactor,
        LogFactor,
        LogFactor,
    ]

    def false_share(self, events: DivisionEvents) -> Floats:
        """(G,) how probably each event is one of those that are seen backwards, too."""
        return np.asarray(np.minimum(np.exp(np.minimum(events.features @ np.array(self.weights), 0.0)), 1 - 1e-3))

    def weighed(self, weights: Weights, laws: Laws, seen: Seen) -> Weights:
        """The weights with the log odds that this takes from divisions."""
        structure, events = seen.structure, division_events(laws, seen)
        p = np.clip(events.probability, LEAST_EVENT, 1 - np.exp(-CERTAIN))
        left = p * (1 - self.false_share(events))
        change = np.append(_logit(left) - _logit(p), 0.0)
        way = weights.way.copy()
        way[_division_ways(structure)] += change[events.of_way]
        return replace(weights, way=way)


def reversed_in_time(segments: Segments) -> Segments:
    """The same segments, played backwards."""
    return replace(segments, frame=segments.n_frames - 1 - segments.frame)


def division_events(laws: Laws, seen_movie: Seen) -> DivisionEvents:
    """The divisions that a posterior sees."""
    structure, posterior = seen_movie.structure, seen_movie.posterior
    holdings, splits, divisions = structure.holdings, structure.splits, structure.ways.divisions
    ways = _division_ways(structure)
    division = _divisions_of_ways(structure)
    p = posterior.way[ways]
    mask = holdings.mask[holdings.state]
    ends = np.stack(
        [mask[column[division]] for column in (divisions.mother, divisions.first, divisions.second)], axis=1
    )
    seen = p > LEAST_EVENT
    n = structure.segments.n_masks
    one, other = np.concatenate([ends[seen][:, [0, 1]], ends[seen][:, [0, 2]]]).T
    group = components(one, other, n)
    used = np.unique(group[ends[seen, 0]])
    number = np.full(n + 1, -1, np.int64)
    number[used] = np.arange(len(used))
    of_mask = np.where(np.isin(np.arange(n), ends[seen]), number[group], -1)
    of_way = of_mask[ends].max(axis=1)
    total = np.bincount(of_way[seen], p[seen], len(used)).astype(np.float64)
    order = np.lexsort((p, of_way))
    last = np.searchsorted(of_way[order], np.arange(len(used)), side="right") - 1
    best = splits[divisions.split[division[order[last]]]]
    probability = np.clip(total, LEAST_EVENT, 1.0)
    g = laws.division.together if len(best) == 0 else laws.division.apart
    larger = np.log(structure.segments.area[best.mother]) - laws.turnover.area[0]
    features = np.stack([
        np.ones(len(used)),
        np.clip(_logit(np.clip(probability, LEAST_EVENT, 1 - np.exp(-SUREST))), -FARTHEST, SUREST) / 3,
        np.clip(best.growth / GROWTH_UNIT, -FARTHEST, FARTHEST),
        _from_usual(best.imbalance, 0.0, g.imbalance),
        np.clip((best.separation - g.separation) / g.separation_spread, -FARTHEST, FARTHEST),
        np.clip(larger / laws.turnover.area[1], -FARTHEST, FARTHEST),
        best.late.astype(np.float64),
        np.isnan(structure.segments.balance[best.mother]).astype(np.float64),
        np.maximum(neck_levels(structure.segments)[structure.segments.masks[best.mother, 0]], 0) / 2,
        *lives(seen_movie, best),
    ], axis=1)  # fmt: skip
    return DivisionEvents(probability, features, of_way)


def lives(seen: Seen, splits: Splits) -> list[Floats]:
    """(G,) each, from -1 to 1: how long the shorter-lived daughter lives, the other one, and how long the mother has."""
    segments, answer = seen.structure.segments, seen.answer
    n, frame = len(answer.segment), segments.frame[answer.segment]
    links = np.flatnonzero(answer.selected)
    mother, daughter = answer.edges.mother[links], answer.edges.daughter[links]
    alone = np.bincount(mother, minlength=n)[mother] == 1
    track = components(mother[alone], daughter[alone], n)
    first, last = np.full(n, segments.n_frames), np.zeros(n, np.int64)
    np.minimum.at(first, track, frame)
    np.maximum.at(last, track, frame)
    known = np.zeros((2, n), np.bool_)  # began, and ended, in a way that says nothing of how long it was there
    known[0, track[daughter[~alone]]] = known[1, track[mother[~alone]]] = True
    known[0] |= first == 0
    known[1] |= last == segments.n_frames - 1
    before = np.where(known[0][track], LONG_LIFE, np.minimum(frame - first[track], LONG_LIFE))
    after = np.where(known[1][track], LONG_LIFE, np.minimum(last[track] - frame, LONG_LIFE))
    row = np.full(len(segments.frame), -1, np.int64)
    row[answer.segment] = np.arange(n)
    one, other, own = (
        np.where(row[each] >= 0, life[row[each]], 0)
        for each, life in ((splits.first, after), (splits.second, after), (splits.mother, before))
    )
    ages = np.minimum(one, other), np.maximum(one, other), own
    return [2 * np.log1p(age) / np.log1p(LONG_LIFE) - 1 for age in ages]


def fitted_arrow(forwards: Seen, backwards: Seen, laws: Laws) -> Arrow:
    """What both ways say."""
    seen = [division_events(laws, each) for each in (forwards, backwards)]
    balance = _balance(forwards.structure, forwards.posterior)
    weight = np.concatenate([seen[0].probability, balance * seen[1].probability])
    is_backwards = np.repeat([0.0, 1.0], [len(each.probability) for each in seen])
    fitted = _logistic(np.concatenate([each.features for each in seen]), is_backwards, weight)
    early, late = _halves(backwards)
    return Arrow(
        ArrowCounts(_halves(forwards), (late, early), forwards.structure.segments.n_frames, balance),
        tuple(fitted.tolist()),
    )


def _halves(seen: Seen) -> tuple[float, float]:
    """Divisions in the first and in the second half of the frames."""
    segments, holdings = seen.structure.segments, seen.structure.holdings
    late = 2 * segments.frame[holdings.segment] >= segments.n_frames - 1
    divide = seen.posterior.divide
    return float(divide[~late].sum()), float(divide[late].sum())


def _division_ways(structure: Structure) -> Ints:
    """(D,) the ways in which a cell divides."""
    _, _, divide, both, inside, end = structure.ways.first
    return np.concatenate([np.arange(divide, both), np.arange(inside, end)])


def _divisions_of_ways(structure: Structure) -> Ints:
    """(D,) the row of each in `Divisions`."""
    return np.concatenate([np.arange(len(structure.ways.divisions)), structure.ways.inside[:, 0]]).astype(np.int64)


def _balance(structure: Structure, posterior: SegmentPosterior) -> float:
    """Partings over mergings, with one of each beforehand for every hundredth mask that holds two."""
    holdings, segments, ways = structure.holdings, structure.segments, structure.ways
    two = np.isin(holdings.content, TWO)
    frame = segments.frame[holdings.mask]
    _, stay, divide, *_ = ways.first
    stays = posterior.way[stay:divide]
    kept = np.isin(holdings.content[ways.stays.mother], TWO)
    first, last = frame == 0, frame == segments.n_frames - 1
    late = structure.splits.late[ways.divisions.split]
    born = float(posterior.way[divide : divide + len(late)][late].sum())
    mergings = float(posterior.state[two & ~first].sum() - stays[kept].sum()) - born
    partings = float(posterior.state[two & ~last].sum() - stays[kept].sum()) - born
    prior = 5.0
    return float(np.clip((max(partings, 0.0) + prior) / (max(mergings, 0.0) + prior), 0.2, 1.5))


def _from_usual(x: Floats, usual: float, spread: float) -> Floats:
    return np.asarray(np.minimum(np.abs(x - usual) / spread, FARTHEST) - 1)


def _logit(p: Floats) -> Floats:
    return np.asarray(np.log(p) - np.log1p(-p))


def _logistic(features: Floats, yes: Floats, weight: Floats) -> Floats:
    """(F,) weights of the log odds, the most probable ones beside their prior."""
    from scipy.optimize import minimize

    prior = np.append(RARE, np.zeros(features.shape[1] - 1))
    precision = np.append(RARE_SPREAD**-2, np.full(len(prior) - 1, SPREAD**-2))

    def loss(found: Floats) -> tuple[float, Floats]:
        odds = features @ found
        away = found - prior
        slope = features.T @ (weight * (1 / (1 + np.exp(-odds)) - yes)) + precision * away
        return float((weight * (np.logaddexp(0, odds) - yes * odds)).sum() + 0.5 * (precision * away**2).sum()), slope

    return np.asarray(minimize(loss, prior, jac=True, method="BFGS").x)
