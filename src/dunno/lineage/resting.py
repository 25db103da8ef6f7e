"""Cells rest between divisions: lineages in which a cell divides again at once are mended.

Frame pairs are drawn without knowing of each other. Where a division may have happened in this frame or in the next, both may be
drawn, one after the other, which no cell does; the cycles that follow from it would be far too short.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dunno.types import Block, Bools, Ints

LONG_AGO = -(10**9)  # frames; exact: before any movie
REST = 0.25  # share; benchmarks.biology
"""How long a cell rests, as a share of its cycle."""


def rest_of(block: Block) -> int:
    """How many frames a cell rests: a quarter of the time in which the cells double, by the rate at which they divide."""
    mothers = int(block.begin[-2])
    divided = float(np.nansum(np.exp(block.log_divide[:mothers])))
    return rest_frames(mothers, divided, len(block.own))


def rest_frames(cells: float, divisions: float, most: int) -> int:
    """How many frames a cell rests, by how many cells were seen, each in one frame, and how many of them divided."""
    return int(min(REST * np.log(2) * cells / divisions, most)) if divisions > 0 else 0


def rested(block: Block, rest: int) -> Block:
    """The block without divisions of cells that were born at most so many frames before.

    Where its sister is lost at the same time, one of the daughters is the sister's. Else the less probable one of both divisions
    is none, and its less probable daughter begins anew.
    """
    births = _Births(block)
    for t in block.own:
        births.mend(t, rest)
        births.pass_on(t)
    return replace(block, selected=births.selected)


class _Births:
    """By row: when each cell was born by a division (`LONG_AGO` where that was not seen), of whom, and as which daughter."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self.selected: Bools = block.selected.copy()
        n = len(block.cells)
        self._born, self._mother, self._daughter = np.full(n, LONG_AGO), np.full(n, -1), np.full(n, -1)

    def mend(self, t: int, rest: int) -> None:
        """Take back what divides too early between frame t and the one before."""
        near, mothers = self._block.near(t), self._block.rows(t - 1)
        log_probability = self._block.log_probability[near]
        for i in mothers.start + np.flatnonzero(self._divides(t) & (t - self._born[mothers] <= rest)):
            if t - self._born[i] > rest:  # taken back meanwhile
                continue
            early, mother = int(self._born[i]), int(self._mother[i])
            links = np.flatnonzero(self.selected[near] & (self._block.mother[near] == i))
            if self._to_sister(t, links, self._sisters(t, i)):
                continue
            if self._p_divide(mother) < self._p_divide(i):
                self._keep_only(early, mother, int(self._daughter[i]))
                own = np.arange(mothers.start, mothers.stop)
                self._born[own[(self._born[own] == early) & (self._mother[own] == mother)]] = LONG_AGO
            else:
                best = links[np.argmax(log_probability[links])]
                self._keep_only(t, int(i), int(self._block.daughter[near][best]))

    def pass_on(self, t: int) -> None:
        """Know of the cells of frame t what is known of their mothers."""
        block, near = self._block, self._block.near(t)
        link = near.start + np.flatnonzero(self.selected[near])
        mother, daughter = block.mother[link], block.daughter[link]
        divides = self._divides(t)[mother - block.rows(t - 1).start]
        self._born[daughter] = np.where(divides, t, self._born[mother])
        self._mother[daughter] = np.where(divides, mother, self._mother[mother])
        self._daughter[daughter] = np.where(divides, daughter, self._daughter[mother])
        far = block.far(t)
        link = far.start + np.flatnonzero(self.selected[far])
        for column in (self._born, self._mother, self._daughter):
            column[block.daughter[link]] = column[block.mother[link]]

    def _divides(self, t: int) -> Bools:
        """(m,) which cells of the frame before have two daughters in frame t."""
        near, mothers = self._block.near(t), self._block.rows(t - 1)
        own = self._block.mother[near][self.selected[near]] - mothers.start
        return np.asarray(np.bincount(own, minlength=mothers.stop - mothers.start) >= 2)

    def _sisters(self, t: int, i: int) -> Ints:
        """Other cells that were born by the same division."""
        mothers = self._block.rows(t - 1)
        same = (self._born[mothers] == self._born[i]) & (self._mother[mothers] == self._mother[i])
        same[i - mothers.start] = False
        return np.asarray(mothers.start + np.flatnonzero(same))

    def _to_sister(self, t: int, links: Ints, sisters: Ints) -> bool:
        """Link one of a mother's daughters to its lost sister, if one is lost near enough."""
        near = self._block.near(t)
        mother, daughter, selected = self._block.mother[near], self._block.daughter[near], self.selected[near]
        lost = sisters[~np.isin(sisters, mother[selected])]
        others = np.flatnonzero(np.isin(mother, lost) & np.isin(daughter, daughter[links]))
        if not len(others):
            return False
        instead = others[np.argmax(self._block.log_probability[near][others])]
        selected[links[daughter[links] == daughter[instead]]] = False
        selected[instead] = True
        return True

    def _keep_only(self, t: int, mother: int, daughter: int) -> None:
        """Take back the links of a mother into frame t but the one to this daughter."""
        near = self._block.near(t)
        self.selected[near] &= ~((self._block.mother[near] == mother) & (self._block.daughter[near] != daughter))

    def _p_divide(self, row: int) -> float:
        return float(self._block.log_divide[row]) if self._block.has_events else 1.0
