"""What tables say: the columns of candidate edges and of cells, by name, of a block at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dunno.lineage.tracks import NumberedBlock
from dunno.types import Block, Floats
from dunno.types.cells import AXES

KNOWN = ("entropy", "p_appear", "p_disappear", "p_divide")
SEGMENT = ("p_segment", "p_cell")


def edge_columns(block: Block) -> dict[str, np.ndarray]:
    """One row per candidate edge: labels, and the movie's original frame indices; `reviewed` if a person decided on links.

    A pair's edges are followed by those that lead to the same daughters from frames before.
    """
    frame, label = block.cells.frame, block.cells.label
    return {
        "mother_frame": frame[block.mother],
        "mother": label[block.mother],
        "frame": frame[block.daughter],
        "daughter": label[block.daughter],
        "cost": block.cost,
        "probability": block.probability,
        "selected": block.selected,
        **({"reviewed": block.selected & block.reviewed[block.daughter]} if block.is_reviewed else {}),
    }


def cell_columns(numbered: NumberedBlock) -> dict[str, np.ndarray]:
    """One row per cell of which all is known; NaN where a probability is undefined."""
    block, rows = numbered.block, numbered.rows
    place, filled_from = block.cells.centroid[rows], block.cells.filled_from
    return {
        "frame": numbered.frame[rows],
        "label": numbered.label[rows],
        "track": numbered.track[rows],
        **dict(zip(AXES[place.shape[1]], place.T, strict=True)),
        "area": numbered.area[rows],
        **{name: getattr(numbered, name)[rows] for name in (*KNOWN, *SEGMENT)},
        **({"reviewed": block.reviewed[rows]} if block.is_reviewed else {}),
        **({} if filled_from is None else {"filled": filled_from[rows, 0] >= 0}),
    }


def columns_for_tools(numbered: NumberedBlock) -> dict[str, np.ndarray]:
    """The same with `family`, and the `probability` of the link that leads to each cell; NaN where none does."""
    rows = numbered.rows
    return {
        **cell_columns(numbered),
        "family": numbered.family[rows],
        "probability": numbered.incoming[rows],
    }


def radius(area: Floats, n_dimensions: int) -> Floats:
    """(n,) of the disc, or the ball, that is as large as each cell."""
    return np.sqrt(area / np.pi) if n_dimensions == 2 else np.cbrt(3 * area / (4 * np.pi))


def stacked(parts: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The columns of all parts."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
