"""What Cell-ACDC opens: tracked masks, and a table of cells with their lineage."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dunno.errors import InputError
from dunno.io.columns import TableWriter, axes_of, csv_table, generations, mothers_of
from dunno.lineage.tracks import NumberedBlock, TrackRow
from dunno.types import Ints, Movie, RunInfo
from dunno.types.labels import relabelled


class CellAcdcWriter(TableWriter):
    """A folder for Cell-ACDC: segm.npz with tracks as labels, and acdc_output.csv with the lineage tree.

    Copy both into a `Position_1/Images` folder and put the movie's basename before them. Cell-ACDC counts frames from 0, and
    generations from 1.
    """

    name = "cell_acdc"
    needs_masks = True

    def __init__(self, folder: Path, about: RunInfo, movie: Movie | None = None) -> None:
        if movie is None:
            raise InputError("Cell-ACDC needs the movie's masks; say where they are with --masks")
        super().__init__(folder, about, movie)
        folder.mkdir(parents=True)
        self._movie, self._t = movie, 0
        self._archive = zipfile.ZipFile(folder / "segm.npz", "w", zipfile.ZIP_DEFLATED)
        when = zipfile.ZipInfo("arr_0.npy", (2000, 1, 1, 0, 0, 0))  # the same bytes every time
        when.compress_type = zipfile.ZIP_DEFLATED
        self._masks = self._archive.open(when, "w", force_zip64=True)
        shape = (len(movie), *movie.shape)
        np.lib.format.write_array_header_2_0(
            self._masks,
            {"descr": "<u4", "fortran_order": False, "shape": shape},
        )

    def write(self, numbered: NumberedBlock) -> None:
        super().write(numbered)
        for t in numbered.frames:
            rows = numbered.block.rows(t)
            tracked = relabelled(self._movie.masks(self._t), numbered.label[rows], numbered.track[rows])
            self._masks.write(tracked.astype("<u4").tobytes())
            self._t += 1

    def tables(self, columns: dict[str, np.ndarray], sizes: Sequence[int], tracks: Sequence[TrackRow]) -> None:
        track, axes = columns["track"], axes_of(columns)
        mother = mothers_of(tracks)
        told = {
            "frame_i": np.repeat(np.arange(len(sizes)), sizes),
            "Cell_ID": track,
            **{f"{axis}_centroid": columns[axis] / size for axis, size in zip(axes, self._movie.scale, strict=True)},
            self._area_name(): columns["area"],
            "is_cell_dead": np.zeros(len(track), np.int64),
            "is_cell_excluded": np.zeros(len(track), np.int64),
            "Cell_ID_tree": track,
            "generation_num_tree": generations(tracks)[track] + 1,
            "parent_ID_tree": np.where(mother[track] > 0, mother[track], -1),
            "root_ID_tree": columns["family"],
            "sister_ID_tree": _sisters(mother)[track],
            **{name: columns[name] for name in ("probability", "entropy", "p_divide")},
        }
        (self.path / "acdc_output.csv").write_bytes(csv_table(told))

    def _area_name(self) -> str:
        names = ("cell_area_pxl", "cell_area_um2") if self._movie.n_dimensions == 2 else ("cell_vol_vox", "cell_vol_fl")
        return names[self._movie.has_scale]

    def close(self) -> None:
        self._masks.close()
        self._archive.close()


def _sisters(mother: Ints) -> Ints:
    """(T + 1,) the other daughter of each track's mother, by its number; -1 where there is none."""
    found = np.full(len(mother), -1, np.int64)
    first: dict[int, int] = {}
    for track, came_from in enumerate(mother.tolist()):
        if came_from and came_from in first:
            found[track], found[first[came_from]] = first[came_from], track
        elif came_from:
            first[came_from] = track
    return found
