"""What a run found and what it promises, in a biologist's words: the same on the first screen and in the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dunno.runs.doubtful_links import DoubtfulLink
from dunno.runs.numbers import amount, count, percent
from dunno.runs.summary import Summary
from dunno.types import RunInfo

REPAIRED = {
    "split": ("was cut in two or three", "were cut in two or three"),
    "joined": ("was joined with a neighbour", "were joined with a neighbour"),
    "left out": ("was left out: nothing is there", "were left out: nothing is there"),
    "filled": ("was filled in", "were filled in"),
}
"""What became of masks, by the words of `repairs.csv`."""

PROMISED = {"links": "links", "divisions": "divisions", "segments": "masks"}
"""By their names in `run.json`, what promises are about."""

IN_PLAIN_WORDS = {
    "supported": "what is called 90 % sure is right about 90 times in 100",
    "untested": "whether 90 % sure means right 90 times in 100 could not be tested here",
    "contradicted": "do not take these probabilities at their word; they still say what to look at first",
}

DESCRIBED = "seen from the first frame or their birth on, until they divide or the movie ends"


def what_is_there(found: Summary) -> dict[str, str]:
    """All of it but the links, by what it is about."""
    told = {
        "cells": cells(found),
        "divisions": divisions(found),
        "tracks": tracks(found),
        "debris": debris(found),
        "masks": masks_repaired(found.repairs),
        "missing": missing(found),
    }
    return {name: text for name, text in told.items() if text}


def wrong_links(found: Summary) -> str:
    """How many links are expected to be wrong."""
    if not found.links:
        return "There are no links."
    share = percent(found.expected_wrong_links / found.links)
    return (
        f"About {amount(found.expected_wrong_links)} of {count(found.links)} links ({share}) are expected to be wrong."
    )


def cells(found: Summary) -> str:
    """How many there are, and how fast they double."""
    told = f"{count(found.cells_at_start)} at the start, {count(found.cells_at_end)} at the end"
    if found.doubling_time is None or found.doubling_time_interval is None:
        return told
    between = " to ".join(f"{end:.3g}" for end in found.doubling_time_interval)
    return f"{told}; their number doubles in {found.doubling_time:.3g} {found.time_unit} ({between}), by how often they divide"


def divisions(found: Summary) -> str:
    """How many there are, and how sure that is."""
    if found.divisions_interval is None or found.expected_divisions is None:
        return f"{count(found.divisions)} in the tracks; the method does not say how sure that is"
    low, high = found.divisions_interval
    likely = count(low) if low == high else f"{count(low)} to {count(high)}"
    about = min(max(round(found.expected_divisions), low), high)
    are = "is" if found.divisions == 1 else "are"
    told = f"{likely} (95 %), about {count(about)}; {count(found.divisions)} {are} in the tracks"
    if low <= found.divisions <= high:
        return told
    why = "some of them too soon after one another" if found.divisions > high else "doubtful ones are left out there"
    return f"{told}, {why}"


def tracks(found: Summary) -> str:
    """How many there are, how many are whole, and how long they are."""
    told = f"{count(found.tracks)}"
    if found.median_length is None:
        return told
    cycles = f"; {count(found.complete_cycles)} from birth to division" if found.complete_cycles else ""
    return (
        f"{told}, of which {count(found.whole_tracks)} are whole ({DESCRIBED}){cycles}. "
        f"Half of them last {found.median_length:g} frames or more"
    )


def debris(found: Summary) -> str | None:
    """What is taken for debris; `None` where nothing is."""
    if not found.debris_tracks:
        return None
    if found.with_debris:
        return f"{count(found.debris_tracks)} of {count(found.tracks)} tracks are taken for debris; they are counted"
    return debris_left_out(found.debris_tracks, found.tracks + found.debris_tracks, "counts")


def debris_left_out(debris: int, tracks: int, does: str) -> str:
    """How many tracks are left out, and what would keep them.

    Example:
        >>> debris_left_out(568, 750, "counts")
        '568 of 750 tracks are taken for debris; --with-debris counts them'
    """
    return f"{count(debris)} of {count(tracks)} tracks are taken for debris; --with-debris {does} them"


def masks_repaired(repairs: Mapping[str, int]) -> str | None:
    """How many were repaired; `None` where they were taken as they are."""
    told = [f"{count(n)} {REPAIRED[what][n != 1]}" for what, n in repairs.items() if what in REPAIRED]
    return "; ".join(told) or None


def missing(found: Summary) -> str | None:
    """What somebody else's links leave out; `None` where links are dunno's own."""
    if found.expected_missing_links is None:
        return None
    divisions = found.expected_missing_divisions
    also = "" if divisions is None else f" and {amount(divisions)} divisions"
    return f"about {amount(found.expected_missing_links)} true links{also} are not among these"


def instead(doubt: DoubtfulLink) -> str:
    """What else may be true of a doubtful link's cell."""
    elsewhere = f" of frame {doubt.instead_frame}" if doubt.instead_frame not in (-1, doubt.mother_frame) else ""
    who = f"from cell {doubt.instead}{elsewhere}" if doubt.instead else "new here"
    return f"{who}, {percent(doubt.p_instead)}"


def imaging(test: Mapping[str, Any], found: Summary) -> str:
    """What half the frame rate would have cost: shares of links, which are fewer then.

    Example:
        >>> test = {"links": 1000, "composed": 65.0, "step": 2}
        >>> imaging(test, Summary(links=25140, expected_wrong_links=40.2))
        'at half the frame rate about 6.5 % of the links would be wrong; now 0.2 % are'
    """
    then, now = test["composed"] / max(test["links"], 1), found.expected_wrong_links / max(found.links, 1)
    return f"at half the frame rate about {percent(then)} of the links would be wrong; now {percent(now)} are"


class Promise(NamedTuple):
    """What is promised, the verdict on it, and the reason."""

    about: str
    verdict: str
    reason: str

    @property
    def meaning(self) -> str:
        """The verdict in plain words."""
        return IN_PLAIN_WORDS[self.verdict]


def promises(about: RunInfo) -> list[Promise]:
    """A verdict for each promise; older outputs have one for all."""
    verdicts = about.verdicts or {"links": {"verdict": about.verdict, "reason": about.reason}}
    return [
        Promise(PROMISED.get(name, name), each["verdict"], each["reason"].rstrip("."))
        for name, each in verdicts.items()
    ]
