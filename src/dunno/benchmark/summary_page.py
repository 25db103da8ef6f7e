"""The page that shows a benchmark: every set-up's figures, and what the paper's claims come to."""

from __future__ import annotations

from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from dunno.benchmark.all_units import RESULTS_FILE, BenchmarkOutcome
from dunno.benchmark.charts import draw_all
from dunno.benchmark.claims import judge
from dunno.benchmark.units import PAPER, USER, Experiment
from dunno.io.writing import whole

if TYPE_CHECKING:
    from pandas import DataFrame

FIGURES_FOLDER, BENCHMARK_PAGE = "figures", "index.html"
TITLES = {PAPER: "As in the paper", USER: "As a user gets it"}
SETUP_WORDS = {
    PAPER: "Every mother is a candidate, and probabilities are normalised over mothers only.",
    USER: "The gate is estimated, and having no mother takes part in every distribution: what dunno does by default.",
}
STYLE = """
:root { color-scheme: light dark; } * { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { margin-top: 2.5rem; } figure { margin: 1rem 0 2rem; } p, li { max-width: 46rem; }
figure img { max-width: 100%; height: auto; background: #fff; border-radius: 6px; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; } th, td { text-align: left; padding: .3rem .6rem; border: 0; }
td { border-top: 1px solid #8886; vertical-align: top; } @media print { figure { break-inside: avoid; } }
"""


def write_page(outcome: BenchmarkOutcome, experiment: Experiment, folder: Path) -> DataFrame:
    """Draw the figures, judge the claims and write `index.html`; returns the claims."""
    drawn = draw_all(outcome.table, folder / FIGURES_FOLDER)
    claims = judge(outcome.table)
    parts = [
        "<h1>Cell tracking that says “I dunno”: the benchmark</h1>",
        f'<p>{escape(_about(outcome, experiment))} All numbers: <a href="{RESULTS_FILE}">{RESULTS_FILE}</a>.</p>',
        _problems(outcome),
        "<h2>Claims</h2>",
        "<p>Each is a number that should be above zero (or within ± a margin), averaged to one number per dataset; it holds if the "
        "95 % interval of their mean lies above zero, and does not hold if it lies below.</p>",
        f'<div class="scroll">{claims.to_html(index=False, border=0, float_format="{:.3g}".format, na_rep="–")}</div>',
    ]
    for setup in experiment.setups:
        parts.append(f"<h2>{TITLES[setup]}</h2><p>{SETUP_WORDS[setup]}</p>")
        parts += [_figure(title, name) for own, title, name in drawn if own == setup]
    with whole(folder / BENCHMARK_PAGE, overwrite=True) as partial:
        partial.write_text(
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" '
            f'content="width=device-width, initial-scale=1">\n<title>dunno benchmark</title>\n<style>{STYLE}</style>\n</head>\n'
            "<body>\n<main>\n" + "\n".join(filter(None, parts)) + "\n</main>\n</body>\n</html>\n",
            encoding="utf-8",
        )
    return claims


def _figure(title: str, name: str) -> str:
    image = f'<img src="{FIGURES_FOLDER}/{name}.svg" alt="{escape(title)}">'
    return f'<figure id="{name}"><figcaption>{escape(title)}</figcaption>{image}</figure>'


def _about(outcome: BenchmarkOutcome, experiment: Experiment) -> str:
    table = outcome.table
    parts = table.dropna(subset=["sequence"]).groupby("dataset").sequence.unique()
    names = "; ".join(f"{dataset} ({', '.join(sequences)})" for dataset, sequences in parts.items())
    return (
        f"dunno {version('dunno')} on {names}. Costs {', '.join(experiment.costs)}; methods {', '.join(experiment.methods)}; every "
        f"{', '.join(map(str, experiment.steps))} frames; K = {experiment.samples}, seed {experiment.seed}. Temperatures (+TS) are "
        "fitted with truth on a dataset’s first sequence, or the first half of a single one, and used on the others; “self” is "
        "fitted to each movie without truth."
    )


def _problems(outcome: BenchmarkOutcome) -> str:
    table = outcome.table
    lines = [f"{unit}: failed, {error}" for unit, error in outcome.failures.items()]
    counts = table[table.n_links.isna()].reason.str.replace(r"\d+", "n", regex=True).value_counts()
    lines += [f"{count} of {len(table)} rows have no numbers: {reason}" for reason, count in counts.items()]
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""
