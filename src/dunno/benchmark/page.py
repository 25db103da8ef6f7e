"""The page that shows a benchmark: figures with a sentence each, and which claims hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path

from dunno.benchmark.claims import FAILED, HELD, OURS, UNDECIDED, Verdict, judge
from dunno.benchmark.figures import Drawn, draw_all
from dunno.benchmark.paper import CLAIMS
from dunno.benchmark.rows import Row, distinct
from dunno.benchmark.run import TABLE, Outcome
from dunno.benchmark.units import Setup
from dunno.io.writing import whole

FIGURES, PAGE = "figures", "index.html"
MARKS = {HELD: ("held", "✓"), FAILED: ("failed", "✗"), UNDECIDED: ("undecided", "?")}

STYLE = """
:root { color-scheme: light dark; --ink: #1d2327; --paper: #ffffff; --faint: #5c666d; --line: #d9dee2; }
:root { --held: #0a6b4f; --failed: #a33a00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ecef; --paper: #14181b; --faint: #a3adb4; --line: #394349; --held: #4fd1a5; --failed: #ff9d66; }
}
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
body { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; }
p, li { max-width: 46rem; } a { color: inherit; } .faint { color: var(--faint); }
figure { margin: .75rem 0 2rem; break-inside: avoid; }
figure img { width: 100%; height: auto; background: #fff; border: 1px solid var(--line); border-radius: 6px; padding: 6px; }
figure.narrow img { max-width: 34rem; display: block; } figcaption { margin-top: .5rem; max-width: 46rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; width: 100%; margin: .75rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--line); }
th { font-weight: 600; } td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.verdict { white-space: nowrap; font-weight: 600; } .held { color: var(--held); } .failed { color: var(--failed); }
.undecided { color: var(--faint); } small { display: block; color: var(--faint); }
@media print { body { max-width: none; padding: 0; font-size: 11pt; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
"""


def write_page(outcome: Outcome, setup: Setup, folder: Path) -> list[Verdict]:
    """Draw the figures, judge the claims and write `index.html`; returns the verdicts."""
    drawn = draw_all(outcome.rows, folder / FIGURES)
    verdicts = judge(CLAIMS, outcome.rows)
    with whole(folder / PAGE, overwrite=True) as partial:
        partial.write_text(page(outcome, setup, drawn, verdicts), encoding="utf-8")
    return verdicts


def page(outcome: Outcome, setup: Setup, drawn: Sequence[Drawn], verdicts: Sequence[Verdict]) -> str:
    """The whole page; figures and table are beside it."""
    papers = [each for each in verdicts if each.claim.source != OURS]
    ours = [each for each in verdicts if each.claim.source == OURS]
    parts = [
        "<h1>Cell tracking that says “I dunno”: the benchmark</h1>",
        f"<p>{escape(_about(outcome, setup))}</p>",
        f'<p>{escape(_summary(papers))} All numbers: <a href="{TABLE}">{TABLE}</a>.</p>',
        _problems(outcome),
        *(_figure(each) for each in drawn),
        '<h2 id="claims">The paper’s claims</h2>',
        f"<p>{escape(CRITERION)}</p>",
        _claims(papers),
        "<h2>Beyond the paper</h2>",
        _claims(ours),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>dunno benchmark</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


CRITERION = (
    "Each claim is a number that should be above zero (“makes little difference”: within ± a margin), averaged over costs, "
    "sequences and frame steps to one number per dataset, because rows of one dataset are not independent. Held: the 95 % "
    "Student-t interval of their mean lies above zero; did not hold: below; undecided here: neither, or fewer than three "
    "datasets. With few datasets intervals are wide, and the verdicts are about these movies."
)


def _about(outcome: Outcome, setup: Setup) -> str:
    rows = outcome.rows
    names = ", ".join(f"{dataset} ({_sequences(rows, dataset)})" for dataset in distinct(rows, "dataset"))
    gate = "" if setup.max_distance is None else f" Cells move at most {setup.max_distance:g}."
    gate = " Every mother is a candidate." if setup.max_distance == math.inf else gate
    normalised = f"{gate}{' Probabilities are normalised over mothers only.' if setup.mothers_only else ''}"
    return (
        f"dunno {version('dunno')} on {names}; costs {', '.join(distinct(rows, 'cost'))}; methods "
        f"{', '.join(distinct(rows, 'method'))}; every {', '.join(map(str, sorted(distinct(rows, 'step'))))} frames; "
        f"K = {setup.samples}, seed {setup.seed}.{normalised} Calibrations with truth (+TS: temperature scaling; JP truth) are "
        "fitted on a dataset’s first sequence and evaluated on the others; a single movie is cross-fitted in halves. “Self” is "
        "fitted to each movie without truth. What is shown as tracked is not calibrated."
    )


def _sequences(rows: Sequence[Row], dataset: str) -> str:
    return ", ".join(filter(None, distinct([row for row in rows if row.dataset == dataset], "sequence"))) or "failed"


def _summary(verdicts: Sequence[Verdict]) -> str:
    counts = [f"{sum(each.verdict == verdict for each in verdicts)} {verdict}" for verdict in MARKS]
    return f"Of {len(verdicts)} claims of the paper, {', '.join(counts)}."


def _problems(outcome: Outcome) -> str:
    empty = [row for row in outcome.rows if not row.is_measured and row.sequence is not None]
    lines = [f"{escape(str(unit))}: failed, {escape(str(error))}" for unit, error in outcome.failures.items()]
    lines += [escape(line) for line in outcome.left_out]
    if empty:
        lines.append(f"{len(empty)} of {len(outcome.rows)} rows have a reason instead of numbers; see {TABLE}")
    untrusted = sum(row.trusted is False for row in outcome.rows)
    if untrusted:
        lines.append(
            f"{untrusted} rows have a calibration that does not trust itself (not calibrated, or a temperature at a bound)"
        )
    items = "".join(f"<li>{line}</li>" for line in lines)
    return f'<ul class="faint">{items}</ul>' if lines else ""


def _figure(drawn: Drawn) -> str:
    narrow = ' class="narrow"' if drawn.name == "motion" else ""
    words, title = escape(drawn.sentence), escape(drawn.title)
    image = f'<img src="{FIGURES}/{drawn.name}.svg" alt="{title}">'
    return f'<h2 id="{drawn.name}">{title}</h2>\n<figure{narrow}>{image}<figcaption>{words}</figcaption></figure>'


def _claims(verdicts: Sequence[Verdict]) -> str:
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ("claim", "verdict", "as claimed", "mean", "95 % interval")
    )
    body = "\n".join(_claim(each) for each in verdicts)
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def _claim(verdict: Verdict) -> str:
    claim, (kind, mark) = verdict.claim, MARKS[verdict.verdict]
    between = "–" if math.isnan(verdict.low) else f"{_number(verdict.low)} … {_number(verdict.high)}"
    return (
        f"<tr><td>{escape(claim.words)}<small>{escape(claim.quantity)} ({escape(claim.source)})</small></td>"
        f'<td class="verdict {kind}">{mark} {escape(verdict.verdict)}</td>'
        f"<td>{escape(verdict.agreement)}</td>"
        f'<td class="number">{_number(verdict.mean)}</td><td class="number">{between}</td></tr>'
    )


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3g}".replace("-", "−")
