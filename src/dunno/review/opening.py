"""Opening an output for review: as it was written, by one window at a time, with the log that belongs to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dunno.errors import InputError, OutputError
from dunno.io.output import read_written_run
from dunno.io.writing import REVIEW_FILE
from dunno.report.review_address import fingerprint
from dunno.types import RunInfo
from dunno.work.lock import Lock

LOCK_FILE = "review.lock"


def written(folder: Path) -> dict[str, Any]:
    """An output's parameters as they were written."""
    found: dict[str, Any] = read_written_run(folder)["parameters"]
    return found


def user() -> str:
    """The name of whoever runs this."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a machine that does not know its own user
        return "unknown"


def alone(folder: Path, who: str) -> Lock:
    """Keep a second window from reviewing the same output."""
    refused = f"{folder}: is being reviewed already, by {{holder}}; use that window, or close it first"
    try:
        return Lock(folder / LOCK_FILE, who, refused)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror}); a review keeps its log there") from None


def header_of(folder: Path, about: RunInfo, found: dict[str, Any] | None) -> dict[str, Any]:
    """The first line of the output's log; refused where the log that was found is another tracking's."""
    # a newer dunno may know more than when the review was begun
    header = {"review_of": fingerprint(written(folder)), "dunno": about.version, "movie": about.movie}
    if found is not None and found.get("review_of") != header["review_of"]:
        raise InputError(
            f"{folder / REVIEW_FILE}: is the review of another tracking; move it away to begin anew, "
            "or put the tracking back that it belongs to"
        )
    return header
