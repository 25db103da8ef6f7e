"""JSON that is whole, and says what nobody would write: other types, other numbers, names left out or new."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

WRONG = (
    *(None, True, False, 0, -1, 3, 2.5, -0.5, 1e300, -1e300, 10**400, float("nan"), float("inf")),
    *("", "many", "7", "subprocess:Popen", [], [1], [[2.0, 3]], {}, {"a": 1}, ["word"]),
)
"""What is put in the place of something."""


def misstated(content: bytes, rng: np.random.Generator) -> bytes:
    """A JSON file with one to three of its values exchanged, left out, doubled or named otherwise."""
    document = json.loads(content)
    for _ in range(int(rng.integers(1, 4))):
        if places := list(_places(document)):
            _change(*places[rng.integers(len(places))], rng)
    return json.dumps(document).encode()


def _change(inside: Any, key: Any, rng: np.random.Generator) -> None:
    way, value = int(rng.integers(10)), inside[key]
    if way < 6:
        inside[key] = WRONG[rng.integers(len(WRONG))]
    elif way == 6:
        del inside[key]
    elif way == 7:
        inside[key] = [value, value]
    elif way == 8:
        inside[key] = {"value": value}
    elif isinstance(inside, dict):
        inside["odd"] = value
    else:
        inside.append(value)


def _places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every value of a document: what it is in, and its name or number there."""
    named = isinstance(document, dict)
    pairs = document.items() if named else enumerate(document) if isinstance(document, list) else ()
    for key, value in pairs:
        yield document, key
        yield from _places(value)
