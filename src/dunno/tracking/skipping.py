"""The skip test of a model: fitted again with frames left out, and compared with what all frames say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from dunno.assignment import Marginals, Problem, Rounds
from dunno.assignment.likely import filled
from dunno.calibration.comparison import Beliefs, Comparison, compose
from dunno.calibration.softening import Softening, fit_softening, mixed
from dunno.calibration.verdict import SkipTest
from dunno.models import Fit, refit
from dunno.models.evidence import added_terms, among_likely, with_terms
from dunno.models.expectation import Expected, expect
from dunno.tracking.fitting import TAIL_BEYOND
from dunno.tracking.gate import gate_between
from dunno.tracking.sampling import Sample
from dunno.types import Bools
from dunno.types.stretch import Value
from dunno.work.progress import Tell

REFITTING = "skipping frames, rounds"
EVERYBODY = 2.0
"""Who is judged where edges across gaps tell a missing mask from a cell that is lost: all daughters."""
TERM_ROUNDS, WARM_ROUNDS = 3, 1
"""Rounds in which terms that were fitted to single steps, or to two, are fitted to larger ones, on likely edges only."""

IMPOSSIBLE = 1e-6
"""Edges below this are not looked at again when the problem is tempered, or rates change."""

STRETCH = 8
"""Frames in a row that serve to fit, or to judge; the next ones serve the other purpose."""

Purpose = Literal["fit", "judge"]


@dataclass(frozen=True, eq=False)
class SkippedModel:
    """A model fitted at a larger frame step, beside what the frames between say.

    Attributes:
        sample: The frames.
        step: How many single steps one of its steps is.
        fit: The fit at this step.
        comparison: Its beliefs beside the composed ones.
        jumps: The frames of its transitions, by position.
    """

    sample: Sample
    step: int
    fit: Fit
    comparison: Comparison
    jumps: list[tuple[int, int]]

    def composed_with(self, expected: Expected) -> SkippedModel:
        """The same beside what single steps say with edges across gaps.

        Over several steps as many masks are missing as over one, while more cells are lost: the direct rates know that.
        """
        composed = compose(beliefs(self.sample, expected), self.step)
        best = self.fit.best
        model = best.model.with_values(_rates_over(expected, self.step))
        part = expect(model, best.expected.stretch.among(self._possible))
        found = filled(part.found, self._possible, best.expected.found.edge)
        direct = Expected(model, best.expected.stretch, part.ways, found)
        fit = replace(self.fit, best=replace(best, expected=direct))
        return replace(self, fit=fit, comparison=Comparison.of(beliefs(self.sample, direct), composed, EVERYBODY))

    def growth(self, single: Fit) -> float:
        """Squared motion over a skipped step relative to a single one."""
        return _growth(single, self.fit)[0]

    def tempered(self, tempering: float, purpose: Purpose) -> Comparison:
        """The comparison with the beliefs of the tempered problem, of daughters in frames that serve a purpose."""
        part = self.comparison.among(serving(self.sample, purpose))
        if tempering == 1.0:
            return part
        whole = self.fit.best.expected
        problem, rounds, kept = self._problem(purpose)
        found = filled(rounds.marginals(problem.tempered(tempering)), kept, whole.found.edge**tempering)
        return part.with_direct(beliefs(self.sample, whole, found))

    @cached_property
    def _possible(self) -> Bools:
        """(E,) the edges that are looked at again."""
        return np.asarray(self.fit.best.expected.found.edge > IMPOSSIBLE)

    def _problem(self, purpose: Purpose) -> tuple[Problem, Rounds, Bools]:
        """What is tempered, what keeps all that tempering does not change, and (E,) which edges it has."""
        if purpose not in self._problems:
            expected = self.fit.best.expected
            stretch = expected.stretch
            serves = serving(self.sample, purpose)[self.sample.rows(stretch)]
            kept = self._possible & serves[stretch.daughter]
            self._problems[purpose] = (expected.model.problem(stretch.among(kept), expected.ways), Rounds(), kept)
        return self._problems[purpose]

    @cached_property
    def _problems(self) -> dict[Purpose, tuple[Problem, Rounds, Bools]]:
        return {}

    def softening(self) -> Softening:
        """The softening of least loss on the frames that serve to fit."""
        return fit_softening(self.tempered(1.0, "fit"), lambda tempering: self.tempered(tempering, "fit"))

    def softened(self, softening: Softening) -> Comparison:
        """The comparison after a softening, of the frames that serve to judge."""
        found = self.tempered(softening.tempering, "judge")
        return replace(found, direct=mixed(found.direct, found.daughter, len(found.judged), softening.unknown))

    def test(self, softening: Softening, single: Fit) -> SkipTest:
        """What the frames that serve to judge say of a softening."""
        part = self.softened(softening)
        promised, composed, links = part.errors()
        growth, error = _growth(single, self.fit)
        return SkipTest(
            step=self.step,
            judged=len(part),
            links=links,
            promised=promised,
            composed=composed,
            growth=growth,
            growth_error=error,
            tempering=softening.tempering,
            divisions=float(self.fit.best.expected.totals()["divided"]),
            divisions_between=self._divisions_between(single),
            bins=part.bins(),
        )

    def _divisions_between(self, single: Fit) -> float:
        """How many divisions single steps see in the time of the skipped ones."""
        expected = single.best.expected
        stretch = expected.stretch
        divided = stretch.per_transition(expected.found.divide, stretch.leads)
        by_frame = dict(zip(stretch.transition_frame.tolist(), divided.tolist(), strict=True))
        frames = self.sample.movie.frames
        ways = [range(early, late) for early, late in self.jumps]
        return float(sum(by_frame.get(int(frames[t]), 0.0) for way in ways for t in way))


def _rates_over(expected: Expected, step: int) -> dict[str, Value]:
    """Losses and appearances over several steps, those by a missing mask included."""
    model, stretch = expected.model, expected.stretch
    lost, appear = (float(np.mean(model.value(name))) for name in ("p_lost", "appear_density"))
    missed = float(np.mean(model.value("p_missed")))
    crowd = float(stretch.n_mothers.mean()) / model.field.size
    return {"p_lost": 1 - (1 - lost) ** step * (1 - missed), "appear_density": step * appear + missed * crowd}


def _growth(single: Fit, skipped: Fit) -> tuple[float, float]:
    """Squared motion over a skipped step relative to a single one, and the standard error of its logarithm."""
    scales, variance = [], 0.0
    for fit in (single, skipped):
        scales.append(fit.model.parameters["motion_scale"].value)
        links = float((fit.pooled.expected.single * fit.pooled.expected.interior).sum())
        variance += 2 / max(links, 1.0)
    return scales[1] / scales[0], float(np.sqrt(variance))


def skip(
    sample: Sample, fit: Fit, step: int, tell: Tell, most_cells: float = np.inf, double: Fit | None = None
) -> SkippedModel | None:
    """Fit a model to every `step`-th frame, in all phases at once; `None` where the sample is too short.

    Args:
        sample: The frames.
        fit: Of single steps.
        step: How many single steps to take at once.
        tell: Is told how far it is.
        most_cells: Look at no more daughters than this, spread over the sample.
        double: The fit of two steps, where that is known, to begin from.
    """
    jumps = sample.jumps(step)
    if not jumps:
        return None
    crowd = max(float(np.mean([len(sample.cells[late]) for _, late in jumps])), 1.0)
    most = max(int(min(most_cells / crowd, len(jumps))), min(2, len(jumps)))
    jumps = [jumps[k] for k in np.unique(np.linspace(0, len(jumps) - 1, most).astype(int)).tolist()]
    pairs = [(sample.cells[early], sample.cells[late]) for early, late in jumps]
    gate = min(gate_between(pairs, [sample.stage(early, late) for early, late in jumps]), _reach(fit, step, double))
    stretch = sample.stretch(jumps, gate)
    skipped = refit(fit, stretch, sample.cell_size, step, lambda rounds: tell(REFITTING, rounds, 0), double)
    names = added_terms(fit)
    if names:
        like, rounds = (fit, TERM_ROUNDS) if double is None else (double, WARM_ROUNDS)
        skipped = with_terms(among_likely(skipped), names, sample.cell_size, rounds, like.best.model)
    return compared(sample, fit, skipped, step, jumps)


def _reach(fit: Fit, step: int, double: Fit | None) -> float:
    """How far next to all cells stay over several steps; as if they went straight on, where two steps are not known yet."""
    stretch = (double or fit).best.expected.stretch
    spread = float(np.median(stretch.spread[stretch.is_mother])) if stretch.is_mother.any() else 1.0
    reach = fit.model.reach(TAIL_BEYOND) * float(np.sqrt(spread))
    power = 2.0 if double is None else float(np.log2(max(_growth(fit, double)[0], 1.0)))
    return float(reach * step ** (power / 2))


def compared(sample: Sample, fit: Fit, skipped: Fit, step: int, jumps: list[tuple[int, int]]) -> SkippedModel:
    """A fit at a larger step beside what single steps say."""
    composed = compose(beliefs(sample, fit.best.expected), step)
    return SkippedModel(sample, step, skipped, Comparison.of(beliefs(sample, skipped.best.expected), composed), jumps)


def beliefs(sample: Sample, expected: Expected, found: Marginals | None = None) -> Beliefs:
    """What is expected of a stretch, by rows of the sample's table of cells."""
    stretch, found = expected.stretch, found or expected.found
    rows = sample.rows(stretch)
    none = np.full(sample.n_rows, np.nan)
    daughters = stretch.is_daughter
    none[rows[daughters]] = found.appear[daughters]
    return Beliefs(rows[stretch.mother], rows[stretch.daughter], found.edge, none, stretch.lag)


def serving(sample: Sample, purpose: Purpose) -> Bools:
    """(N,) the rows in frames that serve to fit, or to judge."""
    wanted = 0 if purpose == "fit" else 1
    parts = [np.full(len(sample.cells[t]), t // STRETCH % 2 == wanted) for t in sorted(sample.cells)]
    return np.concatenate(parts)
