"""An output's blocks, read when they are asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from dunno.io.block_files import PAIRS_FOLDER, block_file, read_block, stored_blocks
from dunno.lineage.gap_links import one_link_each
from dunno.types import Block, Bools, Ints, PairPosterior

Thing = TypeVar("Thing")


class Recent(Generic[Thing]):
    """Keeps the few things that were used last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._things: OrderedDict[int, Thing] = OrderedDict()

    def get(self, key: int) -> Thing | None:
        """The thing, if it is still here."""
        if key in self._things:
            self._things.move_to_end(key)
        return self._things.get(key)

    def put(self, key: int, thing: Thing) -> Thing:
        """Keep a thing, and let go of the one that was not used for longest."""
        self._things[key] = thing
        self._things.move_to_end(key)
        if len(self._things) > self._most:
            self._things.popitem(last=False)
        return thing

    def drop(self, key: int) -> None:
        """Let go of a thing."""
        self._things.pop(key, None)


class Store:
    """The blocks of an output with the links that it reports; pairs are numbered through all of them."""

    def __init__(self, folder: Path, blocks_kept: int = 4) -> None:
        self._folder = folder
        self._first: list[int] = [0]  # the first pair of each block, and the number of pairs
        self._tied: list[bool] = []  # whether edges across gaps tie a block's pairs
        self._taken_back: list[Ints] = []  # the edges of each block that are links no more, given the block before
        self._kept: Recent[Block] = Recent(blocks_kept)

    def stream(self) -> Iterator[Block]:
        """Yield every block once, in frame order, and learn where each pair is; comes before all else."""
        self._first, self._tied, self._taken_back = [0], [], []
        selected = list[Bools]()
        for block in one_link_each(_noting(stored_blocks(self._folder), selected)):
            self._first.append(self._first[-1] + len(block.own))
            self._tied.append(bool((block.gap > 0).any()))
            self._taken_back.append(np.flatnonzero(selected.pop() & ~block.selected))
            yield block

    @property
    def bounds(self) -> list[range]:
        """The pairs of each block."""
        return [range(a, b) for a, b in pairwise(self._first)]

    def get(self, t: int) -> PairPosterior:
        """Pair t."""
        number = self._number(t)
        block = self._block(number)
        return block.pair(block.own[t - self._first[number]])

    def tied(self, t: int) -> range:
        """The pairs that edges across gaps tie to pair t: its block, or it alone."""
        number = self._number(t)
        return self.bounds[number] if self._tied[number] else range(t, t + 1)

    def block(self, pairs: range) -> Block:
        """Some pairs in a row."""
        first, last = self._number(pairs.start), self._number(pairs.stop - 1)
        whole = Block.joined([self._block(number) for number in range(first, last + 1)])
        begin = self._first[first]
        if pairs == range(begin, self._first[last + 1]):
            return whole
        return whole.part(pairs.start - begin, pairs.stop - begin)

    def _number(self, t: int) -> int:
        return bisect_right(self._first, t) - 1

    def _block(self, number: int) -> Block:
        return self._kept.get(number) or self._kept.put(number, self._read(number))

    def _read(self, number: int) -> Block:
        block = read_block(block_file(self._folder / PAIRS_FOLDER, number))
        selected = block.selected.copy()
        selected[self._taken_back[number]] = False
        return replace(block, selected=selected)


def _noting(blocks: Iterator[Block], selected: list[Bools]) -> Iterator[Block]:
    """Pass blocks on, and note which edges each has for links."""
    for block in blocks:
        selected.append(block.selected)
        yield block
