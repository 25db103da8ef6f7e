"""What was measured of the cells of a stretch, a value per row, and who their neighbours are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from dunno.types.arrays import Floats, Ints
from dunno.types.detections import Detections
from dunno.types.stretch_table import StretchTable

LEAST_WIDTH = 0.01
"""Added to the spread of a cell's pixels, as a share of the usual one, so that a line of pixels has a width."""


class StretchCells(StretchTable):
    """A table that knows what its cells look like."""

    def column(self, name: str) -> Floats:
        """(N,) what was measured of each cell, by its name in `Detections`; NaN where it was not."""
        if name == "log_area":
            return self._once(name, lambda cells: np.log(cells.area))
        return self._once(name, lambda cells: getattr(cells, name))

    @cached_property
    def background(self) -> Floats:
        """(N,) of each cell's frame; NaN where it was not measured."""
        return self._once("background", lambda cells: cells.background)

    @cached_property
    def elongation(self) -> Floats:
        """(N,) ratio of the longest to the shortest axis; NaN where shapes were not measured."""
        return self._once("elongation", lambda cells: None if cells.covariance is None else cells.elongation)

    @cached_property
    def length_share(self) -> Floats:
        """(N,) 1 − 1/elongation: 0 for round cells, towards 1 for long ones; 0 where shapes were not measured."""
        return np.nan_to_num(1 - 1 / self.elongation)

    @property
    def orientation(self) -> Floats:
        """(N, d) each cell's long axis; zeros where shapes were not measured."""
        if "orientation" not in self._columns:
            none = (self.n_dimensions,)
            self._columns["orientation"] = np.concatenate(
                [np.zeros((len(each), *none)) if each.covariance is None else each.orientation for each in self.cells]
            )
        return np.asarray(self._columns["orientation"])

    @property
    def covariance(self) -> Floats:
        """(N, d, d) of each cell's pixels, with a little added so that none is flat; NaN where shapes were not measured."""
        if "covariance" not in self._columns:
            self._columns["covariance"] = self._covariance()
        return np.asarray(self._columns["covariance"])

    def _covariance(self) -> Floats:
        d = self.n_dimensions
        parts = [
            np.full((len(each), d, d), np.nan) if each.covariance is None else each.covariance for each in self.cells
        ]
        whole = np.concatenate(parts)
        usual = np.nanmedian(np.trace(whole, axis1=1, axis2=2)) if np.isfinite(whole).any() else 1.0
        return np.asarray(whole + LEAST_WIDTH * (usual or 1.0) * np.eye(d))

    def neighbours(self, k: int) -> Ints:
        """(N, k) rows of the nearest other cells of the same frame; its own row where there are fewer."""
        name = f"neighbours {k}"
        if name not in self._columns:
            begin = np.searchsorted(self.row_frame, np.arange(len(self.frames) + 1)).tolist()
            parts = [_nearest(self.place[first:last], k) + first for first, last in pairwise(begin)]
            self._columns[name] = np.concatenate(parts).astype(np.int32)
        return np.asarray(self._columns[name])

    def neighbour_distances(self, k: int) -> Floats:
        """(N, k) distances to the nearest other cells of the same frame; infinite where there are fewer."""
        index = self.neighbours(k)
        apart = self.place[index] - self.place[:, None]
        distance = np.sqrt(np.einsum("nkd,nkd->nk", apart, apart))
        return np.where(index == np.arange(self.n_rows)[:, None], np.inf, distance)

    def _once(self, name: str, get: Callable[[Detections], Any]) -> Floats:
        """(N,) a column over all frames, made when it is first asked for."""
        if name not in self._columns:
            self._columns[name] = np.concatenate([_filled(cells, get(cells)) for cells in self.cells])
        return np.asarray(self._columns[name])


def _nearest(place: Floats, k: int) -> Ints:
    """(n, k) the nearest others of n places; a place itself where there are fewer."""
    own = np.arange(len(place))[:, None]
    if len(place) < 2:
        return np.repeat(own, k, axis=1)
    from scipy.spatial import cKDTree

    index = cKDTree(place).query(place, k + 1)[1][:, 1:]
    return np.where(index < len(place), index, own)


def _filled(cells: Detections, values: Any) -> Floats:
    """(n,) a frame's values; NaN where there are none."""
    return (
        np.full(len(cells), np.nan) if values is None else np.broadcast_to(np.asarray(values, np.float64), len(cells))
    )
