"""What tables say: the columns of candidate edges and of cells, by name."""

from __future__ import annotations

import numpy as np

from dunno.lineage.tracks import FrameRecord
from dunno.types import GapEdges, PairPosterior
from dunno.types.cells import AXES


def edge_columns(pair: PairPosterior) -> dict[str, np.ndarray]:
    """One row per candidate edge: labels, and the movie's original frame indices; `reviewed` if a person decided on links."""
    near = _near_columns(pair)
    if pair.gaps is None:
        return near
    far = _gap_columns(pair, pair.gaps)
    return {name: np.concatenate([values, far[name]]) for name, values in near.items()}


def _gap_columns(pair: PairPosterior, gaps: GapEdges) -> dict[str, np.ndarray]:
    """The same for edges from frames before the pair's."""
    return {
        "mother_frame": gaps.mother_frame,
        "mother": gaps.mother_label,
        "frame": np.full(len(gaps), pair.daughter_frame),
        "daughter": pair.daughters.label[gaps.daughter],
        "cost": gaps.cost,
        "probability": gaps.probability,
        "selected": gaps.selected,
        **({} if pair.reviewed is None else {"reviewed": gaps.selected & pair.reviewed[gaps.daughter]}),
    }


def _near_columns(pair: PairPosterior) -> dict[str, np.ndarray]:
    edges = len(pair.mother)
    return {
        "mother_frame": np.full(edges, pair.mother_frame),
        "mother": pair.mothers.label[pair.mother],
        "frame": np.full(edges, pair.daughter_frame),
        "daughter": pair.daughters.label[pair.daughter],
        "cost": pair.cost,
        "probability": pair.probability,
        "selected": pair.selected,
        **({} if pair.reviewed is None else {"reviewed": pair.selected & pair.reviewed[pair.daughter]}),
    }


def detection_columns(record: FrameRecord) -> dict[str, np.ndarray]:
    """One row per cell; NaN where a probability is undefined."""
    cells = record.detections
    centroid = dict(zip(AXES[cells.centroid.shape[1]], cells.centroid.T, strict=True))
    return {
        "frame": np.full(len(cells), record.frame),
        "label": cells.label,
        "track": record.track,
        **centroid,
        "area": cells.area,
        "entropy": record.entropy,
        "p_appear": record.p_appear,
        "p_disappear": record.p_disappear,
        "p_divide": record.p_divide,
        "p_false": _held(record, "p_false"),
        "p_two": _held(record, "p_two"),
        **({} if record.reviewed is None else {"reviewed": record.reviewed}),
        **({} if cells.filled_from is None else {"filled": cells.is_filled}),
    }


def _held(record: FrameRecord, name: str) -> np.ndarray:
    """(n,) how probably the masks hold no cell, or two; NaN where each is taken for one cell."""
    return np.full(len(record.track), np.nan) if record.held is None else getattr(record.held, name)
