"""Whatever lies on a disk is read, or refused in one clear line; nothing else happens.

Every form's example is damaged at random, and what becomes of it is fine (it is read), clean (an `InputError` of one short line)
or bad (anything else). `make fuzz` goes on for longer: `DUNNO_FUZZ_MINUTES` are shared by the forms that are chosen (`-k`), and
`DUNNO_FUZZ_SEED` says where to begin.
"""

import faulthandler
import logging
import os
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from dunno.errors import InputError

from .fuzz_forms import FORMS, Damage, Form

MUTATIONS = 30
"""Of each form, where there are no minutes."""

MINUTES = float(os.environ.get("DUNNO_FUZZ_MINUTES", 0))
SEED = int(os.environ.get("DUNNO_FUZZ_SEED", 0))
WORDS = [
    *(
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
    ),
    *(b"\xff" * 4, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\1\0", b"\0\1\0\0", b"\xff" * 8),
]
MEMORY = 4 << 30
ENDLESS = 300.0
"""Seconds after which reading one file is taken for endless; libraries of others cannot be stopped, so the process ends."""


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """A file's content, changed in a few places in one of many ways."""
    for _ in range(int(rng.integers(1, 4))):
        at, length = int(rng.integers(0, len(content) + 1)), int(rng.integers(1, 9))
        word = WORDS[rng.integers(len(WORDS))] if rng.random() < 0.5 else rng.bytes(length)
        ways = [
            content[:at],  # cut off
            content[at:],
            content[:at] + word + content[at + len(word) :],  # replaced
            content[:at] + word + content[at + length :],
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
def damage(folder: Path, rng: np.random.Generator, change: Damage) -> Iterator[str]:
    """Damage one file of a folder, or leave it out, for a while; says what was done."""
    path = folder
    while path.is_dir():  # what lies in large folders is not looked at more often
        inside = sorted(path.iterdir())
        path = inside[rng.integers(len(inside))]
    content = path.read_bytes()
    if rng.random() < 0.05:
        path.unlink()
    else:
        path.write_bytes(change(content, rng))
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


def outcome(form: Form, path: Path) -> str:
    """`fine`, `clean`, or what went wrong."""
    faulthandler.dump_traceback_later(ENDLESS, exit=True, file=sys.__stderr__)
    try:
        with warnings.catch_warnings(), little_memory():
            warnings.simplefilter("ignore")
            form.use(path)
    except InputError as error:
        text = " ".join(str(error).split(" "))
        return "clean" if 0 < len(text) < 1000 and "\n" not in text else f"not one short line: {text[:300]}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        faulthandler.cancel_dump_traceback_later()
    return "fine"


@pytest.fixture(autouse=True)
def no_logs() -> Iterator[None]:
    """What libraries log about damaged files would fill the memory."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited by Linux's means")
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", FORMS)
def test_damaged_files_are_read_or_refused_in_one_clear_line(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    form = FORMS[name]
    (tmp_path / "whole").mkdir()
    whole = form.make(tmp_path / "whole")
    assert outcome(form, whole) == "fine"
    folder = next(path for path in (whole, *whole.parents) if path.is_dir())
    counted: Counter[str] = Counter()
    bad = []
    end = time.monotonic() + 60 * MINUTES / len(request.session.items)
    for n in count():
        if n >= MUTATIONS if not MINUTES else time.monotonic() > end:
            break
        with damage(folder, np.random.default_rng([SEED, n]), form.damage or damaged) as changed:
            found = outcome(form, whole)
        counted[found if found in ("fine", "clean") else "bad"] += 1
        if found not in ("fine", "clean"):
            bad.append(f"mutation {n} of {changed}: {found[:300]}")
    if MINUTES:
        sys.stdout.write(f"{name}: {counted.total():,} mutations, {dict(counted)}\n")
    assert counted["clean"] > 0
    assert not bad, f"{name}: {dict(counted)}\n" + "\n".join(bad[:20])
