"""Nested records of numbers as JSON, and back by their annotations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import IntEnum
from typing import Any, get_args, get_origin, get_type_hints

from dunno.errors import InputError


def to_json(value: Any) -> Any:
    """Records and mappings as dictionaries, tuples as lists."""
    if is_dataclass(value):
        return {each.name: to_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {key.name.lower() if isinstance(key, IntEnum) else key: to_json(each) for key, each in value.items()}
    return [to_json(each) for each in value] if isinstance(value, tuple) else value


def from_json(kind: Any, content: Any, where: str = "segments") -> Any:
    """The reverse of `to_json`; what is not of the annotated kind is refused by its name."""
    origin, parts = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and isinstance(content, dict):
        hints = get_type_hints(kind)
        if missing := sorted(set(hints) ^ set(content)):
            raise InputError(f"{where}.{missing[0]} is missing, or unknown")
        return kind(**{name: from_json(hints[name], content[name], f"{where}.{name}") for name in hints})  # type: ignore[operator]
    if origin is tuple and isinstance(content, list) and len(content) == len(parts):
        return tuple(from_json(part, each, where) for part, each in zip(parts, content, strict=True))
    if origin is Mapping and isinstance(content, dict) and set(content) <= {each.name.lower() for each in parts[0]}:
        return {parts[0][name.upper()]: from_json(parts[1], each, f"{where}.{name}") for name, each in content.items()}
    if type(content) is kind or (kind is float and type(content) is int):
        return kind(content)
    raise InputError(f"{where} is {content!r:.40}, which does not belong there")
