"""Writes the tables between `<!-- table NAME -->` and `<!-- end -->` of the pages anew, from results.csv beside this file.

python docs/benchmark/make_tables.py [DIR]    first takes over results.csv and the figures from a benchmark's folder
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pandas as pd

from dunno.benchmark.charts import FIGURES, SCALING_WORDS
from dunno.benchmark.claims import FAILS, HOLDS, NOT_DECIDED, judge
from dunno.benchmark.results_table import read_table
from dunno.benchmark.units import COSTS, METHODS, PAPER_STEPS, SETUPS

HERE = Path(__file__).parent
PAGES = tuple(
    HERE.parent / name
    for name in (
        "benchmark/README.md",
        "benchmark/joint-posterior.md",
        "joint-posterior.md",
        "methods.md",
        "skipping.md",
    )
)
PAGES += (HERE.parent / "transformer.md",)
BAND = 0.67, 1.5
VERDICTS = HOLDS, FAILS, NOT_DECIDED
LEAST_WRONG, NEAR = 20, 0.01
MODELS = tuple(f"dropout-{rate}" for rate in (0.125, 0.25, 0.5))
JOINT = ("SM", "SM+TS", "AS", "AS+TS", "JP truth", "JP self")


def label(table: pd.DataFrame) -> pd.Series:
    """What a method with its scaling is called: SM, SM+TS, JP self."""
    return table.method + table.scaling.map(SCALING_WORDS)


def rows_of(frame: pd.DataFrame) -> Iterator[str]:
    """A Markdown table."""
    yield f"| {' | '.join(map(str, frame.columns))} |"
    yield f"|{'---|' * len(frame.columns)}"
    for row in frame.itertuples(index=False):
        yield f"| {' | '.join(map(str, row))} |"


def claims(table: pd.DataFrame, ours: bool = False) -> Iterator[str]:
    """What the measurements say of each claim."""
    found = judge(table)
    found = found[(found.source == "ours") == ours]
    between = [
        "–" if pd.isna(low) else f"{low:.3g} … {high:.3g}" for low, high in zip(found.low, found.high, strict=True)
    ]
    section = "" if ours else " (§" + found.source + ")"
    return rows_of(
        pd.DataFrame(
            {
                "claim": found.claim + section,
                "here": "**" + found.verdict + "**",
                "datasets": found["as claimed"],
                "mean": [f"{each:.3g}" for each in found["mean"]],
                "95 % interval": between,
            }
        )
    )


def measured(table: pd.DataFrame) -> pd.DataFrame:
    """The rows with numbers for links."""
    return table[table.ece.notna()]


def coverage(table: pd.DataFrame) -> Iterator[str]:
    """How much of the experiment is there, and the reasons of the rest."""
    yield "| set-up | rows | with numbers | why the rest has none |\n|---|---|---|---|"
    for setup, own in table.groupby("setup", sort=False):
        own = own[own.scaling != "events"]
        reasons = own[own.n_links.isna()].reason.str.replace(r"\d+", "n", regex=True).value_counts()
        told = "; ".join(f"{count} × {reason}" for reason, count in reasons.items())
        yield f"| {setup} | {len(own)} | {int(own.n_links.notna().sum())} | {told or '–'} |"


def missing(table: pd.DataFrame) -> Iterator[str]:
    """What is not measured yet, though it was asked for."""
    datasets, costs, models = sorted(table.dataset.unique()), ("activity", "distance", "overlap"), MODELS
    places = [(cost, "") for cost in costs] + [("transformer", model) for model in models]
    there = set(table[["dataset", "cost", "model", "step", "setup", "method"]].itertuples(index=False, name=None))
    lacking: dict[tuple[str, str, str], list[str]] = {}
    for (cost, model), step, dataset in product(places, PAPER_STEPS, datasets):
        absent = [
            method
            for method in METHODS
            if any((dataset, cost, model, step, setup, method) not in there for setup in SETUPS)
        ]
        if absent:
            what = "all methods" if absent == list(METHODS) else ", ".join(absent)
            lacking.setdefault((f"{cost} {model}".strip(), str(step), what), []).append(dataset)
    together: dict[tuple[str, str, str], list[str]] = {}
    for (where, step, what), names in lacking.items():
        told = "all" if len(names) == len(datasets) else ", ".join(names)
        together.setdefault((where, what, told), []).append(step)
    lines = [f"| {where} | {', '.join(steps)} | {what} | {told} |" for (where, what, told), steps in together.items()]
    yield from (
        ["| cost | every | not measured yet | datasets |", "|---|---|---|---|", *lines]
        if lines
        else ["Nothing is missing."]
    )


def figures(setup: str) -> Iterator[str]:
    """Every figure that was drawn of a set-up, in the paper's order."""
    for each in FIGURES:
        name = f"figures/{setup}-{each.name}.svg"
        if (HERE / name).is_file():
            yield f"**{each.title}**\n\n![{each.title}]({name})\n"


def joint_beside(table: pd.DataFrame) -> pd.DataFrame:
    """JP self with the distance cost beside the best other row, without truth and with it: a row per dataset and step."""
    own = measured(table[table.setup == "user"])
    own = own.assign(name=label(own))
    place = ["dataset", "step"]
    chosen = (own.cost == "distance") & (own.name == "JP self")
    found = own[chosen].groupby(place)[["ece", "ece_floor", "n_links"]].mean()
    found["verdict"] = own[chosen].groupby(place).verdict.agg(lambda each: ", ".join(dict.fromkeys(each)))
    free, learnt = own.scaling.isin(["none", "self"]), own.cost == "transformer"
    for column, kept in (("free", free & ~learnt), ("any", free), ("truth", ~free | learnt)):
        others = own[~chosen & kept]
        means = others.groupby([*place, "cost", "model", "name"]).ece.mean().reset_index("name").reset_index()
        best = means.loc[means.groupby(place).ece.idxmin()].set_index(place)
        found[column] = best.ece
        found[f"{column}_name"] = best.name + ", " + best.cost
    return found.reset_index()


def aims(table: pd.DataFrame) -> Iterator[str]:
    """JP self beside all others, in the user's set-up."""
    found = joint_beside(table)
    free, truth = found.dropna(subset=["free"]), found.dropna(subset=["truth"])
    lowest, near = free.ece <= free.free, truth.ece <= truth.truth + NEAR
    floor = lowest | (free.ece <= free.ece_floor)
    yield "| JP self, distance cost | measured | aim |\n|---|---|---|"
    for words, kept, aim in (
        ("lowest ECE of all rows without truth", lowest, "≥ 80 %"),
        ("… or an ECE below its own floor, where nothing can be better", floor, ""),
        ("… of all rows that are not scaled with truth, the transformers' too", free.ece <= free["any"], ""),
        ("… where it says “supported” for all sequences", lowest[free.verdict == "supported"], ""),
        (f"ECE not above the best row with truth by more than {NEAR}", near, "≥ 70 %"),
    ):
        yield f"| {words} | {int(kept.sum())} of {len(kept)} dataset × step ({kept.mean():.0%}) | {aim} |"
    own = table[(table.setup == "user") & (table.cost == "distance") & (label(table) == "JP self")]
    sure = own[(own.verdict == "supported") & (own.found_wrong >= LEAST_WRONG)]
    for words, right, wrong, aim in (
        ("wrong links", "found_wrong", "promised_wrong", "all"),
        ("swaps (wrong links whose true mother is among the masks)", "swaps", "promised_swaps", ""),
    ):
        kept = (sure[right] / sure[wrong]).between(*BAND)
        outside = [
            f"{row.dataset} {row.sequence} every {row.step}: {getattr(row, right):.0f} / {getattr(row, wrong):.0f}"
            for row in sure[~kept].itertuples()
        ]
        told = f"{int(kept.sum())} of {len(sure)}; outside: {'; '.join(outside) or 'none'}"
        yield (
            f"| found / promised {words} within {BAND[0]}–{BAND[1]} where {LEAST_WRONG} links are wrong and it says “supported” "
            f"| {told} | {aim} |"
        )


def decided(table: pd.DataFrame) -> Iterator[str]:
    """How many claims hold, and how many do not."""
    found = judge(table)
    yield "| claims | " + " | ".join(VERDICTS) + " |\n|---|---|---|---|"
    for words, own in (
        ("the paper's, in its set-up", found.source != "ours"),
        ("ours, as a user gets it", found.source == "ours"),
    ):
        counts = found[own].verdict.value_counts().reindex(list(VERDICTS), fill_value=0)
        yield f"| {words} | {' | '.join(map(str, counts))} |"


def hardest(table: pd.DataFrame) -> Iterator[str]:
    """JP self on the movie that is hardest, at every step."""
    own = table[(table.setup == "user") & (table.cost == "distance") & (label(table) == "JP self")]
    own = measured(own[own.dataset == "BF-C2DL-HSC"])
    yield "| every | links right | ECE (floor) | wrong links: found / promised | divisions: reported, right, true | verdict |"
    yield "|---|---|---|---|---|---|"
    for row in own.sort_values("step").itertuples():
        yield (
            f"| {row.step} | {100 * row.accuracy:.1f} % | {row.ece:.3f} ({row.ece_floor:.3f}) | {row.found_wrong:,.0f} / "
            f"{row.promised_wrong:,.0f} | {row.divisions:.0f}, {row.divisions_right:.0f}, {row.divisions_true:.0f} "
            f"| {row.verdict} |"
        )


def verdicts(table: pd.DataFrame) -> Iterator[str]:
    """How many promises are kept where a self-calibration says “supported”: swaps, found over promised."""
    own = table[(table.setup == "user") & (table.verdict == "supported") & (table.found_wrong >= LEAST_WRONG)]
    kept = (own.swaps / own.promised_swaps).between(*BAND).groupby([own.method, own.cost]).agg(["sum", "count"])
    lines = []
    for method in METHODS:
        cells = {cost: kept.loc[(method, cost)] for cost in COSTS if (method, cost) in kept.index}
        told = {cost: f"{int(each['sum'])} of {int(each['count'])}" for cost, each in cells.items()}
        lines.append({"method": f"{method} self"} | {cost: told.get(cost, "–") for cost in COSTS})
    return rows_of(pd.DataFrame(lines))


def misses(table: pd.DataFrame) -> Iterator[str]:
    """Where JP self is not lowest, or above the best row with truth."""
    found = joint_beside(table)
    own = found[(found.ece > found.free) | (found.ece > found.truth + NEAR)]
    yield "| data | every | links | JP self: ECE (floor), verdict | best other without truth | best with truth |"
    yield "|---|---|---|---|---|---|"
    for row in own.itertuples():
        best = [
            "–" if pd.isna(ece) else f"{'**' * bold}{ece:.4f}{'**' * bold} {name}"
            for ece, name, bold in (
                (row.free, row.free_name, row.ece > row.free),
                (row.truth, row.truth_name, row.ece > row.truth + NEAR),
            )
        ]
        told = f"{row.ece:.4f} ({row.ece_floor:.4f}), {row.verdict}"
        yield f"| {row.dataset} | {row.step} | {row.n_links:.0f} | {told} | {' | '.join(best)} |"


def errors(table: pd.DataFrame, setup: str) -> Iterator[str]:
    """Mean ECE over datasets at every 1st, 10th, 30th and 50th frame, a row per method and scaling, a column per cost."""
    own = measured(table[table.setup == setup])
    own = own.assign(name=label(own))
    means = own.groupby(["name", "cost", "step", "dataset"]).ece.mean().groupby(level=[0, 1, 2]).mean()
    order = [method + words for words in SCALING_WORDS.values() for method in (*METHODS, "Trackastra")]
    lines = []
    for name in (each for each in order if each in means.index):
        told = {
            cost: " · ".join("–" if pd.isna(each) else f"{each:.3f}" for each in part.droplevel(0).reindex(PAPER_STEPS))
            for cost, part in means[name].groupby(level=0)
        }
        lines.append({"method": name} | {cost: told.get(cost, "–") for cost in COSTS})
    return rows_of(pd.DataFrame(lines))


def peers(table: pd.DataFrame) -> Iterator[str]:
    """Everybody's links that are right and true links that are found, in per cent, and the ECE where there is a number."""
    names = {
        ("distance", "JP", "self"): "JP self, distance",
        ("distance", "SM", "none"): "SM, distance (a plain assignment)",
    }
    own = table[(table.setup == "user") & table.accuracy.notna() & table.model.isin(["", "dropout-0.25"])]
    keys = list(zip(own.cost, own.method, own.scaling, strict=True))
    own = own.assign(
        name=[names.get(key, key[1] if key[1] in ("trackpy", "LapTrack", "Trackastra") else None) for key in keys]
    )
    lines = []
    for name, part in own.dropna(subset=["name"]).groupby("name"):
        line = {"tracker": name}
        for step, at in part.groupby("step"):
            each = at.groupby("dataset")[["accuracy", "recall", "ece"]].mean()
            means, most = each.mean(), own[own.step == step].dataset.nunique()
            told = ("–" if pd.isna(means.ece) else f"{means.ece:.3f}") + f" ({len(each)} datasets)" * (len(each) < most)
            line[f"every {step}: right / found, ECE"] = f"{100 * means.accuracy:.1f} / {100 * means.recall:.1f}, {told}"
        lines.append(line)
    return rows_of(pd.DataFrame(lines).fillna("–"))


def methods(table: pd.DataFrame) -> Iterator[str]:
    """Each cost with each method, as tracked: what is right at each step, and the time over SM's; means over datasets."""
    own = measured(table[(table.setup == "user") & (table.scaling == "none")])
    columns = ["accuracy", "recall", "daughter_accuracy"]
    means = (
        own.groupby(["cost", "method", "step", "dataset"], sort=False)[columns]
        .mean()
        .groupby(level=[0, 1, 2], sort=False)
        .mean()
    )
    over = own.groupby(["cost", "method"], sort=False).overhead.mean()
    lines = []
    for (cost, method), part in means.groupby(level=[0, 1], sort=False):
        line = {"cost": cost, "method": method}
        for step, row in part.droplevel([0, 1]).sort_index().iterrows():
            line[f"every {step}"] = " / ".join(f"{100 * row[name]:.2f}" for name in columns)
        lines.append(line | {"time over SM": f"{over[cost, method]:.2f}×"})
    return rows_of(pd.DataFrame(lines).fillna("–"))


def joint(table: pd.DataFrame, steps: tuple[int, ...] = (1, 10, 30, 50)) -> Iterator[str]:
    """Every sequence and step with the distance cost, calibrated in six ways."""
    own = table[(table.setup == "user") & (table.cost == "distance") & table.step.isin(steps)]
    own = own.assign(name=label(own))
    own = own[own.name.isin(JOINT if len(steps) > 1 else [name for name in JOINT if not name.startswith("AS")])]
    head = ("data", "every", "method", "links right", "true links found", "daughters right", "ECE (floor)")
    yield f"| {' | '.join(head)} | ECE daughters (floor) | −log P | s |\n|{'---|' * 10}"
    for (data, sequence, step), part in own.groupby(["dataset", "sequence", "step"]):
        if part.ece.isna().all():
            yield f"| {data} {sequence} | {step} | all | {part.reason.iloc[0]} | | | | | | |"
            continue
        for row in part.assign(place=part.name.map(JOINT.index)).sort_values("place").itertuples():
            state = f" ({row.verdict})" if isinstance(row.verdict, str) and row.verdict != "supported" else ""
            numbers = (
                f"{row.reason} | | | | | | |" if pd.isna(row.ece) else
                f"{row.accuracy:.4f} | {row.recall:.4f} | {row.daughter_accuracy:.4f} | {row.ece:.4f} ({row.ece_floor:.4f}) | "
                f"{row.ece_daughters:.4f} ({row.ece_daughters_floor:.4f}) | {row.nll:.3f} | {row.seconds:.2g} |"
            )  # fmt: skip
            yield f"| {data} {sequence} | {step} | {row.name}{state} | {numbers}"


def transformer(table: pd.DataFrame) -> Iterator[str]:
    """The transformers beside the distance cost, in the user's set-up: means over the datasets that all have."""
    own = measured(table[(table.setup == "user") & table.cost.isin(["distance", "transformer"])])
    own = own.assign(name=label(own), tracker=(own.cost + " " + own.model.str.replace("-", " ")).str.strip())
    own = own[own.name.isin(["SM", "SM+TS", "SM self", "FP", "FP+TS", "FP+A", "JP self"])]
    both = own.groupby(["dataset", "step"]).tracker.transform("nunique") == own.groupby("step").tracker.transform(
        "nunique"
    )
    means = (
        own[both]
        .groupby(["tracker", "name", "step", "dataset"])[["accuracy", "ece"]]
        .mean()
        .groupby(level=[0, 1, 2])
        .mean()
    )
    lines = []
    for (tracker, name), part in means.groupby(level=[0, 1]):
        line = {"tracker": tracker, "method": name}
        for (*_, step), row in part.iterrows():
            line[f"every {step}: right, ECE"] = f"{100 * row.accuracy:.1f} %, {row.ece:.3f}"
        lines.append(line)
    return rows_of(pd.DataFrame(lines).fillna("–"))


def skipping(table: pd.DataFrame) -> Iterator[str]:
    """What was promised without truth, with it and as it comes, at every 10th frame."""
    own = table[(table.setup == "user") & (table.cost == "distance") & (table.step == 10) & table.ece.notna()]
    hows = {
        ("SM", "none"): "as is",
        ("SM", "self"): "self",
        ("SM", "temperature"): "with truth",
        ("JP", "self"): "self",
    }
    yield f"| movie | method | how | verdict | promised / found swaps | ECE (floor) | −log P |\n{'|---' * 7}|"
    for (dataset, sequence), part in own.groupby(["dataset", "sequence"]):
        for (method, scaling), how in hows.items():
            for row in part[(part.method == method) & (part.scaling == scaling)].itertuples():
                verdict = row.verdict if isinstance(row.verdict, str) else ""
                yield (
                    f"| {dataset} {sequence} | {method} | {how} | {verdict} | {row.promised_swaps:.1f} / {row.swaps:.0f} | "
                    f"{row.ece:.4f} ({row.ece_floor:.4f}) | {row.nll:.4f} |"
                )


TABLES = {
    "skipping": skipping,
    "claims": claims,
    "ours": lambda table: claims(table, ours=True),
    "coverage": coverage,
    "missing": missing,
    "figures-paper": lambda table: figures("paper"),
    "figures-user": lambda table: figures("user"),
    "aims": aims,
    "misses": misses,
    "decided": decided,
    "verdicts": verdicts,
    "hardest": hardest,
    "errors-paper": lambda table: errors(table, "paper"),
    "errors-user": lambda table: errors(table, "user"),
    "peers": peers,
    "methods": methods,
    "joint": joint,
    "joint-every-10": lambda table: joint(table, (10,)),
    "transformer": transformer,
}


def filled(text: str, table: pd.DataFrame) -> str:
    """A page with its tables made anew."""

    def made(found: re.Match[str]) -> str:
        lines = "\n".join(TABLES[found[1]](table))
        return f"<!-- table {found[1]} -->\n\n{lines}\n\n<!-- end -->"

    return re.sub(r"<!-- table ([a-z0-9-]+) -->.*?<!-- end -->", made, text, flags=re.DOTALL)


def main() -> None:
    """Take a run over, if one is named, and fill the pages."""
    if len(sys.argv) > 1:
        run = Path(sys.argv[1])
        shutil.copy(run / "results.csv", HERE)
        (HERE / "figures").mkdir(exist_ok=True)
        for old in (HERE / "figures").glob("*"):
            old.unlink()
        for figure in sorted((run / "figures").glob("*.svg")):
            shutil.copy(figure, HERE / "figures")
    table = read_table(HERE / "results.csv")
    for page in PAGES:
        page.write_text(filled(page.read_text(), table))


if __name__ == "__main__":
    main()
