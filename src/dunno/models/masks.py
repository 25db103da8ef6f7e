"""The posterior of masks that hold no cell, one, or two, over a whole stretch of frames, by belief propagation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dunno.assignment import Marginals
from dunno.assignment.choices import SWEEPS, TOLERANCE, Beliefs, Choices, Kind, propagate
from dunno.models.expectation import Expected
from dunno.models.mask_ways import IN, OUT, Clamp, Graph, graph_of
from dunno.models.model import Model
from dunno.terms.masks import TOUCH, Masks
from dunno.types import Bools, Floats, Ints
from dunno.types.stretch import Stretch

UNLIKELY = 1e-6
"""Edges that pairs alone give less are left out, unless the masks touch."""


@dataclass(frozen=True, eq=False)
class Solution:
    """What is believed of the masks of a stretch.

    Attributes:
        graph: The choices.
        beliefs: About them.
    """

    graph: Graph
    beliefs: Beliefs

    def out_sum(self, name: str) -> Floats:
        """(N,) probability of each mask to go out in ways of this sort."""
        return self._sum(self.graph.out, self.graph.out_sort, self.beliefs.ways_out, OUT.index(name))

    def in_sum(self, name: str) -> Floats:
        """(N,) probability of each mask to come in in ways of this sort."""
        return self._sum(self.graph.into, self.graph.in_sort, self.beliefs.ways_in, IN.index(name))

    def _sum(self, choices: Choices, sort: Ints, belief: Floats, which: int) -> Floats:
        own = sort == which
        return np.bincount(choices.mask[own], belief[own], minlength=self.graph.stretch.n_rows).astype(np.float64)

    def of_pairs(self, name: str) -> Floats:
        """(K,) probability of each pair of edges to be used together."""
        side, sorts, names = (
            (self.graph.into, self.graph.in_sort, IN) if name == "merge" else (self.graph.out, self.graph.out_sort, OUT)
        )
        belief = self.beliefs.ways_in if name == "merge" else self.beliefs.ways_out
        pairs = {"divide": self.graph.divisions, "apart": self.graph.partings, "merge": self.graph.merges}[name]
        own = sorts == names.index(name)
        key = pairs.first * len(self.graph.stretch.mother) + pairs.second
        found = side.first[own] * len(self.graph.stretch.mother) + side.second[own]
        order = np.argsort(key)
        place = order[np.searchsorted(key[order], found)]
        values = np.zeros(len(key))
        values[place] = belief[own]
        return values

    @property
    def divide(self) -> Floats:
        """(N,) probability that a cell of each mask divides."""
        return self.out_sum("divide") + self.out_sum("apart dividing")

    @property
    def edge(self) -> Floats:
        """(E,) probability that at least one cell goes this way."""
        return np.asarray(self.beliefs.edge[:, : Kind.FALSE].sum(axis=1))

    def marginals(self) -> Marginals:
        """As a model's terms are fitted to: cells that are alone in their masks, and those that stay together."""
        kinds = self.beliefs.edge
        dividing = kinds[:, Kind.DIVIDING]
        return Marginals(
            edge=kinds[:, [Kind.SINGLE, Kind.YOUNG, Kind.GROWN, Kind.STAYING]].sum(axis=1) + dividing,
            edge_dividing=dividing,
            appear=self.in_sum("appear"),
            disappear=self.out_sum("lost"),
            divide=self.divide,
            log_evidence=self.beliefs.log_evidence,
            exact=False,
        )

    def expected(self) -> Expected:
        """As the M step takes it."""
        stretch, model = self.graph.stretch, self.graph.model
        return Expected(model, stretch, model.ways(stretch), self.marginals())


def solve_masks(
    model: Model,
    stretch: Stretch,
    pairwise: Marginals,
    tempering: float = 1.0,
    sweeps: int = SWEEPS,
    clamp: Clamp | None = None,
) -> Solution:
    """Beliefs about a stretch's masks.

    Args:
        model: With the term `masks`.
        stretch: With edges across gaps, where masks are missing.
        pairwise: What the same edges are believed to be if every mask held one cell.
        tempering: τ of the whole problem.
        sweeps: At most so many, forwards and backwards.
        clamp: Takes out the choices that are known to be wrong.
    """
    return solved(model, stretch.among(_worth_a_look(model, stretch, pairwise)), tempering, sweeps, clamp)


def solved(
    model: Model,
    stretch: Stretch,
    tempering: float = 1.0,
    sweeps: int = SWEEPS,
    clamp: Clamp | None = None,
    before: Solution | None = None,
    tolerance: float = TOLERANCE,
) -> Solution:
    """Beliefs about a stretch as it is; `before`, those about the same stretch under nearly the same model, save sweeps."""
    graph = graph_of(model, stretch, tempering, None if before is None else before.graph)
    graph = graph if clamp is None else clamp(graph)
    messages = None if before is None else before.beliefs.messages
    found = propagate(graph.out, graph.into, stretch.n_rows, len(stretch.mother), sweeps, tolerance, messages)
    return Solution(graph, found)


def _worth_a_look(model: Model, stretch: Stretch, pairwise: Marginals) -> Bools:
    masks: Masks = model.term(Masks.name)
    radius = masks.radius(stretch)
    reach = TOUCH * (radius[stretch.mother] + radius[stretch.daughter])
    way = np.sqrt(np.einsum("ed,ed->e", stretch.moved, stretch.moved))
    near = (stretch.lags == 1) & (way < 0.6 * reach)
    return np.asarray((pairwise.edge > UNLIKELY) | near)


def with_masks(model: Model, stretch: Stretch, cell_size: float) -> Model:
    """The model with the term `masks`, in the place of those that judge sizes and second masks by themselves."""
    model = model.where(lambda term: not term.gives_way_to_masks)
    return model.plus(Masks.start(stretch, cell_size, model))
