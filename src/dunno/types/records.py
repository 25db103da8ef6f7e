"""Records as JSON, and back by their annotations: what a file may hold is said once, where the record is declared."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import IntEnum
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from dunno.errors import InputError

MOST_THAT_FITS: dict[Any, Any] = {int: np.iinfo(np.int64).max, float: sys.float_info.max}
"""What the core's numbers hold."""


@dataclass(frozen=True)
class ValueRange:
    """Of an annotated number: which values it may have."""

    low: float
    high: float
    or_nan: bool = False

    def __str__(self) -> str:
        if self.high >= MOST_THAT_FITS[float]:
            return "a number above 0" if self.low > 0 else f"a number from {self.low:g}"
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class ReadLater:
    """Of an annotated record, which may be missing: where its kind is, imported when there is one to read."""

    module: str
    name: str

    @property
    def kind(self) -> Any:
        """The kind of record."""
        return getattr(import_module(self.module), self.name)


MaybeKnown = Annotated[float, ValueRange(-sys.float_info.max, sys.float_info.max, or_nan=True)]
"""A number that is NaN where nothing is known."""

Share = Annotated[float, ValueRange(0.0, 1.0)]
Positive = Annotated[float, ValueRange(sys.float_info.min, sys.float_info.max)]
NonNegative = Annotated[float, ValueRange(0.0, sys.float_info.max)]
ProperShare = Annotated[float, ValueRange(sys.float_info.min, 1 - sys.float_info.epsilon / 2)]
Size = Annotated[float, ValueRange(1e-100, 1e100)]
LogSize = Annotated[float, ValueRange(-200.0, 200.0)]
"""Of these logarithms, squares and exponentials are finite: neither none nor all, a size, rate or variance, and a size in nats."""

Dimensions = Annotated[int, ValueRange(2, 3)]
Count = Annotated[int, ValueRange(0, MOST_THAT_FITS[int])]


class OwnForm(ABC):
    """A record that files hold in another form than by its fields."""

    @abstractmethod
    def to_json(self) -> Any:
        """What files hold."""

    @classmethod
    @abstractmethod
    def of_json(cls, content: dict[str, Any], where: str) -> Any:
        """The reverse, `where` in a file it is."""


def to_json(value: Any) -> Any:
    """Records and mappings as dictionaries, tuples and arrays as lists; NaN, which JSON does not know, as null.

    A record may have a form of its own: `to_json`, and `of_json`, which is told where in the file it is.
    """
    if isinstance(value, OwnForm):
        return to_json(value.to_json())
    if isinstance(value, Mapping):
        return {key.name.lower() if isinstance(key, IntEnum) else key: to_json(each) for key, each in value.items()}
    if is_dataclass(value):
        return {each.name: to_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist())
    if isinstance(value, tuple | list):
        return [to_json(each) for each in value]
    return None if isinstance(value, float) and value != value else value


def from_json(kind: Any, content: Any, where: str) -> Any:
    """The reverse of `to_json`; what is not of the annotated kind is refused by its name."""
    if isinstance(kind, type) and issubclass(kind, OwnForm) and isinstance(content, dict):
        return kind.of_json(content, where)
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if origin is Annotated and isinstance(parts[1], ReadLater):
        return None if content is None else from_json(parts[1].kind, content, where)
    if origin is Annotated:
        return _within(parts[1], parts[0], content, where)
    if origin is UnionType:
        return _one_of(parts, content, where)
    if is_dataclass(kind) and isinstance(content, dict):
        return _record(kind, content, where)
    if origin in (tuple, Sequence) and isinstance(content, list):
        return _listed(origin, parts, content, where)
    if origin in (Mapping, dict) and isinstance(content, dict):
        return {_key(parts[0], name, where): from_json(parts[1], content[name], _in(where, name)) for name in content}
    if (
        kind in MOST_THAT_FITS
        and type(content) in (int, kind)
        and -MOST_THAT_FITS[kind] <= content <= MOST_THAT_FITS[kind]
    ):
        return kind(content)
    if kind is Any or (kind in (str, bool) and type(content) is kind) or (origin is Literal and content in [*parts]):
        return content
    raise misplaced(content, where)


def misplaced(content: Any, where: str, expected: str = "") -> InputError:
    """What is said of something that is not what may be there."""
    return InputError(f"{where} is {content!r:.40}, {expected or 'which does not belong there'}")


def check_given(kind: Any, content: Mapping[str, Any], where: str = "") -> None:
    """Refuse the first value that is not what the field of its name may hold; what is missing, or unknown, is passed over."""
    for name, hint in _hints(kind).items():
        if name in content:
            from_json(hint, content[name], _in(where, name))


def _hints(kind: Any) -> dict[str, Any]:
    found = get_type_hints(kind, include_extras=True)
    return {each.name: found[each.name] for each in fields(kind)}


def _record(kind: Any, content: dict[str, Any], where: str) -> Any:
    hints = _hints(kind)
    if odd := sorted(set(hints) ^ set(content)):
        raise InputError(f"{_in(where, odd[0])} is {'missing' if odd[0] in hints else 'unknown'}")
    values = {name: from_json(hint, content[name], _in(where, name)) for name, hint in hints.items()}
    try:
        return kind(**values)
    except InputError as error:
        raise InputError(f"{where}: {error}" if where else str(error)) from None


def _one_of(parts: tuple[Any, ...], content: Any, where: str) -> Any:
    if content is None and NoneType in parts:
        return None
    kinds = [part for part in parts if part is not NoneType]
    for kind in kinds[:-1]:
        try:
            return from_json(kind, content, where)
        except InputError:
            continue
    return from_json(kinds[-1], content, where)


def _within(bounds: ValueRange, kind: Any, content: Any, where: str) -> Any:
    if content is None and bounds.or_nan:
        return float("nan")
    number = from_json(kind, content, where)
    if not bounds.low <= number <= bounds.high:
        raise misplaced(content, where, f"expected {bounds}")
    return number


def _listed(origin: Any, parts: tuple[Any, ...], content: list[Any], where: str) -> Any:
    if origin is Sequence or parts[1:] == (...,):
        parts = (parts[0],) * len(content)
    if len(parts) != len(content):
        raise misplaced(content, where, f"expected {len(parts)} values")
    values = [from_json(part, each, f"{where}[{k}]") for k, (part, each) in enumerate(zip(parts, content, strict=True))]
    return tuple(values) if origin is tuple else values


def _key(kind: Any, name: str, where: str) -> Any:
    if not issubclass(kind, IntEnum):
        return name
    if name not in (known := {each.name.lower(): each for each in kind}):
        raise InputError(f"{_in(where, name)} is unknown")
    return known[name]


def _in(where: str, name: str) -> str:
    return f"{where}.{name:.40}" if where else f"{name:.40}"
