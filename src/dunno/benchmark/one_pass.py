"""Several methods in one pass: the movie is read and the costs are asked once, and each method's time is its own."""

from __future__ import annotations

import copy
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from dunno.methods import Method, ScoredPair
from dunno.tracking import Tracking
from dunno.tracking.tracker import Tracker
from dunno.types import Block, Floats, FramePair, Ints, Movie


@dataclass(frozen=True, eq=False)
class Timed:
    """A tracking, and the processor seconds that it took."""

    tracking: Tracking
    seconds: float


def timed(work: Callable[..., Tracking], *arguments: Any, clock: Callable[[], float] = time.process_time) -> Timed:
    """Do something, and say what it took; this process does nothing else meanwhile."""
    started = clock()
    return Timed(work(*arguments), clock() - started)


def track_together(methods: Mapping[str, Method], movie: Movie, cost: Any, **choices: Any) -> dict[str, Timed]:
    """Track a movie with several methods at once, uncalibrated; each one's results are those that it has alone."""
    every = MethodEnsemble(methods, clock_of(cost))
    whole = timed(Tracker(cost, every, calibration=None, workers=1, **choices).track, movie, clock=every.clock)
    shared = whole.seconds - sum(every.seconds.values())
    found = {}
    for name, method in methods.items():
        about = replace(whole.tracking.about, method=method.name, joint=method.joint)
        tracking = replace(whole.tracking, blocks=(Block.joined(every.found[name]),), about=about)
        seconds = shared + every.seconds[name] + (every.seconds["draws"] if method.perturbs else 0.0)
        found[name] = Timed(tracking, seconds)
    return found


class MethodEnsemble:
    """A method that asks several, keeps what each says, and reports what the first one says."""

    name = "together"
    is_random = True

    def __init__(self, methods: Mapping[str, Method], clock: Callable[[], float]) -> None:
        self.methods = methods
        self.clock = clock
        self.found: dict[str, list[Block]] = {name: [] for name in methods}
        self.seconds: dict[str, float] = defaultdict(float)

    def __call__(self, scored: ScoredPair, rng: np.random.Generator) -> Block:
        """Ask every method about a pair."""
        shared = Shared(**{each.name: getattr(scored, each.name) for each in fields(scored)})
        for name, method in self.methods.items():
            if method.perturbs and not shared.drawn:
                self._note("draws", lambda: shared.perturbed_costs(method.samples or 0, copy.deepcopy(rng)))  # noqa: B023
            found = self._note(name, lambda: method(shared, copy.deepcopy(rng)))  # noqa: B023
            self.found[name].append(found)
        return self.found[next(iter(self.methods))][-1]

    def _note(self, name: str, work: Callable[[], Any]) -> Any:
        started = self.clock()
        result = work()
        self.seconds[name] += self.clock() - started
        return result


@dataclass(frozen=True, eq=False)
class Shared(ScoredPair):
    """A pair whose perturbed costs are drawn once: with the same generator they would be the same again."""

    drawn: list[Floats] = field(default_factory=list)

    def perturbed_costs(self, k: int, rng: np.random.Generator) -> Floats:
        """(K, E) the edges' costs in k perturbed versions of the pair."""
        if not self.drawn:
            self.drawn.append(super().perturbed_costs(k, rng))
        return self.drawn[0]


class Remembered:
    """A slow cost that keeps what it said about each pair of one movie, all edges of it, and what its perturbed versions said.

    What was saved by remembering is counted, so that times are those of asking again.
    """

    def __init__(self, cost: Any) -> None:
        self._cost = cost
        self._kept: dict[Any, tuple[Any, float]] = {}
        self._saved = [0.0]
        self.perturbation = RememberedDraws(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_cost"], name)

    @property
    def saved(self) -> float:
        """Seconds that would have been spent on asking again."""
        return self._saved[0]

    def __call__(self, pair: FramePair, mother: Ints, daughter: Ints) -> Floats:
        """(E,) the cost of each edge."""
        table = pair.drawn if pair.drawn is not None else self._once((*_frames(pair), 0), lambda: [self._all(pair)])[0]
        return np.asarray(table[mother, daughter], np.float64)

    def draws(self, pair: FramePair, k: int, rng: np.random.Generator) -> list[Any]:
        """K tables of all edges' costs; the tracker seeds the generator by pair, so they are the same each time."""
        perturbed = self._cost.perturbation.draws
        return self._once(
            (*_frames(pair), k), lambda: [self._all(draw) for draw in perturbed(pair, self._cost, k, rng)]
        )

    def _all(self, pair: FramePair) -> Any:
        mother, daughter = np.indices((len(pair.mothers), len(pair.daughters))).reshape(2, -1)
        return self._cost(pair, mother, daughter).reshape(len(pair.mothers), -1).astype(np.float32)

    def _once(self, key: Any, make: Callable[[], list[Any]]) -> list[Any]:
        started = time.process_time()
        if key in self._kept:
            self._saved[0] += self._kept[key][1]
        else:
            self._kept[key] = make(), time.process_time() - started
        found: list[Any] = self._kept[key][0]
        return found


@dataclass(frozen=True, eq=False)
class RememberedDraws:
    """The perturbation of a remembered cost."""

    remembered: Remembered

    @property
    def name(self) -> str:
        """That of the cost's own."""
        return str(self.remembered._cost.perturbation.name)

    def draws(self, pair: FramePair, cost: Any, k: int, rng: np.random.Generator) -> Iterator[FramePair]:
        """Yield k pairs, each with the costs that one perturbed version had."""
        for drawn in self.remembered.draws(pair, k, rng):
            yield replace(pair, drawn=drawn)


def _frames(pair: FramePair) -> tuple[int, int]:
    return pair.mothers.frame, pair.daughters.frame


def clock_of(given: Any) -> Callable[[], float]:
    """Seconds of this process, with those that a cost saved by remembering."""
    remembered = given if isinstance(given, Remembered) else None
    return lambda: time.process_time() + (0.0 if remembered is None else remembered.saved)
