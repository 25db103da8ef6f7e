"""The tests' own colony, and where real movies are.

Three frames; every letter is a cell, `a` is label 1, `b` is 2, and so on:

    frame 0              frame 1              frame 2
    ............         ............         ............
    .aa......bb.         .aa.....cc..         .aa..c..dd..
    .aa......bb.         .aa.....cc..         .aa..c..dd..
    ............         ............         ............
    .....c......         .....b......         .....b......
    .....c......         .....b..d...         ............

Cell 1 stays. Cell 2 of frame 0 becomes 3 in frame 1, and 4 in frame 2; cell 3 becomes 2. Cell 4 of frame 1 appears and
is lost again; cell 3 of frame 2 is new.
"""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie

from .browser import browser, screenshot, visit

__all__ = ["browser", "screenshot", "visit"]  # fixtures of a real browser, for any test


def draw(picture: str) -> np.ndarray:
    """Turn a picture of letters into labels."""
    rows = [line.strip() for line in picture.strip().splitlines()]
    return np.array([[0 if c == "." else ord(c) - ord("a") + 1 for c in row] for row in rows], dtype=np.uint16)


COLONY = [
    draw("""
    ............
    .aa......bb.
    .aa......bb.
    ............
    .....c......
    .....c......
    """),
    draw("""
    ............
    .aa.....cc..
    .aa.....cc..
    ............
    .....b......
    .....b..d...
    """),
    draw("""
    ............
    .aa..c..dd..
    .aa..c..dd..
    ............
    .....b......
    ............
    """),
]


@pytest.fixture(autouse=True, scope="session")
def listen_to_control_c() -> None:
    """A shell's background jobs ignore Ctrl-C, and their children inherit that: the tests of it would never end."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def colony() -> Movie:
    """The colony above."""
    return Movie(COLONY, name="colony")


@pytest.fixture
def data() -> Path:
    """The folder of real movies; the test is skipped where there is none."""
    folder = os.environ.get("DUNNO_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs real movies: set DUNNO_DATA to a folder with Fluo-N2DL-HeLa, iPSC-07 and Cglut-2min")
    return Path(folder)
