"""An output's frame pairs, read a block at a time when they are asked for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

from dunno.io.block_files import FOLDER, block_file, read_block, stored_blocks
from dunno.types import PairPosterior

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
    """The pairs of an output, as they were tracked."""

    def __init__(self, folder: Path, blocks_kept: int = 4) -> None:
        self._folder = folder
        self._where: list[tuple[int, int]] = []
        self._kept: Recent[list[PairPosterior]] = Recent(blocks_kept)

    def stream(self) -> Iterator[PairPosterior]:
        """Yield every pair once, in frame order, and learn where each is; comes before `get`."""
        self._where.clear()
        for block, pairs in enumerate(stored_blocks(self._folder)):
            self._where.extend((block, place) for place in range(len(pairs)))
            yield from pairs

    def get(self, t: int) -> PairPosterior:
        """Pair t."""
        block, place = self._where[t]
        pairs = self._kept.get(block)
        if pairs is None:
            pairs = self._kept.put(block, read_block(block_file(self._folder / FOLDER, block)))
        return pairs[place]
