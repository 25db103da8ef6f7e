"""From a report to the review: an output has a port of its own, at which `dunno review` serves it unless somebody else has it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FIRST_PORT, PORTS = 20_000, 12_000
"""Where no system takes ports for its own connections."""


def fingerprint(about: Mapping[str, Any]) -> str:
    """What tells one tracking from another: a hash of its parameters as they were written."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]


def port_of(about: Mapping[str, Any]) -> int:
    """The port of an output: the same on every machine, and wherever it is moved to."""
    return FIRST_PORT + int(fingerprint(about), 16) % PORTS


@dataclass(frozen=True)
class ReviewAddress:
    """Where and how cells of an output are decided on."""

    port: int  # Of its review

    def address(self, frame: int, label: int) -> str:
        """A cell's place in a review that is running."""
        return f"http://127.0.0.1:{self.port}/at/{frame}:{label}"

    def anchor(self, frame: int, label: int, inside: str, tab: bool = True) -> str:
        """A link to it; without a tab stop where there may be hundreds of them."""
        more = "" if tab else ' tabindex="-1"'
        return f'<a href="{self.address(frame, label)}" target="_blank" rel="noopener noreferrer"{more}>{inside}</a>'
