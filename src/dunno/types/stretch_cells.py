"""What was measured of the cells of a stretch, a value per row, and who their neighbours are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from dunno.types.arrays import Floats, Ints
from dunno.types.detections import Detections
from dunno.types.neighbours import nearest_others
from dunno.types.shapes import elongation, long_axis
from dunno.types.stretch_table import StretchTable

LEAST_WIDTH = 0.01  # share; judged
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
        return self._of_shapes("elongation", elongation, np.nan, ())

    @cached_property
    def length_share(self) -> Floats:
        """(N,) 1 − 1/elongation: 0 for round cells, towards 1 for long ones; 0 where shapes were not measured."""
        return np.nan_to_num(1 - 1 / self.elongation)

    @property
    def orientation(self) -> Floats:
        """(N, d) each cell's long axis; zeros where shapes were not measured."""
        return self._of_shapes("orientation", long_axis, 0.0, (self.n_dimensions,))

    def _of_shapes(self, name: str, find: Callable[[Floats], Floats], unknown: float, shape: tuple[int, ...]) -> Floats:
        """What follows from second moments, found for the cells of all frames at once."""
        if name not in self._columns:
            known = [each.covariance is not None for each in self.cells]
            found = np.full((self.n_rows, *shape), unknown)
            if any(known):
                rows = np.repeat(known, [len(each) for each in self.cells])
                found[rows] = find(
                    np.concatenate([each.covariance for each in self.cells if each.covariance is not None])
                )
            self._columns[name] = found
        return np.asarray(self._columns[name])

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
            begin = np.searchsorted(self.row_frame, np.arange(len(self.frames) + 1))
            self._columns[name] = nearest_others(self.place, begin, k).astype(np.int32)
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


def _filled(cells: Detections, values: Any) -> Floats:
    """(n,) a frame's values; NaN where there are none."""
    return (
        np.full(len(cells), np.nan) if values is None else np.broadcast_to(np.asarray(values, np.float64), len(cells))
    )
