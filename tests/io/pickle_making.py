"""Pickles that nobody means well with: the steps of honest and of evil ones, cut apart and put together at random."""

import io
import pickle
import pickletools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

HEADER = io.BytesIO()
npy.write_array_header_1_0(HEADER, {"descr": "|O", "fortran_order": False, "shape": ()})
WORDS = [0, 1, 2, 7, 255, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64 - 1]


class Call:
    """Pickles as a call, and maybe a state that is given to what comes back."""

    def __init__(self, *made: Any) -> None:
        self.made = made

    def __reduce__(self) -> tuple[Any, ...]:
        return self.made


def evil() -> dict[str, Any]:
    """Ways to an object at an address of one's choice, and to running something."""
    address, objects = b"\x41" * 8, np.dtype("O")
    fields = Call(np.dtype, ("V8", False, True), (3, "|", None, ("f",), {"f": (objects, 0)}, 8, 1, 0))
    of_two = Call(np.dtype, ("V16", False, True), (3, "|", (objects, (2,)), None, None, 16, 1, 0))
    reconstruct = np.zeros(1).__reduce__()[0]
    from_buffer = np.zeros(1).__reduce_ex__(5)[0]
    empty = (np.ndarray, (0,), b"b")
    return {
        "over bytes": Call(np.ndarray, ((), objects, address)),
        "a field": Call(np.ndarray, ((1,), fields, address)),
        "two in one": Call(np.ndarray, ((1,), of_two, address * 2)),
        "a state": Call(reconstruct, empty, (1, (1,), objects, False, address)),
        "a state with fields": Call(reconstruct, empty, (1, (1,), fields, False, address)),
        "from a buffer": Call(from_buffer, (address, objects, (1,), "C")),
        "a scalar": Call(type(np.float64(0)).__reduce__(np.float64(0))[0], (fields, address)),
        "a file": Call(Path.touch, (Path("harm"),)),
        "larger than said": Call(reconstruct, empty, (1, (2**31, 2**33), np.dtype("u2"), False, address)),
    }


def seg_content(masks: Any) -> dict[str, Any]:
    """What Cellpose keeps."""
    return {
        "outlines": np.zeros((4, 4), np.uint16),
        "masks": masks,
        "chan_choose": [0, 0],
        "ismanual": np.zeros(3, bool),
        "manual_changes": [["time", "added mask", [[1, 2]]]],
        "filename": Path("im.tif"),
        "flows": [np.zeros((2, 2), np.uint8), None, [np.float32(0.5)]],
        "diameter": np.float64(30.0),
    }


def write_seg(path: Path, content: Any, protocol: int = 4) -> Path:
    """As NumPy saves an object, in any of pickle's protocols."""
    array = np.empty((), object)
    array[()] = content
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(HEADER.getvalue() + pickle.dumps(array, protocol=protocol))
    return path


def steps_of(content: bytes) -> list[bytes]:
    """A pickle, cut apart."""
    begins = [at for _, _, at in pickletools.genops(content)]
    return [content[a:b] for a, b in zip(begins, [*begins[1:], len(content)], strict=True)]


def library() -> list[list[bytes]]:
    """Pickles whose steps are mixed."""
    masks, itself = np.arange(32, dtype=np.uint16).reshape(2, 4, 4), []  # type: ignore[var-annotated]
    itself.append(itself)
    honest = [seg_content(each) for each in (masks, masks.T, masks.astype(">i4"), masks[:0], [masks, itself])]
    others = [seg_content(each) for each in evil().values()]
    found = []
    for content in honest + others:
        array = np.empty((), object)
        array[()] = content
        found += [steps_of(pickle.dumps(array, protocol=protocol)) for protocol in (2, 3, 4, 5)]
    return found


def mixed(pickles: list[list[bytes]], rng: np.random.Generator) -> bytes:
    """One of some pickles, with a few of its steps left out, doubled, changed, or taken from others."""
    steps = list(pickles[rng.integers(len(pickles))])
    for _ in range(int(rng.integers(1, 4))):
        at, length = int(rng.integers(len(steps))), int(rng.integers(1, 8))
        other = pickles[rng.integers(len(pickles))]
        begin = int(rng.integers(len(other)))
        part = other[begin : begin + length]
        alike = [step for step in other if step[:1] == steps[at][:1]] or part
        ways = [
            [*steps[:at], *steps[at + length :]],
            [*steps[:at], *part, *steps[at:]],
            [*steps[:at], *part, *steps[at + length :]],
            [*steps[:at], *steps[at : at + length] * 2, *steps[at + length :]],
            *([[*steps[:at], alike[rng.integers(len(alike))], *steps[at + 1 :]]] * 3),
            *([[*steps[:at], _other_argument(steps[at], rng), *steps[at + 1 :]]] * 3),
        ]
        steps = ways[rng.integers(len(ways))] or [b"."]
    return HEADER.getvalue() + b"".join(steps)


def _other_argument(step: bytes, rng: np.random.Generator) -> bytes:
    """A step with other numbers or texts behind its letter."""
    if len(step) == 1:
        return rng.bytes(1)
    size = min(8, len(step) - 1)
    word = int(rng.choice(np.array(WORDS, object))) % 256**size
    at = 1 if rng.random() < 0.5 else int(rng.integers(1, len(step) - size + 1))
    return step[:at] + word.to_bytes(size, "little") + step[at + size :]
