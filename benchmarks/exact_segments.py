"""The best answer to hypotheses about segments, and the best one with a mask's states forced: a linear program, kept warm.

Needs `pip install dunno[oracles]`. The program has a variable for each state and each way,

    max  Σ_s state(s) y_s + Σ_w way(w) x_w,   events taken from those of the states' objects by the ways' links,
    Σ_{s of m} y_s = 1,   Σ_{w into o} x_w ≤ y_{s(o)},   Σ_{w out of o} x_w ≤ y_{s(o)},   Σ_{w of e} x_w ≤ 1,   y_u = y_v of unions,

and is nearly integral (a few variables in a thousand are not). Only ways that may help are in it: those that weigh less than the
events in their place never do.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
import scipy.sparse as sp

from dunno.segments.hypotheses import Hypotheses, Weights
from dunno.segments.posterior import mothers_of_ways
from dunno.types import Bools, Floats, Ints


@dataclass(frozen=True)
class Best:
    """An answer.

    Attributes:
        value: Its log weight.
        state: (S,) share of each state, nearly always 0 or 1.
        way: (W,) of each way.
    """

    value: float
    state: Floats
    way: Floats


class Exact:
    """A program that is solved again and again under other bounds."""

    def __init__(self, hypotheses: Hypotheses, weights: Weights) -> None:
        self.hypotheses = hypotheses
        events = np.bincount(hypotheses.state, weights.appear + weights.disappear, hypotheses.n_states)
        out, _ = mothers_of_ways(hypotheses)
        into = np.stack([hypotheses.way, hypotheses.daughter], axis=1)
        n = hypotheses.n_ways
        instead = np.bincount(into[:, 0], weights.appear[into[:, 1]], n)
        instead = instead + np.bincount(out[:, 0], weights.disappear[out[:, 1]], n)
        gain = weights.way - instead
        self.kept = np.flatnonzero(gain > 0)
        self.gain = np.concatenate([weights.state + events, gain[self.kept]])
        self.lower, self.upper, self.matrix = self._rows(into, out)
        self.program = self._program()

    def _rows(self, into: Ints, out: Ints) -> tuple[Floats, Floats, sp.csc_matrix]:
        h, n_states = self.hypotheses, self.hypotheses.n_states
        column = np.full(h.n_ways, -1)
        column[self.kept] = n_states + np.arange(len(self.kept))
        masks = (h.mask, np.arange(n_states), np.ones(n_states))
        blocks, lower, upper = [(masks, h.n_masks)], [np.ones(h.n_masks)], [np.ones(h.n_masks)]
        objects = (np.arange(h.n_objects), h.state, -np.ones(h.n_objects))
        for links in (into, out):
            own = links[column[links[:, 0]] >= 0]
            ways = (own[:, 1], column[own[:, 0]], np.ones(len(own)))
            blocks.append((tuple(np.concatenate(pair) for pair in zip(objects, ways, strict=True)), h.n_objects))
            lower.append(np.full(h.n_objects, -np.inf))
            upper.append(np.zeros(h.n_objects))
        edge, n_edges = self._edges()
        blocks.append(((edge, column[self.kept], np.ones(len(self.kept))), n_edges))
        lower.append(np.full(n_edges, -np.inf))
        upper.append(np.ones(n_edges))
        ties = np.arange(len(h.unions))
        both = (np.tile(ties, 2), h.unions.T.ravel(), np.repeat([1.0, -1.0], len(ties)))
        blocks.append((both, len(ties)))
        lower.append(np.zeros(len(ties)))
        upper.append(np.zeros(len(ties)))
        shape = n_states + len(self.kept)
        rows = [sp.csc_matrix((value, (row, col)), shape=(m, shape)) for (row, col, value), m in blocks]
        return np.concatenate(lower), np.concatenate(upper), sp.vstack(rows).tocsc()

    def _edges(self) -> tuple[Ints, int]:
        """The edge of each kept way, by the masks that it joins."""
        h = self.hypotheses
        mask = h.object_mask
        first = np.zeros(h.n_ways, np.int64)
        first[h.way] = mask[h.mother]
        least, most = np.full(h.n_ways, h.n_masks), np.zeros(h.n_ways, np.int64)
        np.minimum.at(least, h.way, mask[h.daughter])
        np.maximum.at(most, h.way, mask[h.daughter])
        key = (first * h.n_masks + least) * h.n_masks + most
        unique, edge = np.unique(key[self.kept], return_inverse=True)
        return edge, len(unique)

    def _program(self) -> highspy.Highs:
        program = highspy.Highs()
        program.setOptionValue("output_flag", False)
        program.setOptionValue("threads", 1)
        program.setOptionValue("solver", "simplex")
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = self.matrix.shape
        never = ~np.isfinite(self.gain)
        lp.col_cost_ = -np.where(never, 0.0, self.gain)
        lp.col_lower_, lp.col_upper_ = np.zeros(len(self.gain)), np.where(never, 0.0, 1.0)
        lp.row_lower_, lp.row_upper_ = self.lower, self.upper
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = self.matrix.indptr, self.matrix.indices
        lp.a_matrix_.value_ = self.matrix.data
        program.passModel(lp)
        return program

    def best(self) -> Best:
        """Under the bounds as they are now."""
        self.program.run()
        if self.program.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return Best(-np.inf, np.zeros(0), np.zeros(0))
        found = np.array(self.program.getSolution().col_value)
        way = np.zeros(self.hypotheses.n_ways)
        n_states = self.hypotheses.n_states
        way[self.kept] = found[n_states:]
        return Best(-self.program.getObjectiveValue(), found[:n_states], way)

    def without(self, states: Ints) -> float:
        """The value of the best answer in which a mask is in none of these states; the bounds are then as before."""
        self._bound(states, 0.0)
        value = self.best().value
        self._bound(states, 1.0)
        return value

    def log_odds(self, mask: int, own: Bools) -> float:
        """The best answer in which a mask is in one of its own states, over that in which it is in another."""
        states = np.flatnonzero(self.hypotheses.mask == mask)
        return self.without(states[~own[states]]) - self.without(states[own[states]])

    def _bound(self, states: Ints, upper: float) -> None:
        for state in states.tolist():
            self.program.changeColBounds(state, 0.0, upper)
