"""What was run, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from dunno import rooms
from dunno.errors import InputError
from dunno.report.numbers import count, percent

ORDINALS = {1: "st", 2: "nd", 3: "rd"}


def what_was_run(about: Mapping[str, Any], n_frames: int) -> str:
    """Paragraphs about the movie, the tracker and its probabilities."""
    return "".join(f"<p>{sentence}</p>" for sentence in (_movie(about, n_frames), _tracker(about), _calibration(about)))


def _movie(about: Mapping[str, Any], n_frames: int) -> str:
    step, frames = about["step"], about["frames"]
    which = f"every {ordinal(step)}, from" if step > 1 else "from"
    taken = f", {about['interval']:g} minutes apart" if about["interval"] else ""
    return (
        f"The movie <strong>{escape(about['movie'])}</strong> was tracked over {count(n_frames)} frames "
        f"({which} {frames[0]} to {frames[-1]}{taken}; masks: {escape(about['mask_source'])}). "
        "A tracker links each cell to its <dfn>mother</dfn> one frame earlier. "
        "The mother of a cell that did not divide is the cell itself."
    )


def ordinal(number: int) -> str:
    """A number as a place in a row.

    Example:
        >>> ordinal(2), ordinal(10), ordinal(11), ordinal(23)
        ('2nd', '10th', '11th', '23rd')
    """
    teens = 10 < number % 100 < 14
    return f"{number}{'th' if teens else ORDINALS.get(number % 10, 'th')}"


def _tracker(about: Mapping[str, Any]) -> str:
    gate = (
        "Every cell of the earlier frame could be the mother."
        if about["max_distance"] is None
        else f"Cells up to {about['max_distance']:.3g} {'units' if about['scale'] else 'pixels'} away could be the mother "
        f"({'a limit estimated from the movie' if about['max_distance_estimated'] else 'a limit that was given'})."
    )
    made = f"Links are those of {escape(about['links'])}; dunno judged them" if about["links"] else "Links were judged"
    return (
        f"{made} by the <em>{escape(about['cost'])}</em> cost{_explained('costs', about['cost'])}, and probabilities were made by "
        "method "
        f"<em>{escape(about['method'])}</em>{_explained('methods', about['method'])}. {gate}"
    )


def _explained(room: str, name: str) -> str:
    """The first line of a choice's own description; nothing for a user's own that is not here."""
    try:
        told = rooms.summary(rooms.find(room, name)).rstrip(".")
    except InputError:
        return ""
    return f" ({escape(told[0].lower() + told[1:])})" if told else ""


def _calibration(about: Mapping[str, Any]) -> str:
    calibration = about["calibration"]
    if not calibration:
        return "The probabilities were taken as the method gives them; nothing was fitted."
    on = f"the annotated movie {escape(str(calibration.get('data')))}"
    if calibration.get("kind") == "temperature scaling":
        return f"The probabilities were scaled by a temperature of {calibration['temperature']:.3g}, fitted on {on}."
    if "parameters" not in calibration:
        return f"The probabilities were calibrated ({escape(str(calibration.get('kind')))}) on {on}."
    source = "this movie itself" if calibration["fitted"] == "self" else on
    be = "" if calibration.get("trusted", True) else "are assumed to "
    divide, lost = (percent(calibration["parameters"][name]) for name in ("p_divide", "p_lost"))
    return (
        f"The probabilities come from a model of how cells move, divide, appear and get lost, fitted to {source}. "
        f"In it, {divide} of the cells {be}divide and {lost} {be and 'to '}get lost from one frame to the next."
    )


def verdict(about: Mapping[str, Any]) -> tuple[str, str, list[str]]:
    """Calibrated or "not calibrated", what that means, and what speaks against it."""
    problems = [str(problem) for problem in (about["calibration"] or {}).get("problems", ())]
    if about["calibrated"]:
        return "calibrated", "Of the links that are called 90 % sure, about 90 % should be right.", problems
    if problems:
        why = "The model that was fitted to this movie cannot explain it, so"
    else:
        why = "Nothing has made these probabilities agree with how often links are right, so"
    return (
        "not calibrated",
        f"{why} 90 % sure need not mean 90 % right, and the expected numbers of wrong links below may be far off. "
        "The order still helps: look at the links with the lowest probabilities first.",
        problems,
    )


def parameters(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Everything that is needed to do it again."""
    return [(name, json.dumps(value, ensure_ascii=False)) for name, value in about.items() if name != "frames"]
