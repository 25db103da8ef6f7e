"""Skipping frames: what is believed over several steps at once, beside what single steps compose.

The test asks nothing but beliefs at some step (`Skipped`), of a model that is fitted there or of any method that tracks there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np

from dunno.assignment import Marginals, Rounds
from dunno.assignment.marginals import filled
from dunno.calibration.comparison import Comparison, MotherBeliefs, compose
from dunno.calibration.softening import Softening, fit_softening, with_share
from dunno.calibration.verdict import SkipTest
from dunno.models import Fit, refit
from dunno.models.evidence import added_terms, among_likely, with_terms
from dunno.models.expectation import Expected, expect
from dunno.tracking.gate import gate_between
from dunno.tracking.sampling import Sample, reach_of
from dunno.types import Bools, Ints
from dunno.types.stretch import Value
from dunno.work.progress import Tell

REFITTING = "skipping frames, rounds"
TERM_ROUNDS, WARM_ROUNDS = 3, 1  # rounds; speed, benchmarks.fit
"""Rounds in which terms that were fitted to single steps, or to two, are fitted to larger ones, on likely edges only."""

SKIPPED_EDGES_FROM = 1e-6  # probability; speed, benchmarks.fit
"""Edges below this are not looked at again when the problem is tempered, or rates change."""

STRETCH = 8  # frames; judged
"""Frames in a row that serve to fit, or to judge; the next ones serve the other purpose."""

Purpose = Literal["fit", "judge"]
PURPOSES: tuple[Purpose, Purpose] = "fit", "judge"
Jumps = list[tuple[int, int]]
"""Pairs of frames some steps apart, by position."""


class Skipped(Protocol):
    """What is tested: who says who is whose mother over several steps at once, beside what its single steps compose."""

    @property
    def step(self) -> int:
        """How many single steps are taken at once."""

    @property
    def growth(self) -> tuple[float, float]:
        """Squared motion relative to a single step, and the standard error of its logarithm."""

    def part(self, purpose: Purpose) -> Comparison:
        """Its beliefs beside the composed ones, in frames that serve a purpose."""


def skip_test(skipped: Skipped, part: Comparison, options: Ints, **more: Any) -> SkipTest:
    """What some frames say of some options."""
    promised, composed, links = part.errors(options)
    return SkipTest(skipped.step, len(part), links, promised, composed, *skipped.growth, **more)


def positions(sample: Sample) -> Ints:
    """(N,) position of each row's frame in the movie."""
    return np.repeat(sorted(sample.cells), [len(each) for each in sample.frames])


def serving(sample: Sample, purpose: Purpose) -> Bools:
    """(N,) the rows in frames that serve a purpose."""
    return np.asarray(positions(sample) // STRETCH % 2 == PURPOSES.index(purpose))


@dataclass(frozen=True, eq=False)
class SkippedModel:
    """A model fitted to frames some steps apart, the fit of single steps, and what the two say of the same daughters."""

    sample: Sample
    step: int
    jumps: Jumps
    single: Fit
    fit: Fit
    comparison: Comparison

    @classmethod
    def of(cls, sample: Sample, step: int, jumps: Jumps, single: Fit, fit: Fit) -> SkippedModel:
        """Compose single steps, and put the fit over several beside them."""
        composed = compose(beliefs(sample, single.best.expected), step)
        return cls(sample, step, jumps, single, fit, Comparison.of(beliefs(sample, fit.best.expected), composed))

    def with_fits(self, single: Fit, fit: Fit) -> SkippedModel:
        """The same with other fits."""
        return SkippedModel.of(self.sample, self.step, self.jumps, single, fit)

    def composed_with(self, expected: Expected) -> SkippedModel:
        """The same beside what single steps say with edges across gaps.

        Over several steps as many masks are missing as over one, while more cells are lost: the direct rates know that. A missing
        mask is told from a cell that is lost, so that all daughters are judged.
        """
        composed, best, possible = compose(beliefs(self.sample, expected), self.step), self.fit.best, self.possible
        model = best.model.with_values(_rates_over(expected, self.step))
        part = expect(model, best.expected.stretch.among(possible))
        found = filled(part.found, possible, best.expected.found.edge)
        direct = Expected(model, best.expected.stretch, part.ways, found)
        comparison = Comparison.of(beliefs(self.sample, direct), composed, most_lost=np.inf)
        return replace(self, fit=replace(self.fit, best=replace(best, expected=direct)), comparison=comparison)

    @property
    def growth(self) -> tuple[float, float]:
        """Squared motion relative to a single step, and the standard error of its logarithm."""
        return growth(self.single, self.fit)

    @property
    def possible(self) -> Bools:
        """(E,) the edges that are looked at again."""
        return np.asarray(self.fit.best.expected.found.edge > SKIPPED_EDGES_FROM)

    def part(self, purpose: Purpose) -> Comparison:
        """The daughters in frames that serve a purpose."""
        return self.comparison.among(serving(self.sample, purpose))

    def tempered(self, purpose: Purpose) -> Callable[[float], Comparison]:
        """By tempering, the daughters in frames that serve a purpose with the beliefs of the tempered problem."""
        part, whole, rounds = self.part(purpose), self.fit.best.expected, Rounds()
        stretch = whole.stretch
        kept = self.possible & serving(self.sample, purpose)[self.sample.rows(stretch)][stretch.daughter]
        problem = whole.model.problem(stretch.among(kept), whole.ways)

        def at(tempering: float) -> Comparison:
            found = filled(rounds.marginals(problem.tempered(tempering)), kept, whole.found.edge**tempering)
            return part.with_direct(beliefs(self.sample, whole, found))

        return at

    def softening(self) -> Softening:
        """The softening of least loss on the frames that serve to fit."""
        return fit_softening(self.part("fit"), self.tempered("fit"))

    def softened(self, softening: Softening) -> Comparison:
        """The frames that serve to judge, after a softening."""
        part = self.part("judge") if softening.tempering == 1.0 else self.tempered("judge")(softening.tempering)
        return with_share(part, softening.unknown)

    def test(self, softening: Softening) -> SkipTest:
        """What the frames that serve to judge say of a softening."""
        part = self.softened(softening)
        links = part.links()
        counts = {
            "divisions": float(self.fit.best.expected.totals()["divided"]),
            "divisions_between": self._divisions_between(),
        }
        return skip_test(self, part, links, tempering=softening.tempering, **counts, bins=part.bins(links))

    def _divisions_between(self) -> float:
        """How many divisions single steps see in the time of the skipped ones."""
        stretch, found = self.single.best.expected.stretch, self.single.best.expected.found
        divided = stretch.per_transition(found.divide, stretch.leads).tolist()
        by_frame = dict(zip(stretch.transition_frame.tolist(), divided, strict=True))
        frames = self.sample.movie.frames.tolist()
        return float(sum(by_frame.get(frames[t], 0.0) for jump in self.jumps for t in range(*jump)))


def _rates_over(expected: Expected, step: int) -> dict[str, Value]:
    """Losses and appearances over several steps, those by a missing mask included."""
    names = ("p_lost", "appear_density", "p_missed")
    lost, appear, missed = (float(np.mean(expected.model.value(name))) for name in names)
    crowd = float(expected.stretch.n_mothers.mean()) / expected.model.field.size
    return {"p_lost": 1 - (1 - lost) ** step * (1 - missed), "appear_density": step * appear + missed * crowd}


def growth(single: Fit, skipped: Fit) -> tuple[float, float]:
    """Squared motion over a skipped step relative to a single one, and the standard error of its logarithm."""
    scale, at_once = (fit.model.parameters["motion_scale"].value for fit in (single, skipped))
    expected = [fit.pooled.expected for fit in (single, skipped)]
    links = [max(float((each.single * each.interior).sum()), 1.0) for each in expected]
    return at_once / scale, float(np.sqrt(2 / links[0] + 2 / links[1]))


def skip(
    sample: Sample, fit: Fit, step: int, tell: Tell, most_cells: float = np.inf, double: Fit | None = None
) -> SkippedModel | None:
    """Fit a model to every `step`-th frame, in all phases at once; `None` where the sample is too short.

    It begins from the fit of single steps, or of two where that is known, and looks at about so many daughters at the most, spread
    over the sample.
    """
    jumps = sample.jumps(step)
    if not jumps:
        return None
    crowd = max(float(np.mean([len(sample.cells[late]) for _, late in jumps])), 1.0)
    most = max(int(min(most_cells / crowd, len(jumps))), min(2, len(jumps)))
    jumps = [jumps[k] for k in np.unique(np.linspace(0, len(jumps) - 1, most).astype(int)).tolist()]
    pairs = [(sample.cells[early], sample.cells[late]) for early, late in jumps]
    gate = min(gate_between(pairs, [sample.stage(*jump) for jump in jumps]), _reach(fit, step, double))
    skipped = refit(
        fit, sample.stretch(jumps, gate), sample.cell_size, step, lambda rounds: tell(REFITTING, rounds, 0), double
    )
    if names := added_terms(fit):
        like, rounds = (fit, TERM_ROUNDS) if double is None else (double, WARM_ROUNDS)
        skipped = with_terms(among_likely(skipped), names, sample.cell_size, rounds, like.best.model)
    return SkippedModel.of(sample, step, jumps, fit, skipped)


def _reach(fit: Fit, step: int, double: Fit | None) -> float:
    """How far next to all cells stay over several steps; as if they went straight on, where two steps are not known yet."""
    power = 2.0 if double is None else float(np.log2(max(growth(fit, double)[0], 1.0)))
    return reach_of(fit.model, (double or fit).best.expected.stretch) * float(step ** (power / 2))


def beliefs(sample: Sample, expected: Expected, found: Marginals | None = None) -> MotherBeliefs:
    """What is expected of a stretch, by rows of the sample's table of cells."""
    stretch, found = expected.stretch, found or expected.found
    rows, none = sample.rows(stretch), np.full(sample.n_rows, np.nan)
    none[rows[stretch.is_daughter]] = found.appear[stretch.is_daughter]
    return MotherBeliefs(rows[stretch.mother], rows[stretch.daughter], found.edge, none, stretch.lags)
