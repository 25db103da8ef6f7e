"""How slowly one could have imaged, by what skipping frames says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def imaging_sentence(test: Mapping[str, Any], links: int, expected_wrong: float) -> str:
    """What half the frame rate would have cost.

    Example:
        >>> imaging_sentence({"links": 1000, "composed": 65.0, "step": 2}, 25140, 40.2)
        'at half the frame rate about 817 of 12,570 links would be wrong; now 40 of 25,140'
    """
    wrong = test["composed"] / max(test["links"], 1) * links / test["step"]
    return (
        f"at half the frame rate about {wrong:,.0f} of {links / test['step']:,.0f} links would be wrong; "
        f"now {expected_wrong:,.0f} of {links:,}"
    )
