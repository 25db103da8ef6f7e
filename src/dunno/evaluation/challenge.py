"""The Cell Tracking Challenge's own measures, by an independent library."""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
from pathlib import Path

from dunno.errors import InputError, MissingExtra
from dunno.tracking import Tracking

MEASURES = ("TRA", "DET", "LNK", "CHOTA", "BC")


def challenge_measures(tracking: Tracking, truth: Path) -> dict[str, float]:
    """TRA, DET, LNK, CHOTA and BC (F1 of divisions, by how many frames they may be off), through `py-ctcmetrics`.

    A measure that is undefined (BC without divisions) is left out.

    Args:
        tracking: What was tracked; every frame of its sequence.
        truth: A `SEQ_GT/TRA` folder.
    """
    try:
        from ctc_metrics import evaluate_sequence
    except ImportError:
        raise MissingExtra("the challenge's measures need py-ctcmetrics: pip install 'dunno[ctc]'") from None
    if tracking.about["step"] != 1:
        raise InputError("the challenge's measures are for every frame of a sequence; this is every n-th")
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        tracking.to_ctc(Path(folder) / "01_RES")
        annotation = Path(folder) / "01_GT"
        shutil.copytree(truth, annotation / "TRA")
        (annotation / "SEG").mkdir()
        first = sorted((annotation / "TRA").glob("*.tif"))[
            0
        ]  # the library wants one mask there, whatever is asked of it
        shutil.copy(first, annotation / "SEG" / first.name.replace("man_track", "man_seg"))
        found = evaluate_sequence(str(Path(folder) / "01_RES"), str(annotation), list(MEASURES), threads=1)
    return {name: float(value) for name, value in found.items() if name.split("(")[0] in MEASURES and value is not None}
