"""Calibration on the movie itself, without truth: a model is fitted, and judged by skipping frames."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dunno.calibration import ModelCalibration
from dunno.calibration.softening import Softening
from dunno.calibration.verdict import SkipTest, judge
from dunno.errors import DunnoWarning
from dunno.models import Fit
from dunno.models.diagnostics import covering
from dunno.models.expectation import Expected, expect
from dunno.segments.glance import glance
from dunno.tracking.choosing import Choice, choose_evidence
from dunno.tracking.gate import MOST_MOTHERS
from dunno.tracking.measured_blocks import broken_frames
from dunno.tracking.missing import intervals_with_gaps, lag_power, with_gaps, with_lag_power
from dunno.tracking.plan import BLOCK, Plan
from dunno.tracking.sampling import MOST_MOTHERS_FITTED, Sample, fit_sample
from dunno.tracking.skipping import SkippedModel, skip
from dunno.types import Movie, RunInfo
from dunno.types.arrow_counts import ArrowCounts
from dunno.work.progress import Tell

if TYPE_CHECKING:
    from dunno.segments.segment_model import SegmentModel

JUDGING = 2  # steps; docs/skipping.md
"""The step whose test is judged."""

ENOUGH_DOUBTED, ENOUGH_CELLS = 150.0, 1500.0  # links, cells; speed, benchmarks.fit
"""Where more links than this are doubted, fewer cells are judged: so many doubts say enough, and at least so many cells."""

TOGETHER, SOME_BLOCKS = 12_000, 8  # cells, blocks; speed, benchmarks.scale
"""About so many cells are solved together: calls and halos cost little then, and blocks still fit into the cache; and into how many
blocks a movie is cut at least, where each has 32 pairs or more."""

ODDS_OF_NUMBER, MOST_DOUBT = 8.0, 2.0  # log odds; judged: as of divisions that are believed to seven eighths
"""By how much the odds of divisions shift where their number changes by its own size, and at the most."""

EDGES_ALONE, EDGES_WITH_HALO = 30_000, 150_000  # edges; docs/scale.md
"""Or about so many edges, where these are many: of frame pairs that are independent, and of blocks that pay for a halo."""

MOST_TOGETHER = 4  # times; judged
"""A block with a halo has 16 frame pairs at least, unless that were more than so many times as many cells or edges."""

CONFUSED = 0.25  # share; benchmarks.embryo; of wrong links with every second frame left out
"""From here on gaps are not looked for."""

REVERSED_TOGETHER = 12_000  # cells; speed, benchmarks.embryo
"""So many cells are looked at together, played backwards: usual samples have fewer, and crowded ones many edges."""

SLOWER, SLOWER_CELLS = (3, 4), 500  # steps, cells; display
"""Further steps, which tell how slowly one could have imaged, and on how many cells."""


def fit_plan(plan: Plan, sample: Sample, about: RunInfo, *, may_widen: bool, tell: Tell) -> Plan:
    """Fit a model to a sample of the movie itself."""
    fit, gate = fit_sample(sample, 1, plan.gate, may_widen, tell, plan.divisions)
    if not fit.converged and not fit.problems:
        warnings.warn("the fit of the model stopped before it converged", DunnoWarning, stacklevel=2)
    skipped = skip(sample, fit, JUDGING, tell, _enough(fit))
    is_clear = skipped is None or skipped.test(Softening()).is_clear
    segments = _fitted_segments(plan, sample.movie, is_clear, tell)
    found = _explained(plan, Choice(fit, skipped), sample, gate, segments is not None, tell)
    calibration = tested(calibration_of(found.choice.fit, about), sample, found.choice.fit, found.skipped, tell)
    model = found.fit.model if sample.movie.clock is None else with_lag_power(found.fit.model, found.power)
    calibration = replace(
        calibration,
        model=model,
        courses=found.fit.courses(),
        trials=found.choice.trials,
        segments=segments,
        intervals=intervals_with_gaps(calibration.intervals, found.choice.fit.model, found.fit.model),
    )
    calibration = (
        replace(calibration, arrow=arrow_counts(calibration, sample, gate, found.choice.fit.best.expected))
        if segments is None
        else of_segments(calibration, segments)
    )
    plan = replace(plan, gate=gate, calibration=calibration)
    # a block holds its frames, with their pixels where the cost asks for them
    if segments is None and not (plan.cost.window or plan.cost.needs_pixels):
        together = frames_together(sample, plan.halo, edges_per_pair(fit))
        plan = replace(plan, calibration=replace(calibration, frames_per_block=together))
    return plan


def edges_per_pair(fit: Fit) -> float:
    """How many candidates the most crowded frame pair has at the most, of which the fit saw the nearest."""
    stretch = fit.best.expected.stretch
    most = np.bincount(stretch.edge_transition, minlength=1).max()
    return float(most) * MOST_MOTHERS / MOST_MOTHERS_FITTED


def frames_together(sample: Sample, halo: int, edges_per_pair: float = 0.0) -> int:
    """How many frames are solved together, halos included: as many in each block, and some blocks at least, for several workers.

    Where cells or edges are many, a block is a few pairs, and at the least one.
    """
    edges = EDGES_WITH_HALO if halo else EDGES_ALONE
    crowd = max(sample.n_rows / len(sample.cells), edges_per_pair * TOGETHER / edges, 1.0)
    least = max(min(BLOCK, int((MOST_TOGETHER if halo else 1) * TOGETHER / crowd) - 2 * halo), 1)
    n_pairs, most = len(sample.movie) - 1, max(int(TOGETHER / crowd) - 2 * halo, least)
    by_cells = 1 if n_pairs <= most else 2 * max(round(n_pairs / (2 * most)), 1)
    n_blocks = max(by_cells, min(SOME_BLOCKS, n_pairs // (4 * BLOCK) * 2), 1)
    return -(-n_pairs // n_blocks) + 2 * halo


@dataclass(frozen=True, eq=False)
class FitWithGaps:
    """A choice of evidence, its fit and skip test with links across gaps, and how fast squared motion grows with time."""

    choice: Choice
    fit: Fit
    skipped: SkippedModel | None
    power: float

    @classmethod
    def of(cls, choice: Choice, gate: float, max_gap: int | None) -> FitWithGaps:
        """With the term `missed`, where masks are missing."""
        skipped = choice.skipped
        power = 1.0 if skipped is None else lag_power(skipped.growth[0], skipped.step)
        went_dark = choice.fit.best.expected.stretch.unseen is not None  # which explains itself
        if max_gap is None and skipped is not None and not went_dark and _is_confused(skipped):
            max_gap = 0
        fit, across = with_gaps(choice.fit, gate, power, max_gap)
        return cls(choice, fit, skipped if skipped is None or across is None else skipped.composed_with(across), power)


def _is_confused(skipped: SkippedModel) -> bool:
    """Whether so many links are wrong that a missing mask cannot be told from a cell that was taken for another."""
    seen = skipped.test(Softening())
    return seen.composed > CONFUSED * seen.links


def _fitted_segments(plan: Plan, movie: Movie, is_clear: bool, tell: Tell) -> SegmentModel | None:
    """How masks are made of objects, where a glance says that they may be wrong, or it was asked for.

    Somebody's links are about the masks as they are, and named evidence is about cells that have one each.
    """
    if (
        plan.repair is False
        or plan.links is not None
        or not movie.has_masks
        or (plan.evidence is not None and not plan.repair)
    ):
        return None
    movie = movie.blanked([*broken_frames(movie)])
    seen = glance(movie)
    if seen.masks == 0 or (seen.are_clean(is_clear) and not plan.repair):
        return None
    from dunno.segments.segment_model import fit_segments
    from dunno.segments.structure import MAX_GAP, Options

    gap = MAX_GAP if plan.max_gap is None else plan.max_gap
    return fit_segments(movie, seen, Options(max_gap=gap, divisions=plan.divisions), tell)


def _explained(plan: Plan, places: Choice, sample: Sample, gate: float, repairs: bool, tell: Tell) -> FitWithGaps:
    """The evidence that speaks; where masks are repaired, segments do, and places alone are fitted."""
    if repairs:
        return FitWithGaps(places, places.fit, places.skipped, 1.0)
    return FitWithGaps.of(choose_evidence(places, sample.cell_size, plan.evidence, tell), gate, plan.max_gap)


def _enough(fit: Fit) -> float:
    """How many daughters to judge."""
    doubted = 1 - fit.best.expected.certainty
    return max(ENOUGH_CELLS, ENOUGH_DOUBTED / max(doubted, 1e-9))


def tested(
    calibration: ModelCalibration, sample: Sample, fit: Fit, skipped: SkippedModel | None, tell: Tell
) -> ModelCalibration:
    """The calibration softened by what skipping frames says of it, with the verdict."""
    if skipped is None:
        return replace(calibration, verdict=judge(None, fit.problems))
    softening = Softening() if fit.problems else skipped.softening()
    slower = [skip(sample, fit, step, tell, SLOWER_CELLS, skipped.fit) for step in SLOWER]
    tests = tuple(each.test(softening) for each in (skipped, *slower) if each is not None)
    verdict = judge(tests[0], fit.problems, covering(fit.best.expected))
    return replace(calibration, softening=softening, verdict=verdict, skipping=tests)


def of_segments(calibration: ModelCalibration, segments: SegmentModel) -> ModelCalibration:
    """The calibration with what segments say of themselves, in place of what the masks as they are say of links."""
    arrow = None if segments.arrow is None else segments.arrow.counts
    doubt = 0.0 if arrow is None else ODDS_OF_NUMBER * arrow.doubt / max(arrow.seen, 1.0)
    calibration = replace(calibration, arrow=arrow, division_doubt=min(doubt, MOST_DOUBT))
    if segments.skipped is None:
        return calibration
    skipped, unknown = segments.skipped, float("nan")
    test = SkipTest(JUDGING, skipped.links, skipped.links, skipped.promised, skipped.composed, unknown, unknown)
    return replace(calibration, problems=(), skipping=(test,), verdict=judge(test))


def calibration_of(fit: Fit, about: RunInfo) -> ModelCalibration:
    """A fit as a calibration that nothing was tested of yet."""
    frames = fit.best.expected.stretch.transition_frame.tolist() if fit.varies else []
    return ModelCalibration(
        model=fit.model,
        fitted="self",
        frames=tuple(frames),
        courses=fit.courses(),
        problems=fit.problems,
        intervals=fit.intervals(),
        summary=fit.summary(),
        fitted_for=about.to_dict(),
    )


def reversed_sample(sample: Sample) -> Sample:
    """The same cells in a movie that is played backwards; no pixel is read."""
    movie, last = sample.movie.reversed(), len(sample.movie) - 1
    cells = {last - t: replace(each, frame=int(movie.frames[last - t])) for t, each in sample.cells.items()}
    return Sample(dict(sorted(cells.items())), sample.cost, movie)


def arrow_counts(calibration: ModelCalibration, sample: Sample, gate: float, forwards: Expected) -> ArrowCounts | None:
    """Divisions that are seen forwards and backwards; `None` where cells are known not to divide."""
    if calibration.never_divides:
        return None
    backwards = reversed_sample(sample)
    pooled = replace(calibration, frames=(), courses={})
    parts = (pooled.posed(backwards.stretch(jumps, gate)) for jumps in _in_parts(backwards))
    early, late = np.sum([_halves(expect(*each), backwards) for each in parts], axis=0).tolist()
    return ArrowCounts(_halves(forwards, sample), (late, early), len(sample.cells))


def _in_parts(sample: Sample) -> Iterator[list[tuple[int, int]]]:
    """Steps of a sample, so few at a time that they have about `REVERSED_TOGETHER` daughters: each is solved for itself."""
    part: list[tuple[int, int]] = []
    n_daughters = 0
    for jump in sample.jumps(1):
        n_daughters += len(sample.cells[jump[1]])
        part.append(jump)
        if n_daughters >= REVERSED_TOGETHER:
            yield part
            part, n_daughters = [], 0
    if part:
        yield part


def _halves(expected: Expected, sample: Sample) -> tuple[float, float]:
    """Divisions in the first and in the second half of the movie."""
    stretch = expected.stretch
    frame = np.repeat([each.frame for each in stretch.cells], [len(each) for each in stretch.cells])
    is_late = 2 * frame >= sample.movie.frames[0] + sample.movie.frames[-1]
    divide = expected.found.divide * stretch.is_mother
    return float(divide[~is_late].sum()), float(divide[is_late].sum())
