"""Write docs/settings.md from the numbers in the source that decide a result: python docs/make_settings.py.

A number that decides something is a constant of its module. The comment behind it says its unit and where it is from, and what it
is unless the string below does: `TAIL = 4.0  # degrees of freedom; judged`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import dunno

PAGE = Path(__file__).parent / "settings.md"
ROOMS = ("types", "assignment", "terms", "models", "calibration", "segments", "tracking", "lineage")
OF_NUMBERS = ("Prior", "log")
"""What may be called to make a number, or a law's mean and worth."""

HEAD = """# Settings

Made by `python docs/make_settings.py` from the source. Numbers that decide a result, with where
they are from: a **command** (`python -m benchmarks.…`) beside whose figures they were chosen; a
**page** that says why; **exact**, which follows from arithmetic; **judged**, which nobody has
measured; **display**, which decides only what is shown. Those of **speed** change results by less
than their page says, and the command behind them measures what they save. What users choose is in
the list of parameters of the site, what priors say in the terms' own tables.
"""


class Setting(NamedTuple):
    """A statement that sets one number or several."""

    name: str
    value: str
    unit: str
    source: str
    what: str


def settings(path: Path) -> Iterator[Setting]:
    """Those of a module; a number without unit and source is refused."""
    text = path.read_text(encoding="utf-8")
    body, lines = ast.parse(text).body, text.splitlines()
    for index, node in enumerate(body):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None or not _is_number(node.value):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        unit, _, rest = lines[node.end_lineno - 1].partition("  # ")[2].partition("; ")
        source, _, what = rest.partition("; ")
        if not source:
            raise ValueError(f"{path.name}: {ast.unparse(target)} lacks `# unit; source` behind it")
        below = body[index + 1] if index + 1 < len(body) else None
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            what = " ".join(f"{what}. {below.value.value}".split()).removeprefix(". ")
        yield Setting(_plain(target), _plain(node.value), unit, source, what)


def _plain(node: ast.expr) -> str:
    """Its text, a tuple's without parentheses."""
    return ", ".join(map(ast.unparse, node.elts)) if isinstance(node, ast.Tuple) else ast.unparse(node)


def _is_number(value: ast.expr) -> bool:
    """Whether it holds numbers and no words."""
    constants = [each.value for each in ast.walk(value) if isinstance(each, ast.Constant)]
    numbers = [each for each in constants if isinstance(each, (int, float)) and not isinstance(each, bool)]
    calls = [each for each in ast.walk(value) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)]
    called = all(call.func.id in OF_NUMBERS for call in calls if isinstance(call.func, ast.Name))
    return len(numbers) == len(constants) > 0 and called and not isinstance(value, ast.Lambda)


def rendered() -> str:
    """The whole page."""
    parts, house = [HEAD], Path(dunno.__file__).parent
    for room in ROOMS:
        rows = []
        for path in sorted((house / room).rglob("*.py")):
            file = path.relative_to(house).as_posix()
            rows += [f"| `{each.name}` | {' | '.join(each[1:4])} | {file} | {each.what} |" for each in settings(path)]
        parts.append(
            f"## {room}\n\n| name | value | unit | from | in | what |\n|---|---|---|---|---|---|\n"
            + "\n".join(rows)
            + "\n"
        )
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(rendered(), encoding="utf-8")
