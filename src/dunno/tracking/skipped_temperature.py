r"""A temperature without truth, for any cost and any method: fitted with frames left out, on the links that all frames give.

At a step of two frames, the links that two single steps compose stand in for the truth, and T is fitted as it would be with
truth. What carries over to the single step is its growth: $T(s) = T(2s) \cdot T(2s)/T(4s)$, a power law in the time between
frames (Brownian motion and the distance cost give ½).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dunno.calibration.comparison import Comparison, Composed, MotherBeliefs, compose
from dunno.calibration.kinds.temperature import FAINT_PRIOR, LabelledDaughters, TemperatureScaling, best_temperature
from dunno.calibration.verdict import SkipTest, judge
from dunno.tracking.gate import gate_between
from dunno.tracking.plan import Plan, Span
from dunno.tracking.sampling import Sample
from dunno.tracking.skipping import PURPOSES, Purpose, positions, serving, skip_test
from dunno.types import Block, Floats, Ints, PairPosterior, RunInfo
from dunno.work.progress import Tell
from dunno.work.schedule import Pool, in_order

TEMPERATURE_STEP = 0.05  # ln T; judged; of the difference quotient that gives the curvature
LEAST_CURVATURE = 1e-3  # 1; judged; of the loss over ln T, so that the interval stays finite
GROWTHS = (0.25, 1.0)  # ratio; exact: T grows at most as squared motion of straight flight does
"""Bounds on T(s)/T(2s)."""

BROWNIAN = 0.5  # ratio; exact: squared Brownian motion doubles
"""T(s)/T(2s) where the movie is too short to tell."""

STILL_PIXELS = 1e-6  # pixels; judged
"""Cells that move less than this, in pixels, stand still."""

TrackBlock = Callable[[Plan, Span], Block]


@dataclass(frozen=True, eq=False)
class SkippedMethod:
    """A sample tracked at a larger frame step: its distributions beside the mothers that links of single steps compose."""

    sample: Sample
    step: int
    growth: tuple[float, float]
    comparison: LabelledDaughters

    @classmethod
    def of(
        cls, sample: Sample, step: int, links: MotherBeliefs, skipped: Sequence[PairPosterior]
    ) -> SkippedMethod | None:
        """Compose the links of single steps, and put what was tracked over several beside them; `None` where nobody is judged."""
        jumps = {(sample.cells[early].frame, sample.cells[late].frame) for early, late in sample.jumps(step)}
        pairs = [each for each in skipped if (each.mother_frame, each.daughter_frame) in jumps]
        composed = compose(links, step)
        comparison = distributions_of(sample, pairs, composed)
        judged = comparison.judged[composed.matrix.row]
        if not judged.any():
            return None
        moved = _squared(sample, composed.matrix.column[judged], composed.matrix.row[judged])
        once = np.maximum(_squared(sample, links.mother, links.daughter), (STILL_PIXELS * min(sample.movie.scale)) ** 2)
        error = float(np.sqrt(2 / len(moved) + 2 / len(once)))
        return cls(sample, step, (float(np.median(moved) / np.median(once)), error), comparison)

    def part(self, purpose: Purpose) -> LabelledDaughters:
        """The daughters in frames that serve a purpose; all of them where one of the purposes has none."""
        parts = {each: self.comparison.among(serving(self.sample, each)) for each in PURPOSES}
        return parts[purpose] if all(map(len, parts.values())) else self.comparison

    def temperature(self) -> tuple[float, float]:
        """The temperature of least loss on frames that serve to fit, and the standard error of its logarithm.

        As if frame pairs were drawn anew: the sandwich of slopes per pair and curvature.
        """
        judged, losses = self.comparison.judged, self.comparison.losses()
        used = self.part("fit").possible[judged]
        if not used.any():
            return 1.0, 0.0
        best, _ = best_temperature(losses, used.astype(np.float64), 1 / (FAINT_PRIOR**2 * used.sum()))
        below, here, above = (losses(best * np.exp(nudge)) for nudge in (-TEMPERATURE_STEP, 0.0, TEMPERATURE_STEP))
        slope = np.where(used, (above - below) / (2 * TEMPERATURE_STEP), 0.0)
        curvature = np.where(used, (above - 2 * here + below) / TEMPERATURE_STEP**2, 0.0).sum() + 1 / FAINT_PRIOR**2
        pair = np.searchsorted([late for _, late in self.sample.jumps(self.step)], positions(self.sample)[judged])
        spread = np.sqrt((np.bincount(pair, slope) ** 2).sum())
        return best, float(min(spread / max(curvature, LEAST_CURVATURE), FAINT_PRIOR))

    def test(self, temperature: float) -> SkipTest:
        """What the frames that serve to judge say of a temperature."""
        scaled = self.part("judge").scaled(temperature)
        return skip_test(self, scaled, scaled.likeliest())


def fit_temperature(
    plan: Plan, sample: Sample, track: TrackBlock, about: RunInfo, pool: Pool, tell: Tell
) -> TemperatureScaling:
    """Fit a temperature on the movie itself, tracked by a plan without calibration, and say what the skip test makes of it."""

    def tracked(step: int) -> list[PairPosterior]:
        gate = plan.max_distance if step == 1 else _gate(sample, step)
        at_step = replace(plan, max_distance=gate, gate=plan.gate if step == 1 or np.isinf(plan.gate) else gate)
        blocks = in_order(partial(track, at_step), _spans(sample, step), pool)
        pairs = [pair for block in blocks for pair in block.pairs()]
        tell("skipping frames, step", step, 4)
        return pairs

    links = links_of(sample, tracked(1))
    two, four = (
        SkippedMethod.of(sample, step, links, tracked(step)) if sample.jumps(step) else None for step in (2, 4)
    )
    if two is None:
        return TemperatureScaling(1.0, about.to_dict(), fitted="self", verdict=judge(None))
    (at_two, error), daughters = two.temperature(), two.comparison
    test, possible, losses = two.test(at_two), daughters.possible[daughters.judged], daughters.losses()
    before, after = (float(losses(t)[possible].mean()) if possible.any() else float("nan") for t in (1.0, at_two))
    growth = BROWNIAN if four is None else float(np.clip(at_two / four.temperature()[0], *GROWTHS))
    if np.isneginf(daughters.log_direct[~daughters.is_none & daughters.judged[daughters.daughter]]).any():
        growth = max(growth, 1 / at_two)  # frequencies of assignments, which agree with their own links too well
    low, high = (growth * at_two * float(np.exp(1.96 * error * sign)) for sign in (-1, 1))
    return TemperatureScaling(
        temperature=growth * at_two,
        fitted_for=about.to_dict(),
        loss_before=before,
        loss_after=after,
        counts={"daughters": int(possible.sum()), "mother_impossible": int((~possible).sum())},
        fitted="self",
        verdict=judge(test),
        interval=(low, high),
        skipping=(test,),
    )


def links_of(sample: Sample, pairs: Sequence[PairPosterior]) -> MotherBeliefs:
    """The links of tracked pairs, taken for certain."""
    mother, daughter = _rows(sample, pairs)
    link = np.concatenate([pair.selected for pair in pairs])
    none = np.asarray(1.0 - np.bincount(daughter[link], minlength=sample.n_rows), np.float64)
    return MotherBeliefs(mother[link], daughter[link], np.ones(int(link.sum())), none)


def distributions_of(sample: Sample, pairs: Sequence[PairPosterior], composed: Composed) -> LabelledDaughters:
    """The distributions of tracked pairs beside the composed mothers."""
    log_edge, log_none = np.concatenate([pair.log_probability for pair in pairs]), np.full(sample.n_rows, np.nan)
    for pair in pairs:
        begin = sample.first_row[pair.daughter_frame]
        log_none[begin : begin + len(pair.entropy)] = np.where(np.isnan(pair.entropy), np.nan, pair.log_no_mother)
    comparison = Comparison.of(MotherBeliefs(*_rows(sample, pairs), np.exp(log_edge), np.exp(log_none)), composed)
    return LabelledDaughters(**vars(comparison), log_direct=np.append(log_edge, log_none[~np.isnan(log_none)]))


def _rows(sample: Sample, pairs: Sequence[PairPosterior]) -> tuple[Ints, Ints]:
    """(E,) the rows of the edges' mothers, and of their daughters, in a table of all the sample's cells."""
    mothers = [sample.first_row[pair.mother_frame] + pair.mother for pair in pairs]
    daughters = [sample.first_row[pair.daughter_frame] + pair.daughter for pair in pairs]
    return np.concatenate(mothers), np.concatenate(daughters)


def _squared(sample: Sample, mother: Ints, daughter: Ints) -> Floats:
    """(E,) squared motion."""
    place = np.concatenate([each.centroid for each in sample.frames])
    return np.asarray(((place[daughter] - place[mother]) ** 2).sum(axis=1))


def _gate(sample: Sample, step: int) -> float:
    gate = gate_between([(sample.cells[early], sample.cells[late]) for early, late in sample.jumps(step)])
    movie = sample.movie
    return gate if np.isfinite(gate) else float(np.linalg.norm(np.multiply(movie.shape, movie.scale)))


def _spans(sample: Sample, step: int) -> list[Span]:
    """Every run and phase of the sample as a block of its own."""
    frames = np.array(sorted(sample.cells))
    runs = np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1)
    spans = [slice(int(run[0]) + phase, int(run[-1]) + 1, step) for run in runs for phase in range(step)]
    views = [sample.movie.part(span) for span in spans]
    return [Span(view, 0, len(view) - 1) for view in views if len(view) > 1]
