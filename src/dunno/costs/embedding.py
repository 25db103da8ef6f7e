"""The distance between feature vectors."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dunno.costs import Cost
from dunno.errors import InputError
from dunno.perturbations.gaussian import Gaussian
from dunno.types import Detections, EventCosts, Floats, FramePair, Ints

CELL_KEYS = ("frame", "label")


@dataclass(frozen=True, eq=False)
class Embedding(Cost):
    r"""Half the squared distance between feature vectors that you bring, one per detection.

    $$w_{NN}(x_i, x'_j) = \tfrac12 \lVert f(x_i) - f(x'_j) \rVert^2 \qquad\text{(Eq. 3 of the paper)}$$

    Without features of your own, f is a cell's centre and diameter, compared in pixels. By default an event costs ½(4q)²,
    where q is the 95 % quantile of the daughters' distances to their nearest mothers in feature space.
    """

    # For each original frame index, (n, q) features of its detections by ascending label
    vectors: Mapping[int, Floats] = field(default_factory=dict)
    name = "embedding"
    perturbation = Gaussian()

    @classmethod
    def from_table(cls, table: Mapping[str, np.ndarray]) -> Embedding:
        """Take features from columns: `frame` and `label` say which detection, all others are features.

        Args:
            table: A dictionary of columns, or a pandas data frame.
        """
        columns = {name: np.asarray(table[name]) for name in table}
        missing = [key for key in CELL_KEYS if key not in columns]
        features = [name for name in columns if name not in CELL_KEYS]
        if missing or not features:
            raise InputError(
                f"a table of features with columns {list(columns)!s:.200}; expected frame, label and features"
            )
        frame, label = (_whole(columns[key], key) for key in CELL_KEYS)
        if len(frame) == 0:
            raise InputError("a table of features has no rows; expected one for each detection")
        values = np.stack([columns[name].astype(np.float64) for name in features], axis=1)
        order = np.lexsort((label, frame))
        frames, starts = np.unique(frame[order], return_index=True)
        return cls(dict(zip(frames.tolist(), np.split(values[order], starts[1:]), strict=True)))

    @classmethod
    def from_csv(cls, path: str | Path) -> Embedding:
        """Take features from a CSV file with columns `frame`, `label` and features."""
        try:
            with Path(path).open(newline="", encoding="utf-8-sig") as file:
                rows = [[text.strip() for text in row] for row in csv.reader(file) if row]
            names = rows.pop(0) if rows else []
            if odd := [k for k, row in enumerate(rows, start=2) if len(row) != len(names)]:
                raise ValueError(f"line {odd[0]} does not have the {len(names)} columns of the first")
            columns = np.array(rows, np.float64).reshape(len(rows), len(names)).T
        except (OSError, ValueError, csv.Error) as error:
            raise InputError(f"{path}: cannot be read as a table of features ({error!s:.200})") from None
        return cls.from_table(dict(zip(names, columns, strict=True)))

    def features(self, cells: Detections) -> Floats:
        """(n, q) the cells' feature vectors."""
        if not self.vectors:
            return np.column_stack([cells.centroid, cells.area ** (1 / cells.centroid.shape[1])])
        if cells.frame not in self.vectors:
            raise InputError(f"there are no features for frame {cells.frame}")
        vectors = np.asarray(self.vectors[cells.frame], dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(cells) or not np.isfinite(vectors).all():
            raise InputError(
                f"frame {cells.frame}: features of shape {vectors.shape} for {len(cells)} detections; "
                "expected one finite vector for each, by ascending label"
            )
        return vectors

    def __call__(self, pair: FramePair, mother: Ints, daughter: Ints) -> Floats:
        """(E,) the cost of each edge."""
        mothers, daughters = self._seen(pair.mothers), self._seen(pair.daughters)
        step = (daughters[daughter] - mothers[mother]) / self.feature_unit(pair)
        return np.asarray(0.5 * np.einsum("eq,eq->e", step, step))

    def feature_unit(self, pair: FramePair) -> float:
        """What counts as 1: a pixel where features are lengths, 1 where you brought them."""
        return 1.0 if self.vectors else pair.pixel

    def _seen(self, cells: Detections) -> Floats:
        return self.features(cells) if cells.features is None else cells.features

    def event_costs(self, pair: FramePair) -> EventCosts:
        """An event costs as much as an unusually long edge in feature space."""
        if len(pair.mothers) == 0 or len(pair.daughters) == 0:
            return EventCosts(appear=1.0, disappear=1.0, divide=0.0)
        from scipy.spatial import cKDTree

        nearest = cKDTree(self._seen(pair.mothers)).query(self._seen(pair.daughters))[0]
        longest = 0.5 * (4 * float(np.quantile(nearest, 0.95)) / self.feature_unit(pair)) ** 2
        return EventCosts(appear=max(longest, 1e-6), disappear=max(longest, 1e-6), divide=0.0)


def _whole(column: np.ndarray, name: str) -> Ints:
    """A column of whole numbers from 0."""
    numbers = column.astype(np.float64)
    odd = ~((numbers == np.round(numbers)) & (numbers >= 0) & (numbers < 2**53))
    if odd.any():
        raise InputError(f"a table of features has {numbers[odd][0]:g} as {name}; expected whole numbers from 0")
    return numbers.astype(np.int64)
