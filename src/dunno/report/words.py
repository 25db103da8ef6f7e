"""What was run, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from dunno import rooms
from dunno.errors import InputError
from dunno.runs.numbers import count, ordinal, percent
from dunno.types import RunInfo


def what_was_run(about: RunInfo, n_frames: int) -> str:
    """Paragraphs about the movie, the tracker and its probabilities."""
    return "".join(f"<p>{sentence}</p>" for sentence in (_movie(about, n_frames), _tracker(about), _calibration(about)))


def without_folders(text: str, about: RunInfo | None = None) -> str:
    """The text with paths cut down to their last two parts: a page may be sent to anybody.

    Example:
        >>> without_folders("masks from /home/ada/movies/HeLa/01_ST/SEG; there are no images")
        'masks from 01_ST/SEG; there are no images'
    """
    known = [] if about is None else [about.movie_path, about.masks_path, about.mask_source]
    for path in sorted(filter(None, known), key=len, reverse=True):
        if Path(path).is_absolute():
            text = text.replace(path, "/".join(Path(path).parts[-2:]))
    return re.sub(r"(?<![\w/:])/(?:[^\s/,;:\"']+/)+?([^\s/,;:\"']+(?:/[^\s/,;:\"']+)?)(?=[\s,;:\"')]|$)", r"\1", text)


def _movie(about: RunInfo, n_frames: int) -> str:
    step, frames = about.step, about.frames
    which = f"every {ordinal(step)}, from" if step > 1 else "from"
    taken = f", {about.interval:g} minutes apart" if about.interval else ""
    return (
        f"The movie <strong>{escape(about.movie)}</strong> was tracked over {count(n_frames)} frames "
        f"({which} {frames[0]} to {frames[-1]}{taken}; masks: {escape(without_folders(about.mask_source, about))}). "
        "A tracker links each cell to its <dfn>mother</dfn> one frame earlier. "
        "The mother of a cell that did not divide is the cell itself."
    )


def _tracker(about: RunInfo) -> str:
    gate = (
        "Every cell of the earlier frame could be the mother."
        if about.max_distance is None
        else f"Cells up to {about.max_distance:.3g} {'µm' if about.scale else 'pixels'} away could be the mother "
        f"({'a limit estimated from the movie' if about.max_distance_estimated else 'a limit that was given'})."
    )
    source = escape(without_folders(about.links or ""))
    made = f"Links are those of {source}; dunno judged them" if about.links else "Links were judged"
    return (
        f"{made} by the <em>{escape(about.cost)}</em> cost{_explained('costs', about.cost)}, and probabilities were made by "
        "method "
        f"<em>{escape(about.method)}</em>{_explained('methods', about.method)}. {gate}"
    )


def _explained(room: str, name: str) -> str:
    """The first line of a choice's own description; nothing for a user's own that is not here."""
    try:
        told = "" if ":" in name else rooms.summary(rooms.find(room, name)).rstrip(".")
    except InputError:
        return ""
    return f" ({escape(told[0].lower() + told[1:])})" if told else ""


def _calibration(about: RunInfo) -> str:
    calibration = about.calibration
    if not calibration:
        return "The probabilities were taken as the method gives them; nothing was fitted."
    on = f"the annotated movie {escape(str(calibration.get('data')))}"
    if calibration.get("fitted") == "self":
        on = "this movie itself, by skipping frames"
    if calibration.get("kind") == "temperature scaling":
        return f"The probabilities were scaled by a temperature of {calibration['temperature']:.3g}, fitted on {on}."
    if "parameters" not in calibration:
        return f"The probabilities were calibrated ({escape(str(calibration.get('kind')))}) on {on}."
    source = "this movie itself" if calibration["fitted"] == "self" else on
    model = "The probabilities come from a model of how cells move, divide, appear and get lost"
    if calibration.get("judges_masks"):
        return f"{model}, and of what masks hold, fitted to {source}.{_evidence(calibration)}{_gaps(calibration)}"
    be = "are assumed to " if calibration["problems"] else ""
    divide, lost = (percent(calibration["parameters"][name]) for name in ("p_divide", "p_lost"))
    return (
        f"{model}, fitted to {source}. "
        f"In it, {divide} of the cells {be}divide and {lost} {be and 'to '}get lost from one frame to the next."
        f"{_evidence(calibration)}{_gaps(calibration)}"
    )


def _evidence(calibration: Mapping[str, Any]) -> str:
    """What spoke beside places, and why."""
    told = (calibration.get("evidence") or {}).get("told")
    return f" What the model looked at: {escape(told)}." if told else ""


def _gaps(calibration: Mapping[str, Any]) -> str:
    """Whether links may skip frames."""
    longest = calibration.get("max_gap")
    if not longest:
        return ""
    parameters = calibration["parameters"]
    begins, ends = parameters["p_missed"], 1 - parameters["stays_missed"]
    missed = percent(begins / (begins + ends))
    return (
        f" In a frame, {missed} of the cells have no mask; links may skip {count(longest)} frame{'s' * (longest > 1)}."
    )


MEANINGS = {
    "supported": "Of the links that are called 90 % sure, about 90 % should be right. Tested by skipping frames: {reason}. "
    "The test cannot see errors that are made with and without the skipped frames alike.",
    "untested": "Whether 90 % sure means 90 % right could not be tested: {reason}. "
    "The order still helps: look at the links with the lowest probabilities first.",
    "contradicted": "90 % sure does not mean 90 % right here, and the expected numbers of wrong links below may be far off: "
    "{reason}. The order still helps: look at the links with the lowest probabilities first.",
}


def verdict(about: RunInfo) -> tuple[str, str]:
    """The verdict on the probabilities in one word, and what it means."""
    word = about.verdict
    if word == "supported" and about.fitted_on == "truth":
        return word, f"Of the links that are called 90 % sure, about 90 % should be right: {about.reason}."
    return word, MEANINGS[word].format(reason=about.reason.rstrip("."))


def parameters(about: RunInfo) -> list[tuple[str, str]]:
    """Everything that is needed to do it again."""
    return [
        (name, without_folders(json.dumps(value, ensure_ascii=False), about))
        for name, value in about.without_frames.items()
    ]
