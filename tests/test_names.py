"""Names have one meaning in the whole house: those of modules, classes and constants."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import dunno

HOUSE = Path(dunno.__file__).parent

ROOMS = {"cli", "costs", "links", "readers", "writers", "terms", "laws", "methods", "perturbations", "kinds"}
"""A file here is called what a user types, or what it is about; the same word may stand in another of these rooms."""


def names(kind: str) -> Iterator[tuple[str, str]]:
    """Every name of a kind, and the file that has it."""
    for path in sorted(HOUSE.rglob("*.py")):
        file = str(path.relative_to(HOUSE))
        if kind == "module":
            yield from [(path.stem, file)] if path.stem != "__init__" else []
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if kind == "class" and isinstance(node, ast.ClassDef):
                yield node.name, file
            elif kind == "constant" and isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                within = [each for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
                yield from ((each.id, file) for each in within if each.id.isupper())


def repeated(kind: str) -> dict[str, list[str]]:
    """The names of a kind that stand in several files, at most one of them outside of `ROOMS`."""
    where: dict[str, list[str]] = defaultdict(list)
    for name, file in names(kind):
        where[name].append(file)
    if kind == "constant":
        return {name: files for name, files in where.items() if len(files) > 1}
    outside = {name: [file for file in files if Path(file).parent.name not in ROOMS] for name, files in where.items()}
    return {name: where[name] for name, files in outside.items() if len(files) > 1}


@pytest.mark.parametrize("kind", ["module", "class", "constant"])
def test_a_name_stands_once_in_the_house(kind: str) -> None:
    assert len(set(names(kind))) > 100
    assert repeated(kind) == {}
