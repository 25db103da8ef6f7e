"""Write the tables of docs/masks.md and docs/arrow.md from the rows of a benchmark: python docs/make_segments.py FOLDER.

FOLDER is what `python -m benchmarks.segments -o FOLDER` wrote.
"""

import json
import sys
from pathlib import Path
from typing import Any

Row = dict[str, Any]

PAGES = Path(__file__).parent
TOOLS = {"dunno": "dunno", "trackpy": "trackpy", "laptrack": "LapTrack", "ultrack": "Ultrack"}
ENOUGH_IN_BIN, MOST_OFF = 50, 0.1


def rows_of(folder: Path) -> list[Row]:
    """All rows, as they were measured, sets in their order."""
    rows = [json.loads(path.read_text()) for path in sorted((folder / "rows").glob("*.json"))]
    order = list(TOOLS)
    return sorted(rows, key=lambda row: ("clean" in row["set"], row["set"], order.index(row["tool"])))


def number(value: float | None, digits: int = 2) -> str:
    """A number, or a dash."""
    return "–" if value is None else f"{value:.{digits}f}"


def change(row: Row, name: str) -> str:
    """A score of the given masks, and of the repaired ones."""
    return f"{number(row[f'{name}_given'])} → {number(row[name])}" if row.get(name) is not None else "–"


def bins_off(row: Row) -> str:
    """Bins of P(segment) with enough in them that are off by more than a tenth."""
    wrong = [
        f"{low:.1f}: {promised / count:.2f} / {found / count:.2f}"
        for low, _, count, promised, found in row["segments"]
        if count >= ENOUGH_IN_BIN and abs(promised - found) > MOST_OFF * count
    ]
    return ", ".join(wrong) or "none"


def segments(rows: list[Row]) -> list[str]:
    """How tracks, links and masks come out, beside other tools."""
    lines = [
        "| masks | tool | own | whole | cycles | F1 | swaps: promised / found | DET | SEG | P(segment) off: promised / found | s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        mine = row["tool"] == "dunno"
        swaps = f"{row['promised_swaps']:.0f} / {row['swaps']}" if mine else f"– / {row['swaps']}"
        columns = [
            row["set"], TOOLS[row["tool"]], number(row["own"]), number(row["whole"]),
            f"{row['cycles']} of {row['true_cycles']}", number(row["f1"]), swaps, change(row, "det"), change(row, "seg"),
            bins_off(row) if mine else "–", f"{row['seconds']:.0f}",
        ]  # fmt: skip
        lines.append("| " + " | ".join(columns) + " |")
    return lines


def arrow(rows: list[Row]) -> list[str]:
    """How many divisions are promised and found."""
    lines = [
        "| masks | in tracks / right / annotated | Σ P / right | their ratio | 95 % of the number | verdict on divisions |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        if row["tool"] != "dunno":
            continue
        ratio = number(row["expected_in_all"] / row["seen"]) if row["seen"] else "–"
        low, high = row["interval"]
        columns = [
            row["set"], f"{row['reported']} / {row['right']} / {row['true']}",
            f"{row['expected_in_all']:.0f} / {row['seen']}", ratio, f"{low:.0f} to {high:.0f}",
            row["verdicts"].get("divisions", "–"),
        ]  # fmt: skip
        lines.append("| " + " | ".join(columns) + " |")
    return lines


def write(page: Path, name: str, lines: list[str]) -> None:
    """Put a table into a page, in place of the one that stands there."""
    begin, end = f"<!-- table {name} -->", "<!-- end of table -->"
    before, _, rest = page.read_text().partition(begin)
    after = rest.partition(end)[2] if end in rest else rest
    page.write_text(before + "\n".join([begin, "", *lines, "", end]) + after)


if __name__ == "__main__":
    found = rows_of(Path(sys.argv[1]))
    write(PAGES / "masks.md", "segments", segments(found))
    write(PAGES / "arrow.md", "arrow", arrow(found))
