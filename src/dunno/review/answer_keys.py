"""What can be answered with one key: the possible mothers, near and across gaps, and having none. Every face shows these."""

from __future__ import annotations

from typing import Any

from dunno.review.decisions import MOTHER, NO_MOTHER, Decision

ANSWER_KEYS = "123456789"


def choices(view: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers to a question, each with its key, words, probability and the decision that it records."""
    frame, label = view["frame"], view["label"]
    mother = (view["reported_frame"], view["reported_label"])
    found = [
        {
            "words": f"cell {each['label']}",
            "probability": each["probability"],
            "decision": Decision(MOTHER, frame, label, each["label"]),
            "reported": mother == (view["mother_frame"], each["label"]),
            "far": False,
        }
        for each in view["candidates"]
    ]
    found += [
        {
            "words": f"cell {each['label']} of frame {each['mother_frame']}",
            "probability": each["probability"],
            "decision": Decision(MOTHER, frame, label, each["label"], each["mother_frame"]),
            "reported": mother == (each["mother_frame"], each["label"]),
            "far": True,
        }
        for each in view["far"]
    ]
    shown = [{"key": key, **each} for key, each in zip(ANSWER_KEYS, found, strict=False)]
    none = {
        "key": "0",
        "words": "no mother",
        "probability": view["no_mother"],
        "decision": Decision(NO_MOTHER, frame, label),
        "reported": mother == (None, None),
        "far": False,
    }
    return [*shown, none]


def as_data(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same as plain data."""
    return [{**each, "decision": each["decision"].to_dict()} for each in found]
