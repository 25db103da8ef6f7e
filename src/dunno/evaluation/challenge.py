"""The Cell Tracking Challenge's own measures, by an independent library."""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import InputError, MissingExtra
from dunno.io.ctc import read_table, write_mask, write_table
from dunno.io.filtering import LeftOut, sure_links
from dunno.io.images import ImageFiles
from dunno.tracking import Tracking

OUTLINES = "SEG"
"""Asked for where whole cells are given."""

MEASURES = ("TRA", "DET", "LNK", "CT", "TF", "BC", "CCA", "CHOTA")
THRESHOLDS = (0.5, 0.9, 0.99, 0.999)
"""Below which links are cut, one after the other."""


def challenge_measures(
    tracking: Tracking, truth: Path, cells: Path | None = None, names: Sequence[str] = MEASURES
) -> dict[str, float]:
    """TRA, DET, LNK, CT, TF, BC (F1 of divisions, by how many frames they may be off), CCA, CHOTA and SEG, by `py-ctcmetrics`.

    A measure that is undefined (BC without divisions, CCA without complete cycles) is left out. The truth is a `SEQ_GT/TRA` folder,
    `cells` are masks of whole cells, for SEG, and every frame of the sequence was tracked.
    """
    with _annotation(tracking, truth, cells) as folder:
        return _measured(tracking, folder, (*names, *([] if cells is None else [OUTLINES])))


def challenge_curve(
    tracking: Tracking, truth: Path, thresholds: Sequence[float] = THRESHOLDS, cells: Path | None = None
) -> list[dict[str, float]]:
    """The same measures with doubtful links cut: quality against the share of links kept.

    A row for all links, and one per threshold, below which they are cut: `min_probability`, `share_of_links`, and the measures.
    """
    n_links = sum(len(pair.link_probability) for pair in tracking.pairs)
    rows, names = [], (*MEASURES, *([] if cells is None else [OUTLINES]))
    with _annotation(tracking, truth, cells) as folder:
        for least in (0.0, *thresholds):
            left_out = LeftOut()
            cut = replace(tracking, blocks=tuple(sure_links(tracking.blocks, least, left_out)))
            share = 1 - left_out.links / n_links if n_links else float("nan")
            rows.append({"min_probability": least, "share_of_links": share, **_measured(cut, folder, names)})
    return rows


@contextlib.contextmanager
def _annotation(tracking: Tracking, truth: Path, cells: Path | None) -> Any:
    """A folder with the truth as the library wants it, which is that there is a mask of a whole cell, whatever is asked."""
    if tracking.about.step != 1:
        raise InputError("the challenge's measures are for every frame of a sequence; this is every n-th")
    with tempfile.TemporaryDirectory() as folder:
        annotation = Path(folder) / "01_GT"
        shutil.copytree(truth, annotation / "TRA")
        (annotation / "SEG").mkdir()
        for file in sorted((cells or annotation / "TRA").glob("*.tif"))[: None if cells else 1]:
            shutil.copy(file, annotation / "SEG" / file.name.replace("man_track", "man_seg"))
        yield Path(folder)


def _measured(tracking: Tracking, folder: Path, names: Sequence[str]) -> dict[str, float]:
    try:
        from ctc_metrics import evaluate_sequence
    except ImportError:
        raise MissingExtra("the challenge's measures need py-ctcmetrics: pip install 'dunno[ctc]'") from None
    result = folder / "01_RES"
    shutil.rmtree(result, ignore_errors=True)
    with contextlib.redirect_stdout(io.StringIO()):
        tracking.to_ctc(result)
        _compact(result)
        found = evaluate_sequence(str(result), str(folder / "01_GT"), list(names), threads=1)
    measured = {name: float(v) for name, v in found.items() if name.split("(")[0] in names and v is not None}
    if not measured:
        raise InputError(
            f"py-ctcmetrics finds no measure for {tracking.movie.name}: it calls the result or the truth invalid"
        )
    return measured


def _compact(result: Path) -> None:
    """Number the tracks from 1 on: pieces of tracks with gaps have labels near 65,535, and the library adds to them in 16 bits."""
    table = read_table(result / "res_track.txt")
    number = np.zeros(int(table.track.max(initial=0)) + 1, np.uint16)
    number[table.track] = np.arange(len(table.track)) + 1
    for file in sorted(result.glob("*.tif")):
        write_mask(file, number[ImageFiles([file])[0]])
    columns = number[table.track], table.first, table.last, number[table.mother]
    write_table(result / "res_track.txt", zip(*(column.tolist() for column in columns), strict=True))
