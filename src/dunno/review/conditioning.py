"""An output whose masks were trusted, given what a person said: each block's assignment problem under constraints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from dunno.review.condition import Rules, condition
from dunno.review.daughters import Table
from dunno.review.decisions import Decision, in_force
from dunno.review.statements import concerns
from dunno.review.store import Recent, Store
from dunno.types import Block, PairPosterior

KEPT_BLOCKS = 16
"""Blocks with decisions that are kept solved: to solve one takes as long as to track it."""

Found = dict[range, Block]


class ConditionedBlocks:
    """Solves again what is tied together: a pair of frames, or all pairs of a block with edges across gaps."""

    def __init__(self, store: Store, table: Table, rules: Rules) -> None:
        self._store, self._table, self._rules = store, table, rules
        self._solved: Recent[Block] = Recent(KEPT_BLOCKS)
        self._on_pair: dict[int, list[Decision]] = defaultdict(list)
        self._taken: list[tuple[Sequence[Decision], list[list[int]]]] = []

    def pair(self, t: int) -> PairPosterior:
        """Pair t given the answers."""
        pairs = self._together(t)
        block = self._given(pairs)
        return self._store.get(t) if block is None else block.pair(block.own[t - pairs.start])

    def blocks(self) -> Iterator[Block]:
        """The movie given the answers, in pieces of about the size in which it is stored."""
        stored, t = self._store.bounds, 0
        while t < self._table.n_pairs:
            parts, end = [], next(each.stop for each in stored if t in each)
            while t < end:
                pairs = self._together(t)
                given = self._given(pairs)
                if given is None:
                    stop = next((k for k in range(t, end) if self._given(self._together(k)) is not None), end)
                    pairs, given = range(t, stop), self._store.block(range(t, stop))
                parts.append(given)
                t = pairs.stop
            yield Block.joined(parts)

    def part(self, pairs: range) -> Block:
        """Some pairs in a row, given the answers."""
        whole = [self._together(t) for t in pairs]
        groups = [group for k, group in enumerate(whole) if not k or group != whole[k - 1]]
        blocks = [self._given(group) or self._store.block(group) for group in groups]
        begin = groups[0].start
        return Block.joined(blocks).part(pairs.start - begin, pairs.stop - begin)

    def in_force(self, decisions: Iterable[Decision]) -> list[Decision]:
        """Those that count."""
        return in_force(decisions)

    def tried(self, decisions: Sequence[Decision]) -> Found:
        """What changes if decisions were added; `DecisionError` if they contradict others."""
        more: dict[int, list[Decision]] = defaultdict(list)
        for each in decisions:
            for t in self._pairs_of(each):
                more[t].append(each)
        found: Found = {}
        for pairs in self._groups(more, *decisions):
            said = self._statements_on(pairs, more)
            if said != self._statements_on(pairs):
                found[pairs] = self._solve(pairs, said)
        return found

    def add(self, decisions: Sequence[Decision], found: Found | None = None) -> list[int]:
        """Let decisions stand; `found` is what `tried` found. Returns the pairs that change."""
        pairs_of = [self._pairs_of(each) for each in decisions]
        on = sorted(set(chain(*pairs_of)))
        before = self._statements_by_block(on)
        for each, pairs in zip(decisions, pairs_of, strict=True):
            for t in pairs:
                self._on_pair[t].append(each)
        self._taken.append((decisions, pairs_of))
        return self._changed(on, before, found or {})

    def remove(self) -> list[int]:
        """Take back what was added last; returns the pairs that change."""
        decisions, pairs_of = self._taken.pop()
        on = sorted(set(chain(*pairs_of)))
        before = self._statements_by_block(on)
        groups = self._groups(on)
        for _, pairs in zip(decisions, pairs_of, strict=True):
            for t in pairs:
                self._on_pair[t].pop()
        return self._changed([t for pairs in groups for t in pairs], before, {})

    def _statements_by_block(self, on: Iterable[int]) -> dict[range, list[Decision]]:
        return {pairs: self._statements_on(pairs) for pairs in self._groups(on)}

    def _changed(self, on: Iterable[int], before: dict[range, list[Decision]], found: Found) -> list[int]:
        """Forget what was solved together or under other decisions; returns the pairs that change."""
        changed = [pairs for pairs, said in self._statements_by_block(on).items() if before.get(pairs) != said]
        for pairs in (*before, *changed):
            self._solved.drop(pairs.start)
        for pairs in changed:
            if pairs in found:
                self._solved.put(pairs.start, found[pairs])
        return sorted(t for pairs in changed for t in pairs)

    def _groups(self, on: Iterable[int], *more: Decision) -> list[range]:
        """The runs of pairs that are solved together and hold some of the pairs."""
        return sorted({self._together(t, *more) for t in on}, key=lambda each: each.start)

    def _together(self, t: int, *more: Decision) -> range:
        """The pairs that are solved together with pair t: those that edges across gaps tie to it, decided ones among them."""
        found = self._store.tied(t)
        while True:
            said = [*more, *(each for k in found for each in self._on_pair.get(k, ()))]
            far = [self._span(each) for each in said if each.mother_frame is not None]
            reached = [span for span in far if span.start < found.stop and found.start < span.stop]
            ends = [self._store.tied(k) for span in reached for k in (span.start, span.stop - 1)]
            wider = range(min(e.start for e in [found, *ends]), max(e.stop for e in [found, *ends]))
            if wider == found:
                return found
            found = wider

    def _span(self, decision: Decision) -> range:
        """The pairs between the mother's frame and the daughter's."""
        return range(self._table.place_of(decision.mother_frame or 0), self._table.place_of(decision.frame))

    def _given(self, pairs: range) -> Block | None:
        """Pairs that are solved together, given the answers; `None` where there are none."""
        if not (said := self._statements_on(pairs)):
            return None
        return self._solved.get(pairs.start) or self._solved.put(pairs.start, self._solve(pairs, said))

    def _solve(self, pairs: range, decisions: list[Decision]) -> Block:
        return condition(self._store.block(pairs), decisions, self._rules)

    def _statements_on(self, pairs: range, more: dict[int, list[Decision]] | None = None) -> list[Decision]:
        """What counts on pairs that are solved together, with some more decisions on them."""
        each = [self._in_force(t, (more or {}).get(t, [])) for t in pairs]
        return each[0] if len(each) == 1 else list(dict.fromkeys(chain(*each)))

    def _in_force(self, t: int, more: list[Decision]) -> list[Decision]:
        """What counts on pair t."""
        decisions = [*self._on_pair.get(t, []), *more]
        if not decisions:
            return []
        ends = int(self._table.mother_frame[t]), int(self._table.daughter_frame[t])
        return [each for each in in_force(decisions) if concerns(each, *ends)]

    def _pairs_of(self, decision: Decision) -> list[int]:
        """The frame pairs on which a decision, or what it takes the place of, has a say."""
        t = self._table.place_of(decision.frame)  # as a mother it is of pair t, as a daughter of pair t - 1
        about = (decision.frame, decision.label)
        before = [each for each in self._on_pair.get(t - 1, ()) if (each.frame, each.label) == about]
        far = {each.mother_frame for each in (decision, *before) if each.mother_frame is not None}
        found = {t - 1, t, *map(self._table.place_of, far)}
        return sorted(each for each in found if 0 <= each < self._table.n_pairs)
