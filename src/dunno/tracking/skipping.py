"""The skip test of a model: fitted again with frames left out, and compared with what all frames say."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dunno.assignment import Marginals, marginals
from dunno.calibration.comparison import Beliefs, Comparison, compose
from dunno.calibration.softening import Softening, fit_softening, mixed
from dunno.calibration.verdict import SkipTest
from dunno.models import Fit, refit
from dunno.models.expectation import Expected
from dunno.tracking.gate import gate_between
from dunno.tracking.sampling import Sample
from dunno.types import Bools
from dunno.work.progress import Tell

REFITTING = "skipping frames, rounds"
STRETCH = 8
"""Frames in a row that serve to fit, or to judge; the next ones serve the other purpose."""


@dataclass(frozen=True, eq=False)
class SkippedModel:
    """A model fitted at a larger frame step, beside what the frames between say.

    Attributes:
        sample: The frames.
        step: How many single steps one of its steps is.
        fit: The fit at this step.
        comparison: Its beliefs beside the composed ones.
    """

    sample: Sample
    step: int
    fit: Fit
    comparison: Comparison

    def tempered(self, tempering: float) -> Comparison:
        """The comparison with the beliefs of the tempered problem."""
        if tempering == 1.0:
            return self.comparison
        expected = self.fit.best.expected
        found = marginals(expected.model.problem(expected.stretch, expected.ways).tempered(tempering))
        return self.comparison.with_direct(beliefs(self.sample, expected, found))

    def softening(self) -> Softening:
        """The softening of least loss on the frames that serve to fit."""
        part = serving(self.sample, "fit")
        return fit_softening(self.comparison.among(part), lambda tempering: self.tempered(tempering).among(part))

    def softened(self, softening: Softening) -> Comparison:
        """The comparison after a softening."""
        found = self.tempered(softening.tempering)
        return replace(found, direct=mixed(found.direct, found.daughter, len(found.judged), softening.unknown))

    def test(self, softening: Softening, single: Fit) -> SkipTest:
        """What the frames that serve to judge say of a softening; all of them where nothing was fitted."""
        part = self.softened(softening).among(serving(self.sample, "judge"))
        promised, composed, links = part.errors()
        growth, error = _growth(single, self.fit)
        return SkipTest(self.step, len(part), links, promised, composed, growth, error, softening.tempering)


def _growth(single: Fit, skipped: Fit) -> tuple[float, float]:
    """Squared motion over a skipped step relative to a single one, and the standard error of its logarithm."""
    scales, variance = [], 0.0
    for fit in (single, skipped):
        scales.append(fit.model.parameters["motion_scale"].value)
        links = float((fit.pooled.expected.single * fit.pooled.expected.interior).sum())
        variance += 2 / max(links, 1.0)
    return scales[1] / scales[0], float(np.sqrt(variance))


def skip(sample: Sample, fit: Fit, step: int, tell: Tell) -> SkippedModel | None:
    """Fit a model to every `step`-th frame, in all phases at once; `None` where the sample is too short."""
    jumps = sample.jumps(step)
    if not jumps:
        return None
    gate = gate_between([(sample.cells[early], sample.cells[late]) for early, late in jumps])
    skipped = refit(fit, sample.stretch(jumps, gate), sample.cell_size, lambda rounds: tell(REFITTING, rounds, 0))
    composed = compose(beliefs(sample, fit.best.expected), step)
    direct = beliefs(sample, skipped.best.expected)
    return SkippedModel(sample, step, skipped, Comparison.of(direct, composed))


def beliefs(sample: Sample, expected: Expected, found: Marginals | None = None) -> Beliefs:
    """What is expected of a stretch, by rows of the sample's table of cells."""
    stretch, found = expected.stretch, found or expected.found
    rows = sample.rows(stretch)
    none = np.full(sample.n_rows, np.nan)
    daughters = stretch.is_daughter
    none[rows[daughters]] = found.appear[daughters]
    return Beliefs(rows[stretch.mother], rows[stretch.daughter], found.edge, none)


def serving(sample: Sample, purpose: str) -> Bools:
    """(N,) the rows in frames that serve to fit, or to judge."""
    wanted = 0 if purpose == "fit" else 1
    parts = [np.full(len(sample.cells[t]), t // STRETCH % 2 == wanted) for t in sorted(sample.cells)]
    return np.concatenate(parts)
