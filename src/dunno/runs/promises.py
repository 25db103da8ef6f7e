"""What an output promises, and what tests say of each promise: links, divisions, masks."""

from __future__ import annotations

from typing import NamedTuple

from dunno.types import RunInfo

PROMISED = {"links": "links", "divisions": "divisions", "segments": "masks"}
"""By their names in `run.json`, what promises are about."""

IN_PLAIN_WORDS = {
    "supported": "what is called 90 % sure is right about 90 times in 100",
    "untested": "whether 90 % sure means right 90 times in 100 could not be tested here",
    "contradicted": "do not take these probabilities at their word; they still say what to look at first",
}


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
