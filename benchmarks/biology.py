"""Do the 95 % intervals of `dunno measure` hold the truth? Simulated colonies, clean and with faults in their masks.

    python -m benchmarks.biology [--colonies 12] [--faults 0,0.01] [--samples 200] [--options max_gap=2,…]
    DUNNO_DATA=... python -m benchmarks.biology --real
    DUNNO_DATA=... python -m benchmarks.biology --filtered

A Markdown row per share of faults: each of missed, false, merged and split masks. `--real` says instead where the annotation of
HeLa 02 and iPSC-07 03 lies. `--filtered` compares with cutting every link below 99 % and counting what is cut as censored, as
OrganoidTracker 2 does it.
"""

from __future__ import annotations

import argparse
import ast
import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dunno import Tracker, read
from dunno.biology import Biology, Lineage, measure
from dunno.biology.survival import kaplan_meier
from dunno.errors import DunnoWarning
from dunno.evaluation.pairs_with_truth import of_tracking
from dunno.io.filtering import LeftOut, sure_links
from dunno.simulate import colony
from dunno.types import Truth

ASKED = ("divisions", "median_cycle")


def true_figures(truth: Truth) -> dict[str, float]:
    """The number of divisions in view and the median complete cycle, in frames, as the annotation has them."""
    daughters = {int(track): truth.first[truth.mother == track] for track in np.unique(truth.mother[truth.mother > 0])}
    divided = {track: born.min() for track, born in daughters.items() if len(born) >= 2}
    whole = [
        divided[int(track)] - first
        for track, first, mother in zip(truth.track, truth.first, truth.mother, strict=True)
        if int(track) in divided and int(mother) in divided
    ]
    return {"divisions": float(len(divided)), "median_cycle": float(np.median(whole)) if whole else float("nan")}


def told(found: Biology) -> dict[str, tuple[float, float, float]]:
    """Value and interval of the figures that are asked for."""
    return {each.name: (each.value, each.low, each.high) for each in found.figures if each.name in ASKED}


def covers(interval: tuple[float, float, float], truth: float) -> bool:
    """Whether an interval holds the truth."""
    return bool(interval[1] <= truth <= interval[2])


def one(seed: int, share: float, samples: int, options: dict[str, Any]) -> dict[str, tuple[bool, float, float]]:
    """One colony: whether each interval holds the truth, the relative error of the value, and the width."""
    faults = dict.fromkeys(("missed", "false", "merged", "split"), share)
    simulated = colony(cells=25, frames=40, motion=0.15, cycle=16, seed=seed, **faults)
    truth = true_figures(simulated.truth)
    found = told(measure(Tracker(workers=1, **options).track(simulated.movie), samples, seed))
    return {
        name: (covers(found[name], truth[name]), found[name][0] / truth[name] - 1, found[name][2] - found[name][1])
        for name in ASKED
        if np.isfinite(truth[name])
    }


def filtered(samples: int, options: dict[str, Any]) -> None:
    """Print divisions and the median age at division, of all links, of those above 99 %, and pooled over drawn lineages."""
    print("| movie | way | divisions | half have divided by age (frames) | links kept |\n|---|---|---|---|---|")
    simulated = colony(cells=25, frames=40, motion=0.3, cycle=16, seed=0)
    movie, truth = read(Path(os.environ["DUNNO_DATA"]) / "Fluo-N2DL-HeLa/02", truth=True)
    movie.interval = None
    for name, each, true in (("simulated, motion .3", simulated.movie, simulated.truth), ("HeLa 02", movie, truth)):
        tracking = Tracker(workers=1, **options).track(each)
        found = on_annotated(measure(tracking, samples), true)
        left_out = LeftOut()
        sure = replace(tracking, blocks=tuple(sure_links(tracking.blocks, 0.99, left_out)))
        cut = on_annotated(measure(sure, 0), true)
        n_links = sum(len(pair.link_probability) for pair in tracking.pairs)
        known = true_figures(true)
        print(f"| {name} | annotated | {known['divisions']:g} | {true_median(true):g} | |")
        for way, one_way, kept in (("above 99 %", cut, 1 - left_out.links / n_links), ("drawn lineages", found, 1.0)):
            assert one_way.survival is not None
            median, low, high = one_way.survival.median()
            value, at_least, at_most = told(one_way)["divisions"]
            between = "" if np.isnan(at_least) else f" ({at_least:g} – {at_most:g})"
            print(f"| {name} | {way} | {value:g}{between} | {median:g} ({low:g} – {high:g}) | {kept:.1%} |", flush=True)


def true_median(truth: Truth) -> float:
    """The age by which half of the cells have divided, by the annotation, those not seen to divide censored."""
    born = truth.mother > 0
    daughters = [truth.first[truth.mother == track] for track in truth.track[born]]
    divided = np.array([len(each) >= 2 for each in daughters])
    ends = [
        int(each.min()) if len(each) >= 2 else int(last) for each, last in zip(daughters, truth.last[born], strict=True)
    ]
    age = np.array(ends, float) - truth.first[born]
    ages = np.unique(age)
    share, _ = kaplan_meier(age, divided, ages)
    return float(ages[share <= 0.5][0]) if (share <= 0.5).any() else float("nan")


def on_annotated(found: Biology, truth: Truth) -> Biology:
    """The same on masks that hold an annotated cell alone: others cannot be compared."""
    truth, rows = of_tracking(truth, found.tracking), found.lineage.rows
    known = np.concatenate([track > 0 for track in truth.tracks])[rows.source]

    def only(lineage: Lineage) -> Lineage:
        return Lineage.from_mothers(lineage.rows, lineage.mother, known)

    return replace(found, lineage=only(found.lineage), draws=tuple(map(only, found.draws)), counted=None)


def real(samples: int, options: dict[str, Any]) -> None:
    """Print where the annotation of real movies lies."""
    data = Path(os.environ["DUNNO_DATA"])
    print("| movie | figure | annotated | value | 95 % interval | inside |\n|---|---|---|---|---|---|")
    for name, masks in (("Fluo-N2DL-HeLa/02", None), ("iPSC-07/03", None), ("iPSC-07/03", data / "iPSC-07" / "03_RES")):
        movie, truth = read(data / name, masks=masks, truth=True)
        movie.interval = None  # counted in frames, as the annotation counts
        measured = measure(Tracker(workers=1, **options).track(movie), samples)
        found, true = told(on_annotated(measured, truth)), true_figures(truth)
        for figure in ASKED:
            value, low, high = found[figure]
            shown = f"{name}{'' if masks is None else ', its program’s masks'}"
            inside = "yes" if covers(found[figure], true[figure]) else "no"
            print(f"| {shown} | {figure} | {true[figure]:g} | {value:g} | {low:g} – {high:g} | {inside} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--colonies", type=int, default=12)
    parser.add_argument("--faults", default="0,0.01")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--options", default="", help="of the Tracker, such as max_gap=2")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--filtered", action="store_true")
    given = parser.parse_args()
    options = {key: _value(text) for key, _, text in (part.partition("=") for part in given.options.split(",") if part)}
    warnings.simplefilter("ignore", DunnoWarning)
    if given.real or given.filtered:
        (real if given.real else filtered)(given.samples, options)
        return
    print(
        "| each fault | figure | intervals that hold the truth | mean error of the value | mean width |\n|---|---|---|---|---|"
    )
    for share in map(float, given.faults.split(",")):
        rows = [one(seed, share, given.samples, options) for seed in range(given.colonies)]
        for name in ASKED:
            held, error, width = zip(*(row[name] for row in rows if name in row), strict=True)
            print(
                f"| {share:.0%} | {name} | {sum(held)} of {len(held)} | {np.mean(error):+.1%} | {np.mean(width):.1f} |",
                flush=True,
            )


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


if __name__ == "__main__":
    main()
