"""Cellpose's `_seg.npy`: a pickled dictionary, of which the masks are read and nothing else is made.

A pickle is a program for a machine with a stack. Here its steps are followed with names in place of things: nothing that it names
is looked up, called or filled.
"""

from __future__ import annotations

import mmap
import pickletools
import re
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any, Literal, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from dunno.errors import MovieError
from dunno.io.array_frames import ArrayFrames
from dunno.io.images import one_line

MOST_PICKLE_STEPS = 2_000_000
"""More than any record of a person's work in a program takes; as many are followed in seconds, within 300 MB."""

SEG = "_seg.npy"
MOST_AXES = 8

NUMBER_DTYPES = re.compile("[biuf][1248]")
"""How a pickle calls a kind of numbers; objects, texts and records are none."""

ARRAY, FROM_BYTES = "multiarray._reconstruct", "numeric._frombuffer"
"""What makes an array of NumPy's, as `numpy.core` or `numpy._core` has it: given its state, or all at once."""


def read_seg_masks(path: Path) -> NDArray[Any]:
    """The masks in one `_seg.npy`; nothing else of it is made."""
    try:
        with path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        version = npy.read_magic(content)
        shape, _, kind = npy.read_array_header_1_0(content) if version == (1, 0) else npy.read_array_header_2_0(content)
        if not kind.hasobject or shape != ():
            raise ValueError(f"an array of {kind} and shape {shape}")
        return _array(_entries(describe(content))["masks"])
    except FileNotFoundError:
        raise MovieError(f"{path}: there is no such file") from None
    except Exception as error:  # a damaged pickle fails in any way
        message = f"{type(error).__name__}: {one_line(error)}" if isinstance(error, KeyError) else one_line(error)
        raise MovieError(f"{path}: cannot be read as Cellpose's _seg.npy ({message}); is it complete?") from None


def _entries(thing: Any) -> dict[str, Any]:
    """What the dictionary holds that is the only item of an array of objects."""
    match thing:
        case Made(state=(_, (), _, _, [dict(entries)])):
            return entries
    raise ValueError("it holds no dictionary")


def _array(thing: Any) -> NDArray[Any]:
    """An array of numbers that is as large as it says."""
    match thing:
        case Made(Name(text), _, (_, tuple(shape), kind, is_fortran, data)) if text.endswith(ARRAY):
            order: Literal["C", "F"] = "F" if is_fortran is True else "C"
        case Made(Name(text), (data, kind, tuple(shape), "C" | "F" as order)) if text.endswith(FROM_BYTES):
            pass
        case Made(Name(text)):
            raise ValueError(f"its masks are made by {text:.60}; expected an array of numbers")
        case _:
            raise ValueError(f"its masks are of type {type(thing).__name__}; expected an array of numbers")
    numbers, raw = _kind(kind), _raw(data)
    sizes = [size for size in shape if type(size) is int and 0 <= size <= len(raw)]
    if len(sizes) != len(shape) or len(shape) > MOST_AXES or prod(sizes) * numbers.itemsize != len(raw):
        raise ValueError(f"its masks have {len(raw):,} bytes, which is not what their shape needs")
    return np.frombuffer(raw, numbers).reshape(sizes, order=order).copy()  # the file may change


def _kind(thing: Any) -> np.dtype[Any]:
    match thing:
        case Made(Name("numpy.dtype"), (str(code), *_), (_, "<" | ">" | "|" | "=" as order, None, None, None, *_)):
            if NUMBER_DTYPES.fullmatch(code):
                return np.dtype(f"{order}{code}")
    raise ValueError("its masks are no array of numbers")


def _raw(thing: Any) -> memoryview | bytes:
    """The bytes of an array; before Python had them, they were written as text."""
    match thing:
        case memoryview():
            return thing
        case Made(Name("_codecs.encode"), (str(text), "latin1")):
            return text.encode("latin1")
        case Made(Name("builtins.bytearray"), (memoryview() as raw,)):
            return raw
    raise ValueError("its masks have no bytes")


class CellposeStack(ArrayFrames):
    """Frames of a movie that Cellpose segmented as one stack."""

    def open_array(self) -> Any:
        """The masks (T, Y, X)."""
        masks = read_seg_masks(self.path)
        if masks.ndim == 2:
            raise MovieError(f"{self.path}: holds the masks of one frame; give the folder with all of them")
        return masks


@dataclass(frozen=True)
class Name:
    """Something of a module, which is not looked up."""

    text: str


@dataclass(eq=False)
class Made:
    """Something that would be made: by what, from what, and with which state; each is a description itself."""

    by: Any
    of: Any
    state: Any = None


def describe(content: mmap.mmap) -> Any:
    """What the pickle at a file's place says; bytes that it holds stay in the file, behind a memoryview."""
    stack: list[Any] = []
    below: list[list[Any]] = []  # what lies under each mark
    memo: dict[int, Any] = {}
    view = memoryview(content)
    steps: Any = pickletools.genops(cast("IO[bytes]", content))
    for n, (opcode, argument, _) in enumerate(steps):
        name, above = opcode.name, []
        if name not in PICKLE_STEPS or n >= MOST_PICKLE_STEPS:
            raise ValueError(
                f"a pickle with the step {name}" if n < MOST_PICKLE_STEPS else f"more than {MOST_PICKLE_STEPS:,} steps"
            )
        n_taken, is_marked, step = PICKLE_STEPS[name]
        if is_marked:
            above, stack = stack, below.pop()
        if len(stack) < n_taken:
            raise ValueError(f"a pickle whose step {name} finds nothing")
        taken = stack[len(stack) - n_taken :]
        del stack[len(stack) - n_taken :]
        if name == "MARK":
            below.append(stack)
            stack = []
        elif name in PUT:
            memo[len(memo) if argument is None else argument] = taken[0]
        elif name in GET:
            taken = [memo[argument]]
        elif name == "GLOBAL":
            taken = argument.split(" ")
        elif isinstance(argument, bytes | bytearray):
            taken = [view[content.tell() - len(argument) : content.tell()]]
        elif name in PLAIN:
            taken = [argument]
        stack += step(taken, above)
    return stack.pop()


Step = Callable[[list[Any], list[Any]], list[Any]]
PUT, GET = ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), ("GET", "BINGET", "LONG_BINGET")
PLAIN = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
    *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
}


def _same(taken: list[Any], above: list[Any]) -> list[Any]:
    return taken


def _none(taken: list[Any], above: list[Any]) -> list[Any]:
    return []


def _extended(taken: list[Any], above: list[Any]) -> list[Any]:
    if type(taken[0]) is list:
        taken[0].extend(above)
    return taken[:1]


def _entered(taken: list[Any], above: list[Any]) -> list[Any]:
    """Only texts are names of entries; what else a dictionary may hold is left out."""
    if type(taken[0]) is dict:
        taken[0].update((key, value) for key, value in zip(above[::2], above[1::2], strict=True) if type(key) is str)
    return taken[:1]


def _named(taken: list[Any], above: list[Any]) -> list[Any]:
    if not all(type(part) is str for part in taken):
        raise ValueError("a pickle that wants something without a name")
    return [Name(".".join(taken))]


def _given_state(taken: list[Any], above: list[Any]) -> list[Any]:
    if isinstance(taken[0], Made):
        taken[0].state = taken[1]
    return taken[:1]


PICKLE_STEPS: dict[str, tuple[int, bool, Step]] = {
    **dict.fromkeys((*PLAIN, *GET), (0, False, _same)),
    **dict.fromkeys((*PUT, "STOP"), (1, False, _same)),
    **dict.fromkeys(("PROTO", "FRAME", "MARK"), (0, False, _none)),
    "POP": (1, False, _none),
    "POP_MARK": (0, True, _none),
    "DUP": (1, False, lambda taken, above: taken * 2),
    "NONE": (0, False, lambda taken, above: [None]),
    "NEWTRUE": (0, False, lambda taken, above: [True]),
    "NEWFALSE": (0, False, lambda taken, above: [False]),
    **{f"TUPLE{n}": (n, False, lambda taken, above: [tuple(taken)]) for n in (1, 2, 3)},
    "TUPLE": (0, True, lambda taken, above: [tuple(above)]),
    "EMPTY_TUPLE": (0, False, lambda taken, above: [()]),
    "EMPTY_LIST": (0, False, lambda taken, above: [[]]),
    "EMPTY_DICT": (0, False, lambda taken, above: [{}]),
    "EMPTY_SET": (0, False, lambda taken, above: [Made(Name("set"), ())]),
    "LIST": (0, True, lambda taken, above: [above]),
    "DICT": (0, True, lambda taken, above: _entered([{}], above)),
    "FROZENSET": (0, True, lambda taken, above: [Made(Name("frozenset"), ())]),
    "APPEND": (2, False, lambda taken, above: _extended(taken, taken[1:])),
    "APPENDS": (1, True, _extended),
    "SETITEM": (3, False, lambda taken, above: _entered(taken, taken[1:])),
    "SETITEMS": (1, True, _entered),
    "ADDITEMS": (1, True, _same),
    "GLOBAL": (0, False, _named),
    "STACK_GLOBAL": (2, False, _named),
    **dict.fromkeys(("REDUCE", "NEWOBJ"), (2, False, lambda taken, above: [Made(*taken)])),
    "NEWOBJ_EX": (3, False, lambda taken, above: [Made(*taken[:2])]),
    "BUILD": (2, False, _given_state),
}
"""What each step takes from the stack, whether all above the latest mark too, and what it puts there instead."""
