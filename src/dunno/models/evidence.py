"""More evidence than places: terms added to a fitted model, and fitted beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dunno import rooms
from dunno.assignment import Rounds
from dunno.assignment.marginals import Method
from dunno.errors import InputError
from dunno.models.em import EMResult
from dunno.models.expectation import expect, expect_all, maximise
from dunno.models.fit import Fit
from dunno.models.model import IS_PLACE, Model, path_of
from dunno.terms import BOUND
from dunno.terms.touching import Touching
from dunno.types.stretch import Stretch

EVIDENCE_ROUNDS = 5  # rounds; speed, benchmarks.fit
"""Rounds in which added terms are fitted; they settle fast, because most links are sure."""

EVIDENCE_EDGES_FROM = 1e-4  # probability; speed, benchmarks.fit
"""Edges below this take no part in fitting added terms: they weigh next to nothing."""

KEPT_EDGES_FROM = 1e-6  # probability; speed, benchmarks.fit
"""Edges below this are left out once terms are added: with all that terms may say for them they stay unlikely."""

PLACES_WORD = "places"


def offered() -> list[str]:
    """The terms that are tried on a movie, in order."""
    terms: list[Any] = [*rooms.members("terms").values()]
    return [term.name for term in sorted(terms, key=lambda term: int(term.rank)) if term.rank > 0]


def chosen(words: str | Sequence[str]) -> tuple[str, ...] | None:
    """The terms that are named beside places; `None` for "auto"."""
    names = [word.strip() for word in words.split(",")] if isinstance(words, str) else list(words)
    if names == ["auto"]:
        return None
    kept = [name for name in names if name and name != PLACES_WORD]
    terms: list[Any] = [*rooms.members("terms").values()]
    known = [*offered(), *(term.name for term in terms if term.joins_by_rule)]
    for name in kept:
        if name not in known and ":" not in name:
            raise InputError(
                f"there is no evidence {name!r}; there are {', '.join([PLACES_WORD, *known])}, auto, "
                "and your own terms as package.module:Class"
            )
    return tuple(kept)


def unseen_exchanges(fit: Fit, cell_size: float) -> tuple[float, float]:
    """How many cells are expected to have changed places where the fit does not think so, and how many links it doubts."""
    expected = fit.best.expected
    doubted = (1 - expected.certainty) * float(expected.stretch.n_daughters.sum())
    touching = Touching.start(expected.stretch, cell_size, expected.model)
    return 2 * touching.unseen(expected.stretch), doubted


def can_see(name: str, stretch: Stretch) -> bool:
    """Whether what a term looks at was measured in a stretch."""
    found: Any = rooms.find("terms", name)
    return bool(found.can_see(stretch))


def among_likely(fit: Fit) -> Fit:
    """A fit that looks at likely edges only; nothing is solved again."""
    expected = fit.best.expected
    return replace(fit, best=replace(fit.best, expected=expected.among(expected.found.edge > EVIDENCE_EDGES_FROM)))


Kept = dict[Method, Rounds]
"""What is kept of the same edges, while one term after the other is tried on them."""


def with_terms(
    fit: Fit,
    names: Sequence[str],
    cell_size: float,
    rounds: int = EVIDENCE_ROUNDS,
    like: Model | None = None,
    kept: Kept | None = None,
) -> Fit:
    """A fit with terms added; places stay as they were fitted.

    It begins from `like`, a model that has fitted these terms already; `kept` holds what outlives a change of terms.
    """
    if not names:
        return fit
    best = _with(fit.best, names, cell_size, rounds, like, {} if kept is None else kept)
    pooled = _with_evidence_of(fit.pooled, best.model) if fit.varies else best
    return replace(fit, best=best, pooled=pooled, places=fit.places or fit)


def added_terms(fit: Fit) -> tuple[str, ...]:
    """The names of the terms that were added to places, by which they are found again."""
    return tuple(path_of(term) for term in fit.model.terms if not (term.is_place or term.bounds_features))


def _with(
    places: EMResult, names: Sequence[str], cell_size: float, rounds: int, like: Model | None, kept: Kept
) -> EMResult:
    before = places.expected.among(places.expected.found.edge > KEPT_EDGES_FROM)
    model, stretch = places.model, before.stretch
    for name in names:
        model = model.plus(rooms.find("terms", name).start(stretch, cell_size, model))
        if model.features and model.bound is None:
            model = model.plus(rooms.find("terms", BOUND).start(stretch, cell_size, model))
    if like is not None:
        model = _with_evidence_of(places, like).model
    likely = before.found.edge > EVIDENCE_EDGES_FROM
    light = stretch if likely.all() else stretch.among(likely)  # which keeps what is known of it
    if like is None:  # what was expected without the new terms is enough for their first guess
        first = replace(before.among(likely), model=model, stretch=light, ways=model.ways(light))
        model = maximise(first, fixed=IS_PLACE)
    for _ in range(rounds):
        expected = expect(model, light, "rough", kept.setdefault("rough", Rounds()))
        model = maximise(expected, fixed=IS_PLACE)
    if light is stretch:
        expected = expect(model, stretch, rounds=kept.setdefault("auto", Rounds()))
    else:
        expected = expect_all(model, stretch, kept.setdefault("rough", Rounds()))
    return EMResult(expected, places.rounds + rounds, places.converged)


def _with_evidence_of(places: EMResult, model: Model) -> EMResult:
    """The same places with another model's other terms."""
    others = model.where(lambda term: not term.is_place).terms
    return places.with_model(places.model.where(IS_PLACE).plus(*others))
