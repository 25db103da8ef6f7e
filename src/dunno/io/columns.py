"""What tables say: the columns of candidate edges and of cells, by name, of several frames at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dunno.lineage.tracks import FrameRecord
from dunno.types import Floats, PairPosterior
from dunno.types.cells import AXES


def edge_columns(pairs: Sequence[PairPosterior]) -> dict[str, np.ndarray]:
    """One row per candidate edge: labels, and the movie's original frame indices; `reviewed` if a person decided on links.

    A pair's edges are followed by those that lead to the same daughters from frames before.
    """
    runs = [run for pair in pairs for run in _runs(pair)]
    columns = {name: np.concatenate([run[name] for run in runs]) for name in runs[0]}
    columns["probability"] = np.exp(columns["probability"])
    return columns


def _runs(pair: PairPosterior) -> Iterator[dict[str, np.ndarray]]:
    """The pair's edges and those across gaps, with logarithms of probabilities."""
    edges, reviewed = len(pair.mother), pair.reviewed
    yield {
        "mother_frame": np.full(edges, pair.mother_frame),
        "mother": pair.mothers.label[pair.mother],
        "frame": np.full(edges, pair.daughter_frame),
        "daughter": pair.daughters.label[pair.daughter],
        "cost": pair.cost,
        "probability": pair.log_probability,
        "selected": pair.selected,
        **({} if reviewed is None else {"reviewed": pair.selected & reviewed[pair.daughter]}),
    }
    if (gaps := pair.gaps) is not None:
        yield {
            "mother_frame": gaps.mother_frame,
            "mother": gaps.mother_label,
            "frame": np.full(len(gaps), pair.daughter_frame),
            "daughter": pair.daughters.label[gaps.daughter],
            "cost": gaps.cost,
            "probability": gaps.log_probability,
            "selected": gaps.selected,
            **({} if reviewed is None else {"reviewed": gaps.selected & reviewed[gaps.daughter]}),
        }


def detection_columns(records: Sequence[FrameRecord]) -> dict[str, np.ndarray]:
    """One row per cell; NaN where a probability is undefined."""
    cells = [record.detections for record in records]
    place = np.concatenate([each.centroid for each in cells])
    known = {
        name: np.concatenate([getattr(record, name) for record in records])
        for name in ("entropy", "p_appear", "p_disappear", "p_divide")
    }
    return {
        "frame": np.repeat([record.frame for record in records], [len(each) for each in cells]),
        "label": np.concatenate([each.label for each in cells]),
        "track": np.concatenate([record.track for record in records]),
        **dict(zip(AXES[place.shape[1]], place.T, strict=True)),
        "area": np.concatenate([each.area for each in cells]),
        **known,
        "p_false": _held(records, "p_false"),
        "p_two": _held(records, "p_two"),
        **_marks(records),
    }


def _held(records: Sequence[FrameRecord], name: str) -> Floats:
    """(n,) how probably the masks hold no cell, or two; NaN where each is taken for one cell."""
    return np.concatenate(
        [
            np.full(len(record.track), np.nan) if record.held is None else getattr(record.held, name)
            for record in records
        ]
    )


def _marks(records: Sequence[FrameRecord]) -> dict[str, np.ndarray]:
    """Which cells a person decided about, and which were filled in, where some were."""
    reviewed = [record.reviewed for record in records if record.reviewed is not None]
    filled = [record.detections.is_filled for record in records if record.detections.filled_from is not None]
    parts = {"reviewed": reviewed, "filled": filled}
    return {name: np.concatenate(each) for name, each in parts.items() if each}
