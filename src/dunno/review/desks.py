"""Several people, or tabs, at one review: each has a desk and a question of its own, and is told what the others said."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from dunno.review.decisions import in_words
from dunno.review.desk import Desk
from dunno.review.review import Review

CLIENT = "x-dunno-client"
"""The header in which a page says which one it is: a random word of its own."""
MOST_REVIEWERS, LONGEST_NAME = 32, 40
GONE = 10.0
"""Seconds without a sign of life after which a page no longer holds its question."""


class Desks:
    """A desk for every page; those that were not used for longest are cleared first."""

    def __init__(self, first: Desk) -> None:
        self.first = first
        self._others: OrderedDict[str, Desk] = OrderedDict()
        self._seen: dict[str, float] = {}

    @property
    def review(self) -> Review:
        """What all of them work on."""
        return self.first.review

    def of(self, headers: Mapping[str, str]) -> Desk:
        """The desk of whoever asks; the first page gets the first one."""
        client = headers.get(CLIENT, "")[:LONGEST_NAME]
        if not client:
            return self.first
        if client not in self._others:
            at, self.first.at = self.first.at, None
            self._others[client] = Desk(self.review, self.first.views, at, lambda: self._taken(client))
        self._others.move_to_end(client)
        self._seen[client] = time.monotonic()
        if len(self._others) > MOST_REVIEWERS:
            self._seen.pop(self._others.popitem(last=False)[0])
        return self._others[client]

    def _taken(self, client: str) -> frozenset[int]:
        """Rows that others look at and have not answered."""
        others = (self._others[name] for name in self._here() if name != client)
        return frozenset(desk.asked for desk in others if desk.asked is not None)

    def _here(self) -> list[str]:
        """Pages that have asked for something lately."""
        return [name for name, seen in self._seen.items() if time.monotonic() - seen < GONE]

    def changes(self, since: int, headers: Mapping[str, str]) -> dict[str, Any]:
        """What was said after a version, and how the review stands if anything was."""
        desk = self.of(headers)
        said = [
            {"n": each.n, "who": each.who, "action": each.action, "words": in_words(each.decision)}
            for each in self.review.since(since)
        ]
        return {
            "version": self.review.version,
            "said": said,
            "state": desk.state() if said else None,
            "people": max(len(self._here()), 1),
        }
