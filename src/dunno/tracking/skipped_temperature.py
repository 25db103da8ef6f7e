r"""A temperature without truth, for any cost and any method: fitted with frames left out, on the links that all frames give.

At a step of two frames, the links that two single steps compose stand in for the truth, and T is fitted as it would be with
truth. What carries over to the single step is its growth: $T(s) = T(2s) \cdot T(2s)/T(4s)$, a power law in the time between
frames (Brownian motion and the distance cost give ½).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from dunno.calibration.kinds.temperature import FAINT_PRIOR, LabelledDaughters, TemperatureScaling, best_temperature
from dunno.calibration.verdict import SkipTest, judge
from dunno.tracking.blocks import Block
from dunno.tracking.gate import gate_between
from dunno.tracking.plan import Plan
from dunno.tracking.sampling import Sample
from dunno.tracking.skipping import STRETCH
from dunno.types import Ints, PairPosterior, RunInfo
from dunno.work.progress import Tell
from dunno.work.schedule import Pool, in_order

NUDGE = 0.05
LEAST_CURVATURE = 1e-3
GROWTHS = (0.25, 1.0)
"""Bounds on T(s)/T(2s)."""

BROWNIAN = 0.5
"""T(s)/T(2s) where the movie is too short to tell."""

STILL = 1e-6
"""Cells that move less than this, in pixels, stand still."""

NO_ANCESTOR = -1

TrackBlock = Callable[[Plan, Block], list[PairPosterior]]


@dataclass(frozen=True, eq=False)
class Jumps:
    """A sample tracked at a larger frame step, beside the links that single steps compose.

    Attributes:
        step: Single steps in one of its steps.
        daughters: The daughters with a composed mother, with their distributions.
        possible: (N,) whether that mother is possible: a candidate whose probability is not exactly zero.
        pair: (N,) the frame pair of each.
        serves: (N,) whether each one's frames serve to fit, or else to judge.
        squared: (N,) squared displacement from the composed mother.
    """

    step: int
    daughters: LabelledDaughters
    possible: np.ndarray
    pair: Ints
    serves: np.ndarray
    squared: np.ndarray

    def temperature(self) -> float:
        """The temperature of least loss over daughters whose frames serve to fit."""
        weight = (self.serves & self.possible).astype(np.float64)
        if weight.sum() == 0:
            return 1.0
        prior = 1 / (FAINT_PRIOR**2 * weight.sum())
        return best_temperature(replace(self.daughters, weight=weight), prior)[0]

    def log_error(self, temperature: float) -> float:
        """Standard error of ln T, as if frame pairs were drawn anew: the sandwich of slopes per pair and curvature."""
        below, here, above = (self.daughters.losses(temperature * np.exp(h)) for h in (-NUDGE, 0.0, NUDGE))
        used = self.serves & self.possible
        slope = np.where(used, (above - below) / (2 * NUDGE), 0.0)
        curvature = np.where(used, (above - 2 * here + below) / NUDGE**2, 0.0).sum() + 1 / FAINT_PRIOR**2
        spread = np.sqrt((np.bincount(self.pair, slope) ** 2).sum())
        return float(min(spread / max(curvature, LEAST_CURVATURE), FAINT_PRIOR))

    def loss(self, temperature: float) -> float:
        """Mean −log P of the composed mothers that are possible."""
        return (
            float(np.mean(self.daughters.losses(temperature)[self.possible])) if self.possible.any() else float("nan")
        )

    def errors(self, temperature: float) -> tuple[float, float, int]:
        """Of the likeliest options at a temperature, in the frames that judge: promised and found wrong, and how many."""
        given = self.daughters
        n = len(given.log_none)
        options = np.concatenate([given.log_edge, given.log_none]) / temperature
        owner = np.concatenate([given.daughter, np.arange(n)])
        best = np.full(n, -np.inf)
        np.maximum.at(best, owner, options)
        total = np.bincount(owner, np.exp(options - best[owner]), minlength=n)
        judged = ~self.serves if not self.serves.all() else self.serves
        promised = (1 - 1 / total)[judged].sum()
        wrong = (~self.possible | (given.log_true / temperature < best - 1e-9))[judged].sum()
        return float(promised), float(wrong), int(judged.sum())


def fit_temperature(
    plan: Plan,
    sample: Sample,
    track: TrackBlock,
    about: RunInfo,
    pool: Pool,
    tell: Tell,
) -> TemperatureScaling:
    """Fit a temperature on the movie itself, and say what the skip test makes of it.

    Args:
        plan: How single steps are tracked, without a calibration.
        sample: Some frames.
        track: Tracks a block.
        about: What a result says of itself.
        pool: Runs blocks.
        tell: Is told how far it is.
    """

    def solved(step: int) -> dict[tuple[int, int], PairPosterior]:
        gate = plan.max_distance if step == 1 else _gate(sample, step)
        at_step = replace(plan, max_distance=gate, gate=plan.gate if step == 1 or np.isinf(plan.gate) else gate)
        found: dict[tuple[int, int], PairPosterior] = {}
        for pairs in in_order(partial(track, at_step), _blocks(sample, step), pool):
            found |= {(pair.mother_frame, pair.daughter_frame): pair for pair in pairs}
        tell("skipping frames, step", step, 4)
        return found

    single = solved(1)
    jumps = {step: _jumps(sample, step, single, solved(step)) for step in (2, 4) if sample.jumps(step)}
    if 2 not in jumps or jumps[2] is None:
        return TemperatureScaling(1.0, about.to_dict(), fitted="self", verdict=judge(None))
    still = (STILL * min(sample.movie.scale)) ** 2
    return _carried(jumps[2], jumps.get(4), np.maximum(_displacements(single), still), about)


def _carried(two: Jumps, four: Jumps | None, squared: np.ndarray, about: RunInfo) -> TemperatureScaling:
    """The temperature of single steps, with its interval and what the test says."""
    at_two = two.temperature()
    growth = BROWNIAN if four is None else float(np.clip(at_two / four.temperature(), *GROWTHS))
    if np.isneginf(
        two.daughters.log_edge
    ).any():  # frequencies of assignments, which agree with their own links too well
        growth = max(growth, 1 / at_two)
    width = 1.96 * two.log_error(at_two)
    low, high = growth * at_two * float(np.exp(-width)), growth * at_two * float(np.exp(width))
    promised, wrong, judged = two.errors(at_two)
    speed = float(np.median(two.squared) / np.median(squared))
    error = float(np.sqrt(2 / len(two.squared) + 2 / max(len(squared), 1)))
    test = SkipTest(2, judged, judged, promised, wrong, speed, error)
    return TemperatureScaling(
        temperature=growth * at_two,
        fitted_for=about.to_dict(),
        loss_before=two.loss(1.0),
        loss_after=two.loss(at_two),
        counts=two.daughters.counts,
        fitted="self",
        verdict=judge(test),
        interval=(low, high),
        skipping=(test,),
    )


def _gate(sample: Sample, step: int) -> float:
    gate = gate_between([(sample.cells[early], sample.cells[late]) for early, late in sample.jumps(step)])
    movie = sample.movie
    return gate if np.isfinite(gate) else float(np.linalg.norm(np.multiply(movie.shape, movie.scale)))


def _blocks(sample: Sample, step: int) -> list[Block]:
    """Every run and phase of the sample as a block of its own."""
    positions = sorted(sample.cells)
    breaks = [0, *(k for k in range(1, len(positions)) if positions[k] != positions[k - 1] + 1), len(positions)]
    blocks = []
    for begin, end in pairwise(breaks):
        for phase in range(step):
            view = sample.movie.part(slice(positions[begin] + phase, positions[end - 1] + 1, step))
            if len(view) > 1:
                blocks.append(Block(view, 0, len(view) - 1))
    return blocks


def _jumps(
    sample: Sample,
    step: int,
    single: Mapping[tuple[int, int], PairPosterior],
    direct: Mapping[tuple[int, int], PairPosterior],
) -> Jumps | None:
    """Daughters with a composed mother, as if that were the truth."""
    frames = sample.movie.frames
    edges, owners, none, trues, pairs, serves, squared = [], [], [], [], [], [], []
    count = 0
    for number, (early, late) in enumerate(sample.jumps(step)):
        pair = direct.get((int(frames[early]), int(frames[late])))
        way = [single.get((int(frames[t]), int(frames[t + 1]))) for t in range(early, late)]
        if pair is None or any(each is None for each in way):
            continue
        ancestor = composed_links([each for each in way if each is not None])
        hit = ancestor[pair.daughter] == pair.mother
        log_true = np.full(len(pair.daughters), np.nan)
        log_true[pair.daughter[hit]] = pair.log_probability[hit]
        used = (ancestor >= 0) & ~np.isnan(pair.entropy)
        kept = used[pair.daughter]
        edges.append(pair.log_probability[kept])
        owners.append((np.cumsum(used) - 1 + count)[pair.daughter[kept]])
        none.append(pair.log_no_mother[used])
        trues.append(log_true[used])
        pairs.append(np.full(int(used.sum()), number))
        serves.append(np.full(int(used.sum()), late // STRETCH % 2 == 0))
        moved = pair.daughters.centroid[used] - pair.mothers.centroid[ancestor[used]]
        squared.append((moved**2).sum(axis=1))
        count += int(used.sum())
    if count == 0:
        return None
    flat = [np.concatenate(part) for part in (edges, owners, none, trues)]
    possible, serving = np.isfinite(flat[3]), np.concatenate(serves)
    counts = {"daughters": int(possible.sum()), "mother_impossible": int((~possible).sum())}
    labelled = LabelledDaughters(flat[0], flat[1], flat[2], np.where(possible, flat[3], 0.0), counts)
    serving = serving if serving.any() else ~serving
    return Jumps(step, labelled, possible, np.concatenate(pairs), serving, np.concatenate(squared))


def composed_links(way: Sequence[PairPosterior]) -> Ints:
    """(n,) follow each daughter of the last pair back along the links to the first pair's mothers; -1 where they end."""
    ancestor = np.arange(len(way[-1].daughters))
    for pair in reversed(way):
        mother = np.full(len(pair.daughters) + 1, NO_ANCESTOR)
        mother[pair.daughter[pair.selected]] = pair.mother[pair.selected]
        ancestor = mother[ancestor]  # -1 takes the last entry, which is -1
    return ancestor


def _displacements(pairs: Mapping[Any, PairPosterior]) -> np.ndarray:
    """(L,) squared displacements of all links."""
    parts = [np.empty(0)]
    for pair in pairs.values():
        mother, daughter = pair.mother[pair.selected], pair.daughter[pair.selected]
        parts.append(((pair.daughters.centroid[daughter] - pair.mothers.centroid[mother]) ** 2).sum(axis=1))
    return np.concatenate(parts)
