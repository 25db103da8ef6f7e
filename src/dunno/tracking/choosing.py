"""Which evidence speaks on a movie: skipping frames decides, term by term."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dunno.calibration.evidence_trials import Trial
from dunno.calibration.softening import Softening, fit_softening, with_share
from dunno.calibration.verdict import hopeless
from dunno.errors import InputError
from dunno.models import Fit
from dunno.models.evidence import EVIDENCE_ROUNDS, Kept, among_likely, can_see, offered, unseen_exchanges, with_terms
from dunno.models.model import Model
from dunno.terms.score import Score
from dunno.terms.touching import Touching
from dunno.tracking.skipping import SkippedModel
from dunno.types import Ints
from dunno.work.progress import Tell

LEAST_LOSS_SHARE, LEAST_NATS = 0.025, 0.005  # share, nats; benchmarks.evidence
"""A term joins when the loss per daughter falls by more than this share of it, and by more than so many nats."""

LEAST_TOTAL = 3.0  # nats; benchmarks.evidence
"""And when the loss of all daughters together falls by more than this: a few cells say little."""

LEAST_EXCHANGES, LEAST_OF_DOUBTED, BESIDE_FEATURES = 2.0, 0.1, 0.4  # links, share, share; benchmarks.crowding
"""Links that are wrong because cells push each other, all and per link that is doubted, from which on `touching` joins.

Skipping frames cannot tell: exchanges are as unseen over two steps as over one. Features tell many of them apart, so that
beside features it takes more.
"""

ENOUGH_LOSS = 500.0  # nats; speed, benchmarks.fit
"""Nats of loss of all daughters that are looked at: where links are unclear, few daughters tell whether a term helps."""

ENOUGH_GAIN = 6.0  # nats; speed, benchmarks.fit
"""A first glance looks at as many as have so many nats to save. Nothing joins by a glance: on few daughters, some terms help by
chance."""

CHOOSING = "choosing evidence"
FIRST_ROUNDS, TRIAL_ROUNDS, LAST_ROUNDS = 1, 3, 1  # rounds; speed, benchmarks.fit
"""Rounds in which a term that is tried is fitted: first few, more where those do not decide; and those of all that join."""

HOPELESS, CLEAR = 0.5, 1.2  # times; speed, benchmarks.fit
"""Gains below and above so many times the least one are decided by the first rounds."""


Models = tuple[Model | None, Model | None]
"""Of single steps, and of skipped ones."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A fit with the evidence that speaks, its skip test where the movie is long enough, and what was tried."""

    fit: Fit
    skipped: SkippedModel | None
    trials: tuple[Trial, ...] = ()

    def with_terms(
        self, names: list[str], size: float, rounds: int = EVIDENCE_ROUNDS, like: Models = (None, None)
    ) -> Choice:
        """The same with terms added to both fits, beginning as in other models that have them."""
        grown, skipped = with_terms(self.fit, names, size, rounds, like[0]), self.skipped
        if skipped is not None:
            skipped = skipped.with_fits(grown, with_terms(skipped.fit, names, size, rounds, like[1]))
        return Choice(grown, skipped, self.trials)


def choose_evidence(places: Choice, cell_size: float, asked: tuple[str, ...] | None, tell: Tell) -> Choice:
    """Try terms one after the other beside places and those that have joined; what was asked for speaks whatever skipping says."""
    fit, skipped = places.fit, places.skipped
    if fit.problems or (asked is None and skipped is not None and hopeless(skipped.test(Softening()))):
        return places
    if asked is None and skipped is not None:
        return with_touching(_tried(skipped, tell), cell_size)
    stretch = fit.best.expected.stretch
    names = [*([Score.name] if stretch.score is not None else []), *(asked or ())]
    blind = [name for name in names if not can_see(name, stretch)]
    if blind:
        raise InputError(
            f"evidence {', '.join(blind)}: what it looks at was not measured in this movie (brightness needs images, "
            "shape needs masks of long cells); leave it out, or give --images"
        )
    return places.with_terms(names, cell_size)


def with_touching(choice: Choice, cell_size: float) -> Choice:
    """The choice with the term `touching`, where cells push each other and exchange places unseen; its loss decides nothing."""
    exchanged, doubted = unseen_exchanges(choice.fit, cell_size)
    share = BESIDE_FEATURES if choice.fit.model.features else LEAST_OF_DOUBTED
    if choice.skipped is None or exchanged <= max(LEAST_EXCHANGES, share * doubted):
        return choice
    trial = Trial(Touching.name, *(float("nan"),) * 4, joined=True, exchanged=exchanged)
    return replace(choice.with_terms([Touching.name], cell_size), trials=(*choice.trials, trial))


def _tried(places: SkippedModel, tell: Tell) -> Choice:
    """Try every term on likely edges, and fit those that join on all."""
    bench = _Bench.of(_among_likely(places)).shorter(ENOUGH_LOSS)
    names = [name for name in offered() if can_see(name, bench.skipped.single.best.expected.stretch)]
    trials: list[Trial] = []
    for k, name in enumerate(names):
        tell(CHOOSING, k, len(names))
        trial, bench = bench.tried(name)
        trials.append(trial)
    tell(CHOOSING, len(names), len(names))
    choice, joined = Choice(places.single, places, tuple(trials)), [trial.name for trial in trials if trial.joined]
    like = bench.skipped.single.best.model, bench.skipped.fit.best.model
    return choice.with_terms(joined, places.sample.cell_size, LAST_ROUNDS, like) if joined else choice


@dataclass(frozen=True, eq=False)
class _Bench:
    """Where terms are tried, one after the other, beside those that have joined.

    The skip test, its loss per judged daughter and share of wrong links, and what is kept of the edges of both fits between terms.
    """

    skipped: SkippedModel
    loss: float
    wrong: float
    known: tuple[Kept, Kept]

    @classmethod
    def of(cls, skipped: SkippedModel) -> _Bench:
        """With nothing tried yet."""
        return cls(skipped, *judged(skipped), ({}, {}))

    @property
    def least(self) -> float:
        """By how much the loss must fall."""
        return max(LEAST_LOSS_SHARE * self.loss, LEAST_NATS, LEAST_TOTAL / max(len(self.skipped.comparison), 1))

    def shorter(self, enough: float) -> _Bench:
        """The same on some of the skipped steps, spread over the sample, which have so many nats of loss together."""
        skipped = self.skipped
        n, loss = len(skipped.jumps), self.loss * len(skipped.comparison)
        most = max(int(np.ceil(n * enough / max(loss, enough))), min(2, n))
        if most == n:
            return self
        kept = ((np.arange(most) + 0.5) * n / most).astype(np.int64)
        jumps = [skipped.jumps[k] for k in kept.tolist()]
        frames = skipped.sample.movie.frames
        between = [int(frames[t]) for jump in jumps for t in range(*jump)]
        single = np.flatnonzero(np.isin(skipped.single.best.expected.stretch.transition_frame, between))
        fits = _during(skipped.single, single), _during(skipped.fit, kept)
        return _Bench.of(SkippedModel.of(skipped.sample, skipped.step, jumps, *fits))

    @cached_property
    def glance(self) -> _Bench | None:
        """The same on few steps, where most useless terms are seen to be useless; `None` where it would save little."""
        loss, gain = (each * len(self.skipped.comparison) for each in (self.loss, self.least))
        enough = loss * min(ENOUGH_GAIN / max(gain, 1e-9), 1.0)
        found = self.shorter(enough)  # loss may lie in a few steps that are not among these
        is_fair = 2 * found.loss * len(found.skipped.comparison) >= enough
        return found if is_fair and 2 * len(found.skipped.jumps) <= len(self.skipped.jumps) else None

    def tried(self, name: str) -> tuple[Trial, _Bench]:
        """What became of a term, and where the next one is tried."""
        nan = float("nan")
        if self.loss < self.least:  # nothing to gain
            return Trial(name, self.loss, nan, self.wrong, nan, joined=False), self
        if self.glance is not None and (gain := self.glance.gain(name)) < HOPELESS * self.least:
            return Trial(name, self.loss, self.loss - gain, self.wrong, nan, joined=False), self
        for rounds in (FIRST_ROUNDS, TRIAL_ROUNDS):
            grown = self.grown(name, rounds)
            loss, wrong = judged(grown)
            if not HOPELESS * self.least < self.loss - loss < CLEAR * self.least:
                break
        joined = self.loss - loss > self.least
        trial = Trial(name, self.loss, loss, self.wrong, wrong, joined)
        return trial, (_Bench.of(_among_likely(grown)) if joined else self)

    def gain(self, name: str) -> float:
        """By how much a term lowers the loss, by a first look."""
        return self.loss - judged(self.grown(name, FIRST_ROUNDS))[0]

    def grown(self, name: str, rounds: int) -> SkippedModel:
        """Both fits with one term more."""
        fits, size = (self.skipped.single, self.skipped.fit), self.skipped.sample.cell_size
        grown = [with_terms(fit, [name], size, rounds, kept=k) for fit, k in zip(fits, self.known, strict=True)]
        return self.skipped.with_fits(*grown)


def _among_likely(skipped: SkippedModel) -> SkippedModel:
    """A skip test on likely edges only, which is enough to tell whether a term helps."""
    return skipped.with_fits(among_likely(skipped.single), among_likely(skipped.fit))


def _during(fit: Fit, transitions: Ints) -> Fit:
    return replace(fit, best=replace(fit.best, expected=fit.best.expected.during(transitions)))


def judged(skipped: SkippedModel) -> tuple[float, float]:
    """Loss per judged daughter after a softening of its own, and the share of links that are wrong.

    Here probabilities are tempered as they stand, which costs nothing; the problem is not solved again.
    """
    given = skipped.comparison
    softening = fit_softening(given)
    soft = with_share(given.powered(softening.tempering), softening.unknown)
    _, wrong, links = given.errors(given.links())
    return soft.loss() / max(len(given), 1), wrong / max(links, 1)
