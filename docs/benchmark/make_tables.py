"""Prints tables for the docs from `results.csv` beside this file: `--joint`, `--methods`, or `--claims` [another.csv].

dunno benchmark DATA -o DIR; cp DIR/results.csv docs/benchmark; python docs/benchmark/make_tables.py --joint
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from dunno.benchmark import Row, read_rows
from dunno.benchmark.claims import judge
from dunno.benchmark.paper import CLAIMS
from dunno.benchmark.rows import distinct, select
from dunno.benchmark.scenes import mean
from dunno.benchmark.style import label

TABLE = Path(__file__).with_name("results.csv")
JOINT = ("SM", "SM+TS", "AS", "AS+TS", "JP truth", "JP self")


def joint_posterior(rows: list[Row]) -> Iterator[str]:
    """Every sequence and step with the distance cost, calibrated in six ways."""
    head = ("data", "every", "method", "links right", "true links found", "daughters right", "ECE (floor)")
    yield f"| {' | '.join(head)} | ECE daughters (floor) | −log P | s |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    own = [row for row in rows if row.cost == "distance" and row.sequence and label(row) in JOINT]
    for data in dict.fromkeys((row.dataset, row.sequence) for row in own):
        for step in sorted(distinct(own, "step")):
            here = {label(row): row for row in own if (row.dataset, row.sequence, row.step) == (*data, step)}
            yield from (_scores(here[name], name) for name in JOINT if name in here)


def _scores(row: Row, name: str) -> str:
    start = f"| {row.dataset} {row.sequence} | {row.step} | {name}"
    if not row.is_measured:
        return f"{start} | {row.reason} | | | | | | |"
    state = " (not calibrated)" if row.trusted is False else ""
    return (
        f"{start}{state} | {row.accuracy:.4f} | {row.recall:.4f} | {row.daughter_accuracy:.4f} | "
        f"{row.ece:.4f} ({row.ece_floor:.4f}) | {row.ece_daughters:.4f} ({row.ece_daughters_floor:.4f}) | "
        f"{row.nll:.3f} | {row.seconds:.2g} |"
    )


def methods(rows: list[Row]) -> Iterator[str]:
    """Each cost with each method, as tracked: what is right at each step, and the time over SM's; means over sequences."""
    plain = select(rows, scaling="none")
    steps = sorted(distinct(plain, "step"))
    yield f"| cost | method | {' | '.join(f'every {step}' for step in steps)} | time over SM |"
    yield f"|---|---|{'---|' * len(steps)}---|"
    for cost in distinct(plain, "cost"):
        for method in distinct(plain, "method"):
            own = select(plain, cost=cost, method=method)
            cells = [_right(select(own, step=step)) for step in steps]
            overhead = mean(row.overhead for row in own if row.overhead is not None)
            yield f"| {cost} | {method} | {' | '.join(cells)} | {overhead:.2f}× |"


def _right(rows: list[Row]) -> str:
    columns = ("accuracy", "recall", "daughter_accuracy")
    return " / ".join(f"{100 * mean(getattr(row, name) for row in rows):.2f}" for name in columns)


def claims(rows: list[Row]) -> Iterator[str]:
    """Each claim's verdict."""
    yield "| claim | verdict | as claimed | mean | 95 % interval |"
    yield "|---|---|---|---|---|"
    for each in judge(CLAIMS, rows):
        between = f"{each.low:.3g} … {each.high:.3g}" if len(each.datasets) > 1 else "–"
        centre = f"{each.mean:.3g}" if each.datasets else "–"
        words = f"{each.claim.words} ({each.claim.source})"
        yield f"| {words} | **{each.verdict}** | {each.agreement} | {centre} | {between} |"


TABLES = {"--joint": joint_posterior, "--methods": methods, "--claims": claims}

if __name__ == "__main__":
    option, *others = sys.argv[1:] or ["--joint"]
    print("\n".join(TABLES[option](read_rows(Path(others[0]) if others else TABLE))))
