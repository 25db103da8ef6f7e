"""Everything that was measured, as a folder: tables, a page and pictures."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dunno.biology import curves
from dunno.biology.quantities import Biology
from dunno.biology.results_page import page
from dunno.io.writing import leave_marker, whole

PAGE = "biology.html"


def write_biology(found: Biology, folder: str | Path, *, overwrite: bool = False) -> Path:
    """Write the tables as CSV, `biology.html`, and its pictures in `figures/`, whole or not at all; returns the page."""
    folder = Path(folder)
    rates = curves.rates(found)
    trees, told = curves.draw_trees(found)
    drawings = {"rates": curves.draw_rates(rates, found.time_unit), "cells": curves.draw_cells(found), "trees": trees}
    if found.survival is not None:
        drawings["survival"] = curves.draw_survival(found.survival, found.time_unit)
    with whole(folder, overwrite) as partial:
        (partial / "figures").mkdir(parents=True)
        for name, columns in found.tables.items():
            write_table(partial / f"{name}.csv", columns)
        for name, drawing in drawings.items():
            if drawing:
                (partial / "figures" / f"{name}.svg").write_text(curves.standalone(drawing), encoding="utf-8")
        (partial / PAGE).write_text(page(found, drawings, rates, told), encoding="utf-8")
        about = {"samples": len(found.draws), "movie": found.tracking.about.movie}
        leave_marker(partial, found.tracking.about.version, biology=about)
    return folder / PAGE


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns as CSV: whole numbers as such, others with nine digits, nothing for NaN."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(
            zip(*([_cell_text(value) for value in column.tolist()] for column in columns.values()), strict=True)
        )


def _cell_text(value: Any) -> Any:
    if isinstance(value, float):
        return "" if value != value else f"{value:.9g}"
    return value
