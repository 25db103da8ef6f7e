"""`dunno evaluate`: an output against its truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def evaluate(
    output: Annotated[Path, typer.Argument(metavar="OUT", help="A folder that `dunno track` wrote.")],
    truth: Annotated[Path, typer.Option(help="The annotation: SEQ_GT, or its TRA folder with man_track.txt.")],
    scores: Annotated[Path | None, typer.Option("--output", "-o", help="Write the scores as JSON.")] = None,
    masks: Annotated[Path | None, typer.Option(help="Where the movie's masks are now, if they have moved.")] = None,
    bootstrap: Annotated[int, typer.Option(help="Resamplings of frame pairs for 95 % intervals; 0 for none.")] = 200,
    challenge: Annotated[
        bool, typer.Option("--ctc", help="Also the Cell Tracking Challenge's measures (extra: dunno[ctc]).")
    ] = False,
    seed: Annotated[int, typer.Option(help="Makes everything random repeatable.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Say how right an output is, and how true its probabilities are."""
    from dunno import evaluation
    from dunno.evaluation.challenge import challenge_measures
    from dunno.io.ctc import match_folder, truth_folder
    from dunno.io.writing import check_output, whole
    from dunno.tracking import Tracking

    if scores is not None:
        check_output(scores, overwrite=False)
    truth = truth_folder(truth)
    tracking = Tracking.read(output, masks)
    found = evaluation.score(tracking, match_folder(truth, tracking.movie), bootstrap=bootstrap, seed=seed)
    content: dict[str, Any] = {"output": str(output), "truth": str(truth), "about": _about(tracking), **found.to_dict()}
    if challenge:
        content["challenge"] = challenge_measures(tracking, truth)
    if scores is not None:
        with whole(scores) as partial:
            partial.write_text(json.dumps(content, indent=2) + "\n")
    if as_json:
        typer.echo(json.dumps(content, indent=2))
    else:
        _show(content, tracking.about)


def _about(tracking: Any) -> dict[str, Any]:
    return {key: value for key, value in tracking.about.items() if key != "frames"}


ROWS = (
    ("links that are right", "accuracy", None),
    ("true links found", "recall", None),
    ("daughters decided right", "daughter_accuracy", None),
    ("calibration error, links", "ece", "ece_floor"),
    ("calibration error, daughters", "ece_daughters", "ece_daughters_floor"),
    ("−log P(truth)", "nll", None),
    ("Brier score", "brier", None),
    ("AUROC", "auroc", None),
    ("AURC", "aurc", None),
    ("calibration error, no mother", "ece_no_mother", None),
    ("calibration error, divisions", "ece_divide", None),
)


def _show(content: dict[str, Any], about: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    from dunno.evaluation.accuracy import promised_and_found

    state = about["verdict"]
    title = f"{about['movie']}, every {about['step']}: {about['cost']}, {about['method']}, {state}"
    table = Table(title=title, title_justify="left")
    for name in ("", "score", "95 % interval", "floor"):
        table.add_column(name, justify="left" if not name else "right")
    for words, key, floor in ROWS:
        value, interval = content[key], content["intervals"].get(key)
        shown = "undefined" if value is None else f"{value:.4f}"
        between = "" if interval is None else f"{interval[0]:.4f} – {interval[1]:.4f}"
        below = "" if floor is None or content[floor] is None else f"{content[floor]:.4f}"
        table.add_row(words, shown, between, below)
    console = Console(highlight=False)
    console.print(table)
    console.print(
        f"{content['n_links']:,} links, {content['n_daughters']:,} daughters, {content['n_true_links']:,} true links"
    )
    names = ("promised_wrong", "swaps", "unseen_mothers", "beginnings")
    console.print(promised_and_found(*(content[name] for name in names)))
    odd = [f"{count:,} {name.replace('_', ' ')}" for name, count in content["counts"].items() if count]
    if odd:
        console.print("left out or odd: " + ", ".join(odd))
    for name, value in content.get("challenge", {}).items():
        console.print(f"{name}: {value:.4f}")
    console.print(
        "The floor is what a perfectly calibrated tracker with these confidences would stay below 95 times in 100."
    )
