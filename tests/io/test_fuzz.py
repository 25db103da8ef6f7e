"""Whatever lies on a disk is read, or refused in one clear line; nothing else happens.

Every reader's example is damaged at random, and what becomes of it is fine (it is read), clean (an `InputError` of one short line)
or bad (anything else). `make fuzz` tries many more; `DUNNO_FUZZ` says how many per form, and `DUNNO_FUZZ_SEED` where to begin.
"""

import os
import resource
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from dunno import Movie, Tracker, read
from dunno.errors import InputError
from dunno.io import read_links
from dunno.io.block_files import linked_blocks
from dunno.io.cell_files import StoredCells
from dunno.io.links import sources
from dunno.io.output import read_run, reopen_movie
from dunno.io.readers import readers
from dunno.review import Decision, Review
from dunno.review.log import read_log
from dunno.runs.run import track_into

from ..conftest import COLONY

MUTATIONS = int(os.environ.get("DUNNO_FUZZ", 40))
SEED = int(os.environ.get("DUNNO_FUZZ_SEED", 0))
WORDS = [
    b"",
    b"0",
    b"-1",
    b"nan",
    b"inf",
    b"1e308",
    b"9" * 30,
    b"null",
    b"[]",
    b"{}",
    b'""',
    b"[" * 20_000,
    b"\xff",
    b"\0",
]
MEMORY = 4 << 30

Use = Callable[[Path, Movie], object]


def movie_at(path: Path, colony: Movie) -> None:
    movie = read(path)
    for t in range(min(len(movie), 3)):
        movie.masks(t) if movie.has_masks else movie.detections(t)
        if movie.has_images:
            movie.images(t)


def output_at(path: Path, colony: Movie) -> None:
    """Everything that opening an output reads, short of its masks."""
    read_run(path)
    list(linked_blocks(path))
    cells = StoredCells(path / "cells")
    for t in range(3):
        cells[t], cells.digest(t)
    reopen_movie(path)
    read_log(path)
    with Review.open(path, read_only=True) as review:
        review.next()


def example_output(folder: Path, colony: Movie) -> Path:
    masks = import_module("tests.io.readers.test_folder").example(folder / "masks")
    track_into(Tracker(method="JP", calibration=None), read(masks), folder / "out")
    with Review.open(folder / "out", who="ada") as review:
        question = review.next()
        assert question is not None
        review.answer(Decision("no mother", question.frame, question.label), question)
    return folder / "out"


def example_of(room: str, module: str) -> Callable[[Path, Movie], Path]:
    own = import_module(f"tests.io.{room}.test_{module}").example
    return (lambda folder, colony: own(folder)) if room == "readers" else own


def _module(thing: object) -> str:
    return type(thing).__module__.rpartition(".")[2]


FORMS: dict[str, tuple[Callable[[Path, Movie], Path], Use]] = {
    **{f"movie {each.name}": (example_of("readers", _module(each)), movie_at) for each in readers()},
    **{f"links {each.name}": (example_of("links", _module(each)), read_links) for each in sources()},
    "output": (example_output, output_at),
}


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """A file's content, changed in a few places in one of many ways."""
    for _ in range(int(rng.integers(1, 4))):
        at, length = int(rng.integers(0, len(content) + 1)), int(rng.integers(1, 9))
        word = WORDS[rng.integers(len(WORDS))] if rng.random() < 0.5 else rng.bytes(length)
        ways = [
            content[:at],  # cut off
            content[at:],
            content[:at] + word + content[at + length :],  # replaced
            content[:at] + word + content[at:],  # put in
            content[:at] + content[at + length :],  # left out
            content[:at] + content[at : at + 200] + content[at:],  # twice
            _other_number(content, word, rng),
        ]
        content = ways[rng.integers(len(ways))]
    return content


def _other_number(content: bytes, word: bytes, rng: np.random.Generator) -> bytes:
    digits = np.flatnonzero(np.isin(np.frombuffer(content, np.uint8), np.frombuffer(b"0123456789", np.uint8)))
    if not len(digits):
        return word
    at = int(rng.choice(digits))
    return content[:at] + word + content[at + 1 :]


@contextmanager
def damage(folder: Path, rng: np.random.Generator) -> Iterator[str]:
    """Damage one file of a folder, or leave it out, for a while; says what was done."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path = files[rng.integers(len(files))]
    content = path.read_bytes()
    if rng.random() < 0.05:
        path.unlink()
    else:
        path.write_bytes(damaged(content, rng))
    try:
        yield str(path.relative_to(folder))
    finally:
        path.write_bytes(content)


@contextmanager
def little_memory() -> Iterator[None]:
    """A file that claims to be huge must not take the machine down with it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def outcome(use: Use, path: Path, colony: Movie) -> str:
    """`fine`, `clean`, or what went wrong."""
    try:
        with warnings.catch_warnings(), little_memory():
            warnings.simplefilter("ignore")
            use(path, colony)
    except InputError as error:
        text = " ".join(str(error).split(" "))
        return "clean" if 0 < len(text) < 1000 and "\n" not in text else f"not one short line: {text[:300]}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "fine"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited by Linux's means")
@pytest.mark.timeout(0)
@pytest.mark.parametrize("form", FORMS)
def test_damaged_files_are_read_or_refused_in_one_clear_line(form: str, tmp_path: Path) -> None:
    make, use = FORMS[form]
    colony = Movie(COLONY, name="colony")
    whole = make(_made(tmp_path / "whole"), colony)
    assert outcome(use, whole, colony) == "fine"
    counted: Counter[str] = Counter()
    bad = []
    for n in range(MUTATIONS):
        with damage(whole if whole.is_dir() else whole.parent, np.random.default_rng([SEED, n])) as changed:
            found = outcome(use, whole, colony)
        counted[found if found in ("fine", "clean") else "bad"] += 1
        if found not in ("fine", "clean"):
            bad.append(f"mutation {n} of {changed}: {found[:300]}")
    assert counted["clean"] > 0
    assert not bad, f"{form}: {dict(counted)}\n" + "\n".join(bad[:20])


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
