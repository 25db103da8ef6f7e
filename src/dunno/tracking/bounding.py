"""Where candidates are many: far ones join for cells that the near ones leave alone, and what is next to impossible takes no part.

Of each daughter only the nearest mothers are looked at (`gate.MOST_MOTHERS`). A rough look at these tells which cells are left
alone; there are few, so that among them all edges within the gate can be looked at.
"""

from __future__ import annotations

import numpy as np

from dunno.assignment import Marginals, marginals
from dunno.models.drift import without_drift
from dunno.models.model import Model
from dunno.tracking.gate import MOST_MOTHERS
from dunno.types import Ints
from dunno.types.neighbours import within
from dunno.types.stretch import Stretch

ALONE_FROM = 1e-3  # probability; benchmarks.bounds
"""A mother that is lost with less than this, or a daughter that appears with less, needs no far edges."""

MOST_FAR = 6  # daughters; benchmarks.bounds
"""Far edges of a mother lead to the nearest so many daughters that are left alone."""

CROWDED_FROM = 12.0  # candidates per daughter; judged
"""Below this nothing is left out: there is little to save."""

MATTERS_FROM = 3e-8  # probability; benchmarks.bounds
"""Edges below this are left out. Places alone say so; drift, features and what sisters say (a few nats each) speak later."""


def bounded(model: Model, stretch: Stretch, gate: float, tempering: float) -> Stretch:
    """The stretch with far edges between cells that are left alone, and without edges that hold next to nothing."""
    count = np.bincount(stretch.daughter, minlength=stretch.n_rows)
    is_cut, is_crowded = (count >= MOST_MOTHERS).any(), count.sum() > CROWDED_FROM * stretch.is_daughter.sum()
    if not (is_cut or is_crowded) or stretch.score is not None:
        return stretch
    places = places_of(model)
    rough = marginals(places.problem(places.measured(stretch)).tempered(tempering), "rough")
    far = _far_edges(stretch, rough, gate) if is_cut else None
    if is_crowded:
        stretch = stretch.among(rough.edge > MATTERS_FROM)
    return stretch if far is None else stretch.with_edges(*far)


def places_of(model: Model) -> Model:
    """The model with what it knows of places alone, and nobody carried along."""
    drift = model.drift
    if drift is not None:
        model = without_drift(model).with_values(drift.finder)
    return model.where(lambda term: term.is_place or term.is_unit)


def _far_edges(stretch: Stretch, rough: Marginals, gate: float) -> tuple[Ints, Ints]:
    """(K,) mothers and daughters of edges within the gate between cells that are left alone."""
    lost = stretch.is_mother & (rough.disappear > ALONE_FROM)
    begun = stretch.is_daughter & (rough.appear > ALONE_FROM)
    mothers, daughters = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for r in range(len(stretch)):
        early, late = np.flatnonzero(lost & (stretch.leads == r)), np.flatnonzero(begun & (stretch.follows == r))
        if len(early) and len(late):
            i, j = within(stretch.place_after[early], stretch.place[late], gate, MOST_FAR)
            mothers.append(early[i])
            daughters.append(late[j])
    return np.concatenate(mothers), np.concatenate(daughters)
