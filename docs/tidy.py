"""Tidies Markdown: wraps paragraphs and list items at 100 characters, and says what shell blocks without a language need.

python docs/tidy.py docs/*.md
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

WIDTH = 100
SHELL = r"^(dunno|make|pip|python|uvx|pytest|DUNNO_DATA=\S+) "
NEEDS = {
    "DUNNO_DATA": "real movies",
    "Fluo-": "Fluo-N2DL-HeLa, from the Cell Tracking Challenge",
    "pip install": "a network",
    "python -m benchmarks": "minutes to hours",
    "ssh": "another machine",
    "dask": "a cluster",
}
"""What a shell block needs, by words in it."""
KEPT = ("|", "#", "![", "<!--", "    ", ":::", ">")


def labelled(text: str) -> str:
    """The same page, with shell blocks called `bash` and marked as needing something: nobody has said that they run."""
    return re.sub(r"^```(\w*)\n(.*?)^```$", _label, text, flags=re.DOTALL | re.MULTILINE)


def _label(block: re.Match[str]) -> str:
    language, lines = block.groups()
    if language or not re.search(SHELL, lines, flags=re.MULTILINE):
        return block[0]
    needs = next((needs for word, needs in NEEDS.items() if word in lines), "a movie of yours")
    return f"<!-- needs: {needs} -->\n\n```bash\n{lines}```"


def wrapped(text: str) -> str:
    """The same page, with lines of at most 100 characters where words allow."""
    lines: list[str] = []
    for part in re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE):
        lines.append(part if part.startswith("```") else _prose(part))
    return "".join(lines)


def _prose(text: str) -> str:
    done: list[str] = []
    held: list[str] = []

    def flush() -> None:
        if held:
            done.extend(_fill(held))
            held.clear()

    for line in text.split("\n"):
        begins = re.match(r"\s*([-*]|\d+\.) ", line)
        if not line.strip() or (line.startswith(KEPT) and not (held and begins)):
            if held and line.startswith("    ") and not begins:
                held.append(line)
                continue
            flush()
            done.append(line)
        elif begins:
            flush()
            held.append(line)
        else:
            held.append(line)
    flush()
    return "\n".join(done)


def _fill(lines: list[str]) -> list[str]:
    """One paragraph or list item; left as it is if it is narrow already."""
    if all(len(line) <= WIDTH for line in lines):
        return lines
    head = re.match(r"(\s*)((?:[-*]|\d+\.) )?", lines[0])
    assert head is not None
    indent, bullet = head[1], head[2] or ""
    words = " ".join(line.strip() for line in lines)[len(bullet) :]
    return textwrap.wrap(
        words,
        WIDTH,
        initial_indent=indent + bullet,
        subsequent_indent=indent + " " * len(bullet),
        break_long_words=False,
        break_on_hyphens=False,
    )


def main() -> None:
    """Tidy the files that are named."""
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(wrapped(labelled(path.read_text())))


if __name__ == "__main__":
    main()
