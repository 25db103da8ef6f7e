"""`dunno evaluate`: an output against its truth."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from dunno.cli.console import say, table


def evaluate(
    output: Annotated[Path, Argument(metavar="OUT", help="A folder that `dunno track` wrote.")],
    truth: Annotated[
        Path, Option(help="The annotation: SEQ_GT, a table of cells and their mothers or of tracks (.csv), or a GEFF.")
    ],
    scores: Annotated[Path | None, Option("--output", "-o", help="Write the scores as JSON.")] = None,
    cells: Annotated[
        Path | None,
        Option(help="Masks of whole cells with the annotation's labels, where its own are markers: SEQ_ST/SEG."),
    ] = None,
    masks: Annotated[Path | None, Option(help="Where the movie's masks are now, if they have moved.")] = None,
    bootstrap: Annotated[int, Option(help="Resamplings of frame pairs for 95 % intervals; 0 for none.")] = 200,
    bins: Annotated[int, Option(help="Bins of confidence in the calibration errors.")] = 10,
    challenge: Annotated[
        bool,
        Option("--ctc", help="Also the Cell Tracking Challenge's measures, and with doubtful links cut (dunno[ctc])."),
    ] = False,
    seed: Annotated[int, Option(help="Makes everything random repeatable.")] = 0,
    as_json: Annotated[bool, Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Say how right an output is, and how true its probabilities are."""
    from dunno import evaluation
    from dunno.evaluation.calibration_error import check_bins
    from dunno.evaluation.challenge import challenge_curve
    from dunno.evaluation.side_by_side import side_by_side
    from dunno.io.ctc import truth_folder
    from dunno.io.output import read_segments, reopen_given
    from dunno.io.truths import read_truth
    from dunno.io.writing import check_output, whole
    from dunno.tracking import Tracking

    check_bins(bins)
    if scores is not None:
        check_output(scores, overwrite=False)
    truth = truth_folder(truth)
    tracking = Tracking.read(output, masks)
    matched = read_truth(truth, tracking.movie, cells)
    found = evaluation.score(tracking, matched, bootstrap=bootstrap, seed=seed, n_bins=bins)
    content: dict[str, Any] = {
        "output": str(output),
        "truth": str(truth),
        "about": tracking.about.without_frames,
        **found.to_dict(),
    }
    content["side_by_side"] = {
        name: {key: told[key] for key in BESIDE}
        for name, each in side_by_side(tracking, matched).items()
        for told in (evaluation.score(each, matched, seed=seed, n_bins=bins).to_dict(),)
    }
    if matched.markers is not None and tracking.movie.has_masks:
        given = reopen_given(output, masks) if tracking.about.judges_masks else tracking.movie
        content["masks"] = evaluation.repair_scores(tracking, given, matched, read_segments(output)).to_dict()
    if challenge:
        content["challenge_curve"] = challenge_curve(tracking, truth, cells=cells)
        besides = ("min_probability", "share_of_links")
        content["challenge"] = {k: v for k, v in content["challenge_curve"][0].items() if k not in besides}
    if scores is not None:
        with whole(scores) as partial:
            partial.write_text(json.dumps(content, indent=2) + "\n")
    if as_json:
        say(json.dumps(content, indent=2))
    else:
        _show(content, tracking.about)


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
)


BESIDE = ("n_links", "promised_swaps", "swaps", "ece", "ece_floor", "nll")
"""What is compared between calibrations."""


def _show(content: dict[str, Any], about: Any) -> None:
    from rich.console import Console

    from dunno.evaluation.accuracy import promised_and_found

    title = f"{about.movie}, every {about.step}: {about.cost}, {about.method}, {about.verdict}"
    console = Console(highlight=False)
    console.print(table(title, ("", "score", "95 % interval", "floor"), _scores(content)))
    console.print(
        f"{content['n_links']:,} links, {content['n_daughters']:,} daughters, {content['n_true_links']:,} true links"
    )
    names = ("promised_wrong", "swaps", "unseen_mothers", "beginnings")
    console.print(promised_and_found(*(content[name] for name in names)))
    console.print(_tracks(content))
    console.print(_divisions(content["divisions"]))
    if content["divisions"]["bins"]:
        told = content["divisions"]
        title = f"P(divide): promised and found, within {told['tolerance']} frames"
        console.print(_bins(title, ("P(divide)", "cells", "divisions promised"), told["bins"], "masks"))
    if "masks" in content:
        console.print(_masks(content["masks"]))
        for title, columns, bins in MASK_BINS:
            if content["masks"][bins]:
                console.print(_bins(title, columns, content["masks"][bins], "count"))
    counts = {**content["counts"]}
    if (true := counts.pop("true_gap_links", None)) is not None:
        console.print(f"across missing masks: {counts.pop('gap_links'):,} links, {true:,} true ones")
    if len(content["side_by_side"]) > 1:
        console.print(_beside(content["side_by_side"]))
    odd = [f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    if odd:
        console.print("left out or odd: " + ", ".join(odd))
    if "challenge_curve" in content:
        console.print(_challenge(content["challenge_curve"]))
    console.print(
        f"Calibration errors are over {content['n_bins']} bins of confidence. The floor is what a perfectly calibrated tracker "
        "with these confidences would stay below 95 times in 100."
    )


def _scores(content: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Each score with its interval and its floor, where it has them."""
    for words, key, floor in ROWS:
        value, interval = content[key], content["intervals"].get(key)
        shown = "undefined" if value is None else f"{value:.4f}"
        between = "" if interval is None else f"{interval[0]:.4f} – {interval[1]:.4f}"
        below = "" if floor is None or content[floor] is None else f"{content[floor]:.4f}"
        yield words, shown, between, below


def _challenge(rows: list[dict[str, float]]) -> object:
    """The challenge's measures, a column for all links and for each threshold."""
    least = ["all links" if row["min_probability"] == 0 else f"≥ {row['min_probability']:g}" for row in rows]
    kept = ("share of links kept", *(f"{row['share_of_links']:.4f}" for row in rows))
    names = [name for name in rows[0] if name not in ("min_probability", "share_of_links")]
    measures = [(name, *(f"{row[name]:.4f}" if name in row else "–" for row in rows)) for name in names]
    return table("the challenge's measures, with links cut below a probability", ("", *least), [kept, *measures])


def _tracks(told: dict[str, Any]) -> str:
    tracks = told["tracks"]
    return (
        f"of {tracks['cells']:,} annotated cells {tracks['own']:,} have a track of their own, "
        f"{tracks['whole']:,} lie in one track; {tracks['cycles']:,} of {tracks['true_cycles']:,} cycles are complete; "
        f"{told['held_recall']:.4f} of the true links are made"
    )


def _divisions(told: dict[str, Any]) -> str:
    expected = (
        "" if told["expected"] is None else f"; {told['expected']:,.1f} expected, {told['expected_in_all']:,.1f} in all"
    )
    return (
        f"divisions: {told['reported']:,} reported, {told['right']:,} of them right within {told['tolerance']} frames, "
        f"{told['true']:,} true{expected}"
    )


MASK_BINS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "P(segment): promised and found, where the annotation can judge",
        ("P(segment)", "segments", "promised"),
        "segments",
    ),
    ("P(cell): objects promised and found to be annotated cells", ("P(cell)", "objects", "promised"), "objects"),
)


def _bins(title: str, names: Sequence[str], rows: list[dict[str, Any]], count: str) -> object:
    """What is promised and found, by probability; empty bins are left out."""
    told = [
        (f"{each['low']:g} – {each['high']:g}", f"{each[count]:,}", f"{each['promised']:,.1f}", f"{each['found']:,.1f}")
        for each in rows
        if each[count]
    ]
    return table(title, (*names, "found"), told)


def _masks(told: dict[str, Any]) -> object:
    """How masks detect and outline cells."""
    names = ("", "masks", "cells missed", "on no cell", "cells that share one", "DET", "SEG")
    kinds = ("given", "repaired", "cells") if told["segments"] or told["objects"] else ("given",)
    rows = []
    for kind in kinds:
        counts = (f"{told[kind][name]:,}" for name in ("masks", "missed", "false", "shared"))
        rows.append((kind, *counts, *(_score(told[kind][name]) for name in ("det", "seg"))))
    return table("masks beside annotated cells (cells: repaired masks without debris)", names, rows)


def _beside(found: dict[str, dict[str, Any]]) -> object:
    """As is, calibrated, and with truth."""
    names = ("", "links", "swaps promised", "found", "calibration error", "floor", "−log P(truth)")
    rows = []
    for name, told in found.items():
        scores = (_score(told[key]) for key in ("ece", "ece_floor", "nll"))
        rows.append((name, f"{told['n_links']:,}", f"{told['promised_swaps']:,.0f}", f"{told['swaps']:,}", *scores))
    return table("the same, calibrated in other ways (with truth: a temperature, cross-fitted in halves)", names, rows)


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
