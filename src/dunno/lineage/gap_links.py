"""Links across gaps, decided in one forward pass: a mother that has a daughter already has none across a gap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from dunno.lineage.tracks import LONGEST_GAP
from dunno.types import Block, Bools


def one_link_each(blocks: Iterable[Block]) -> Iterator[Block]:
    """Take back links across gaps whose mother is linked already, in a block that was solved without knowing of this one."""
    linked: dict[int, Bools] = {}
    for block in blocks:
        taken = np.ones(len(block.cells), np.bool_)
        taken[block.begin[block.first] :] = False
        for t in range(block.first):
            taken[block.rows(t)] = linked.get(int(block.frames[t]), True)
        taken[block.mother[block.selected & (block.gap == 0)]] = True
        found = _without_taken(block, taken)
        recent = {int(block.frames[t]): taken[block.rows(t)] for t in range(len(block.frames) - 1)}
        linked = dict([*(linked | recent).items()][-LONGEST_GAP:])
        yield found


def _without_taken(block: Block, taken: Bools) -> Block:
    selected = block.selected.copy()
    for t in block.own:
        far = block.far(t)
        link = far.start + np.flatnonzero(selected[far])
        mother = block.mother[link]
        free = ~taken[mother]
        selected[link[~free]] = False
        taken[mother[free]] = True  # both daughters of a division across a gap keep it
    return replace(block, selected=selected)
