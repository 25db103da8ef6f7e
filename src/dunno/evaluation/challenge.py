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

from dunno.errors import InputError, MissingExtra
from dunno.io.filtering import LeftOut, sure_links
from dunno.tracking import Tracking

MEASURES = ("TRA", "DET", "LNK", "CT", "TF", "BC", "CCA", "CHOTA")
THRESHOLDS = (0.5, 0.9, 0.99, 0.999)
"""Below which links are cut, one after the other."""


def challenge_measures(tracking: Tracking, truth: Path) -> dict[str, float]:
    """TRA, DET, LNK, CT, TF, BC (F1 of divisions, by how many frames they may be off), CCA and CHOTA, through `py-ctcmetrics`.

    A measure that is undefined (BC without divisions, CCA without complete cycles) is left out.

    Args:
        tracking: What was tracked; every frame of its sequence.
        truth: A `SEQ_GT/TRA` folder.
    """
    with _annotation(tracking, truth) as folder:
        return _measured(tracking, folder)


def challenge_curve(
    tracking: Tracking, truth: Path, thresholds: Sequence[float] = THRESHOLDS
) -> list[dict[str, float]]:
    """The same measures with doubtful links cut: quality against the share of links kept.

    Args:
        tracking: What was tracked.
        truth: A `SEQ_GT/TRA` folder.
        thresholds: Links less probable than each are cut.

    Returns:
        A row for all links, and one per threshold: `min_probability`, `share_of_links`, and the measures.
    """
    n_links = sum(len(pair.link_probability) for pair in tracking.pairs)
    rows = []
    with _annotation(tracking, truth) as folder:
        for least in (0.0, *thresholds):
            left_out = LeftOut()
            cut = replace(tracking, blocks=tuple(sure_links(tracking.blocks, least, left_out)))
            share = 1 - left_out.links / n_links if n_links else float("nan")
            rows.append({"min_probability": least, "share_of_links": share, **_measured(cut, folder)})
    return rows


@contextlib.contextmanager
def _annotation(tracking: Tracking, truth: Path) -> Any:
    """A folder with the truth as the library wants it."""
    if tracking.about.step != 1:
        raise InputError("the challenge's measures are for every frame of a sequence; this is every n-th")
    with tempfile.TemporaryDirectory() as folder:
        annotation = Path(folder) / "01_GT"
        shutil.copytree(truth, annotation / "TRA")
        (annotation / "SEG").mkdir()
        first = min((annotation / "TRA").glob("*.tif"))  # the library wants one mask there, whatever is asked of it
        shutil.copy(first, annotation / "SEG" / first.name.replace("man_track", "man_seg"))
        yield Path(folder)


def _measured(tracking: Tracking, folder: Path) -> dict[str, float]:
    try:
        from ctc_metrics import evaluate_sequence
    except ImportError:
        raise MissingExtra("the challenge's measures need py-ctcmetrics: pip install 'dunno[ctc]'") from None
    result = folder / "01_RES"
    shutil.rmtree(result, ignore_errors=True)
    with contextlib.redirect_stdout(io.StringIO()):
        tracking.to_ctc(result)
        found = evaluate_sequence(str(result), str(folder / "01_GT"), list(MEASURES), threads=1)
    measured = {name: float(v) for name, v in found.items() if name.split("(")[0] in MEASURES and v is not None}
    if not measured:
        raise InputError(
            f"py-ctcmetrics finds no measure for {tracking.movie.name}: it calls the result or the truth invalid"
        )
    return measured
