"""The tidy table: a row per set-up, dataset, sequence, frame step, cost, model, method and scaling."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dunno.errors import InputError, MissingExtra
from dunno.io.writing import whole

if TYPE_CHECKING:
    from pandas import DataFrame

Row = dict[str, Any]

COMMON_COLUMNS = ("setup", "dataset", "sequence", "step", "cost", "model")
"""What rows have in common that are measured on the same thing."""

COLUMN_MEANINGS = {
    "setup": "paper: every mother a candidate, no ⊥; user: what a user gets by default",
    "dataset": "its folder's name",
    "sequence": "which sequence, or half of one, is evaluated",
    "step": "every how many frames",
    "cost": "the cost's name",
    "model": "the transformer's model, by its folder's name",
    "method": "the method's, or a peer's, name",
    "scaling": "none; temperature (TS, fitted with truth on the dataset's first part); self (fitted to the movie, without truth); "
    "events (JP's model, fitted with truth)",
    "n_pairs": "frame pairs that are evaluated",
    "n_links": "links that are evaluated",
    "accuracy": "share of them that is right",
    "recall": "share of true links that is found",
    "daughter_accuracy": "share of daughters whose decision, a mother or ⊥, is right",
    "confidence": "mean confidence of the links",
    "ece": "calibration error of the links",
    "ece_floor": "what a calibrated predictor stays below in 95 % of draws",
    "ece_daughters": "calibration error of all daughters' decisions",
    "ece_daughters_floor": "its floor",
    "nll": "mean −log P of the truth",
    "brier": "mean squared error of daughters' distributions",
    "auroc": "chance that a right link is more confident than a wrong one",
    "aurc": "mean share of wrong links among the most confident",
    "promised_wrong": "Σ(1 − P) of the links",
    "found_wrong": "how many are wrong",
    "promised_swaps": "Σ(1 − P) of links whose daughter's true mother is among the masks",
    "swaps": "how many of these are wrong",
    "divisions": "reported divisions (JP)",
    "divisions_right": "those that are right",
    "divisions_true": "annotated divisions",
    "gain_edge": "mean gain in accuracy from leaving out the links of least probability",
    "gain_entropy": "the same by entropy",
    "oracle_gain": "the most that any order could gain",
    "temperature": "T, the paper's 1/τ",
    "squared_displacement": "mean, of true links in what was calibrated on",
    "dimensions": "2 or 3",
    "seconds": "processor seconds of tracking; not those of a calibration with truth",
    "overhead": "seconds over those of SM",
    "verdict": "of a self-calibration: supported, untested or contradicted; of a temperature: at bound",
    "reason": "why there are no numbers, or why the verdict is what it is",
    "masks": "where the detections came from",
    "version": "of dunno",
    "seed": "of everything random",
}


def check_extras() -> None:
    """Refuse to begin what could not be tabled or drawn."""
    try:
        import matplotlib  # noqa: F401
        import pandas  # noqa: F401
    except ImportError:
        raise MissingExtra("the benchmark needs pandas and matplotlib: pip install 'dunno[pandas,plot]'") from None


def table_of(rows: Iterable[Row]) -> DataFrame:
    """The rows as a table, curves and all, with each one's time over that of SM."""
    import pandas as pd

    table = pd.DataFrame(
        [{**row, "model": row.get("model") or ""} for row in rows], columns=[*COLUMN_MEANINGS, "curves"]
    )
    softmax = table[(table.method == "SM") & (table.scaling == "none")].set_index(list(COMMON_COLUMNS)).seconds
    places = pd.MultiIndex.from_frame(table[list(COMMON_COLUMNS)])
    table["overhead"] = table.seconds / softmax.reindex(places).to_numpy(float)
    return table


def write_table(table: DataFrame, path: Path) -> None:
    """Write the table as CSV, whole or not at all; the curves are not in it."""
    with whole(path, overwrite=True) as partial:
        table[list(COLUMN_MEANINGS)].to_csv(partial, index=False, float_format="%.6g")


def read_table(path: Path) -> DataFrame:
    """Read what `write_table` wrote."""
    import pandas as pd

    table = pd.read_csv(path, dtype={"sequence": str, "model": str, "version": str})
    if list(table.columns) != list(COLUMN_MEANINGS):
        raise InputError(f"{path}: is no table of this version's benchmark; run dunno benchmark again")
    return table.fillna({"model": ""}).assign(curves=None)


def beside_others(table: DataFrame, path: Path) -> DataFrame:
    """The table with another run's rows that it does not have itself."""
    import pandas as pd

    others = read_table(path)
    key = [*COMMON_COLUMNS, "method", "scaling"]
    known = pd.MultiIndex.from_frame(table[key])
    return pd.concat([table, others[~pd.MultiIndex.from_frame(others[key]).isin(known)]], ignore_index=True)
