"""From the command line to the files, parts are asked by an interface: not by attributes that may be there, types or names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dunno

HOUSE = Path(dunno.__file__).parent

ROOMS = ("assignment", "calibration", "cli", "costs", "io", "lineage", "methods", "models", "runs", "segments", "terms",
         "tracking", "types")  # fmt: skip

AT_THE_DOOR = {
    "cli/__init__.py": "signals that this system may not have",
    "cli/movie_options.py": "options of click",
    "cli/track.py": "a kind of error, and none that derives from it",
    "io/axes.py": "somebody's array",
    "io/cellpose.py": "numbers of somebody's file",
    "io/masking.py": "somebody's array",
    "io/output.py": "numbers of somebody's file",
    "io/readers/ctc.py": "files of a folder",
    "io/readers/tiff.py": "a thread's own file",
    "io/readers/zarr.py": "somebody's array or group",
    "io/reading.py": "files of a folder",
    "runs/workspace.py": "somebody's cost, which may be anything",
    "runs/trust.py": "somebody's tracks, of a library that may not be there",
    "types/records.py": "what a file holds",
}
"""What comes from outside has no interface of ours."""


def is_asked(node: ast.AST) -> bool:
    """Whether somebody asks for an attribute that may be there, for a type, or for the name of a choice."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
        return node.func.id == "hasattr" or isinstance(node.args[1], ast.Constant)
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    words = any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides)
    named = words and any(isinstance(side, ast.Attribute) and side.attr == "name" for side in sides)
    return named or any(isinstance(side, ast.Call) and ast.unparse(side.func) == "type" for side in sides)


@pytest.mark.parametrize(
    "line", ["getattr(a, 'spread', None)", "hasattr(a, name)", "type(a) is JP", "a.name == 'JP'", "'JP' != a.name"]
)
def test_what_is_looked_for(line: str) -> None:
    assert any(map(is_asked, ast.walk(ast.parse(line))))


def test_nobody_is_asked_but_by_an_interface() -> None:
    asked = {
        str(path.relative_to(HOUSE))
        for room in ROOMS
        for path in (HOUSE / room).rglob("*.py")
        if any(map(is_asked, ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert asked == set(AT_THE_DOOR)
