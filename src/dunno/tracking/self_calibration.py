"""Calibration on the movie itself, without truth: a model is fitted, and judged by skipping frames."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dunno.calibration import ModelCalibration
from dunno.calibration.softening import Softening
from dunno.calibration.verdict import SkipTest, judge
from dunno.errors import DunnoWarning
from dunno.models import Fit
from dunno.models.covering import covering
from dunno.terms.masks import Masks
from dunno.tracking.blocks import BLOCK
from dunno.tracking.choosing import Choice, choose_evidence, with_touching
from dunno.tracking.fitting import fit_sample
from dunno.tracking.judging import Judged, are_suspect, judged_masks, with_judged_masks
from dunno.tracking.missing import lag_power, with_gaps, with_lag_power
from dunno.tracking.plan import Plan
from dunno.tracking.sampling import Sample
from dunno.tracking.skipping import SkippedModel, skip
from dunno.work.progress import Tell

JUDGING = 2
"""The step whose test is judged."""

ENOUGH_DOUBTED, ENOUGH_CELLS = 150.0, 1500.0
"""Where more links than this are doubted, fewer cells are judged: so many doubts say enough, and at least so many cells."""

TOGETHER, SOME_BLOCKS = 12_000, 8
"""About so many cells are solved together: calls and halos cost little then, and blocks still fit into the cache; and into how many
blocks a movie is cut at least, where each has 32 pairs or more."""

SLOWER, SLOWER_CELLS = (3, 4), 500
"""Further steps, which tell how slowly one could have imaged, and on how many cells."""


def fit_plan(plan: Plan, sample: Sample, about: Mapping[str, Any], *, may_widen: bool, tell: Tell) -> Plan:
    """Fit a model to a sample of the movie itself."""
    fit, gate = fit_sample(sample, 1, plan.gate, may_widen, tell, plan.divisions)
    if not fit.converged and not fit.problems:
        warnings.warn("the fit of the model stopped before it converged", DunnoWarning, stacklevel=2)
    skipped = skip(sample, fit, JUDGING, tell, _enough(fit))
    test = None if skipped is None else skipped.test(Softening(), fit)
    bridged, masks = _explained(plan, sample, fit, skipped, gate, test, tell)
    choice = bridged.choice
    calibration = replace(calibration_of(choice.fit, about), trials=choice.trials)
    calibration = tested(calibration, sample, choice.fit, bridged.skipped, tell)
    model = bridged.fit.model if sample.movie.clock is None else with_lag_power(bridged.fit.model, bridged.power)
    calibration = replace(calibration, model=model, courses=bridged.fit.courses())
    if masks is not None:
        calibration = with_judged_masks(calibration, masks, test)
    plan = replace(plan, gate=gate, calibration=calibration)
    looks_at_pixels = plan.window > 0 or getattr(plan.cost, "needs_pixels", False)
    if (
        masks is None and not looks_at_pixels
    ):  # a block holds its frames, with their pixels where the cost asks for them
        plan = replace(plan, calibration=replace(calibration, together=frames_together(sample, plan.halo)))
    return plan


def frames_together(sample: Sample, halo: int) -> int:
    """How many frames are solved together, halos included: as many in each block, and some blocks at least, for several workers."""
    crowd = max(sample.n_rows / len(sample.cells), 1.0)
    n_pairs, most = len(sample.movie) - 1, max(int(TOGETHER / crowd) - 2 * halo, BLOCK)
    by_cells = 1 if n_pairs <= most else 2 * max(round(n_pairs / (2 * most)), 1)
    n_blocks = max(by_cells, min(SOME_BLOCKS, n_pairs // (4 * BLOCK) * 2), 1)
    return -(-n_pairs // n_blocks) + 2 * halo


def _explained(
    plan: Plan, sample: Sample, fit: Fit, skipped: SkippedModel | None, gate: float, test: SkipTest | None, tell: Tell
) -> tuple[_Bridged, Judged | None]:
    """The evidence that speaks, and the model of masks where they are wrong, or it was asked for.

    Where masks are wrong, their model takes the place of the evidence beyond places.
    """
    asked = plan.evidence is not None
    places = Choice(fit, skipped)
    found = None
    if not asked and not fit.problems and (test is None or test.is_clear):
        found = _bridged(places, gate, plan.max_gap)
    if found is not None and are_suspect(test, found.fit):
        touching = _bridged(with_touching(places, sample.cell_size), gate, plan.max_gap)
        masks = judged_masks(touching.fit, sample, gate, tell, asked=False)
        if masks.are_spoiled:
            return touching, masks
    choice = choose_evidence(sample, fit, skipped, plan.evidence, tell)
    if found is not None and choice.fit is fit:
        return replace(found, choice=choice), None
    bridged = _bridged(choice, gate, plan.max_gap)
    if asked and not fit.problems and Masks.name in (plan.evidence or ()):
        return bridged, judged_masks(bridged.fit, sample, gate, tell, asked=True)
    return bridged, None


@dataclass(frozen=True, eq=False)
class _Bridged:
    """A choice of evidence with links across gaps, where masks are missing.

    Attributes:
        choice: What speaks.
        fit: With the term `missed`, where masks are missing.
        skipped: The skip test, which knows of gaps.
        power: How fast squared motion grows with time.
    """

    choice: Choice
    fit: Fit
    skipped: SkippedModel | None
    power: float


def _bridged(choice: Choice, gate: float, max_gap: int | None) -> _Bridged:
    skipped = choice.skipped
    power = 1.0 if skipped is None else lag_power(skipped.growth(choice.fit), skipped.step)
    missing, across = with_gaps(choice.fit, gate, power, max_gap)
    skipped = skipped if skipped is None or across is None else skipped.composed_with(across)
    return _Bridged(choice, missing, skipped, power)


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
    test = skipped.test(softening, fit)
    verdict = judge(test, fit.problems, covering(fit.best.expected))
    slower = [skip(sample, fit, step, tell, SLOWER_CELLS, skipped.fit) for step in SLOWER]
    tests = (test, *(each.test(softening, fit) for each in slower if each is not None))
    return replace(calibration, softening=softening, verdict=verdict, skipping=tests)


def calibration_of(fit: Fit, about: Mapping[str, Any]) -> ModelCalibration:
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
        fitted_for=dict(about),
    )
