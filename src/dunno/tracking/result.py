"""A tracked movie, and the forms in which other tools take it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dunno.errors import InputError, MissingExtra
from dunno.io.block_files import linked_blocks
from dunno.io.columns import cell_columns, edge_columns
from dunno.io.filtering import LeftOut, without_debris
from dunno.io.output import read_run, reopen_movie
from dunno.io.tracksdata_graphs import to_graph
from dunno.io.writers import export
from dunno.io.writing import drain
from dunno.lineage.filling import filled
from dunno.lineage.tracks import NumberedBlock, TrackNumbers, TrackRow, numbered
from dunno.tracking import showing
from dunno.tracking.division_count import DivisionBeliefs, DivisionCount, count_divisions
from dunno.tracking.forests import draw_forests
from dunno.types import Block, Floats, Movie, PairPosterior, RunInfo
from dunno.types.block import Edges
from dunno.types.labels import LabelImage

if TYPE_CHECKING:
    import networkx
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Tracking:
    """Every frame pair's probabilities and links.

    Attributes:
        movie: What was tracked.
        blocks: All cells and candidate edges, with what is believed of them, in order.
        about: Who made it, how, and whether its probabilities are calibrated.
    """

    movie: Movie
    blocks: tuple[Block, ...]
    about: RunInfo

    def __repr__(self) -> str:
        links = f"{len(self.block.links)} links" + (", those of debris too" if (self.block.p_cell < 0.5).any() else "")
        return (
            f"Tracking({self.movie.name!r}, {len(self.pairs)} frame pairs, {links}, probabilities {self.about.verdict})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return showing.tracking_html(self)

    @classmethod
    def read(cls, folder: str | Path, masks: str | Path | None = None) -> Tracking:
        """Read what `dunno track` wrote, and open its movie again (`masks`: where it is now, if it has moved)."""
        return cls(reopen_movie(folder, masks), tuple(linked_blocks(folder)), read_run(folder))

    @cached_property
    def pairs(self) -> tuple[PairPosterior, ...]:
        """One posterior per pair of consecutive frames, in order: views of the block."""
        return tuple(pair for block in self.blocks for pair in block.pairs())

    @cached_property
    def block(self) -> Block:
        """All blocks as one."""
        return Block.joined(self.blocks)

    @cached_property
    def cells(self) -> NumberedBlock:
        """Every cell, with its track and what probably became of it."""
        (found,) = numbered([self.block], TrackNumbers())
        return found

    @property
    def edges(self) -> Edges:
        """Every candidate edge between rows of `cells`, those across gaps included."""
        return self.block.edges

    def masks(self, t: int) -> LabelImage:
        """The label image of a frame: repaired, where masks were."""
        return self.movie.masks(t)

    def tracks(self) -> list[TrackRow]:
        """List the tracks: label, first and last frame, and the track each came from (0: none)."""
        return drain(self.blocks, [])

    def expected_wrong_links(self) -> float:
        """How many of the links are expected to be wrong: the sum of 1 − P over all of them, those of debris too.

        `tracking.without_debris().expected_wrong_links()` is what the screen says.
        """
        return float((1 - self.block.probability[self.block.links]).sum())

    def divisions(self) -> DivisionCount | None:
        """How many divisions there are, with a 95 % interval; `None` where the method does not say.

        Of all tracks, also of those that are taken for debris: `tracking.without_debris().divisions()` is what the screen says.
        """
        if not self.about.joint or self.about.links:
            return None
        by_track = DivisionBeliefs.of(self.cells).by_track(
            self.tracks(), self.block.frames.tolist(), float(len(self.block.cells))
        )
        return count_divisions(by_track, self.about.division_doubt)

    def plot_lineage(self, track: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the family of a track (`None`: the largest one), each link coloured by its probability (matplotlib)."""
        return showing.plot_lineage(self, track, ax)

    def plot_promised(self, ax: Axes | None = None) -> Axes:
        """Draw how many links were promised to be wrong against how many were, by what skipping frames says (matplotlib)."""
        return showing.plot_promised(self, ax)

    def sample(self, n: int, seed: int = 0) -> list[Tracking]:
        """Draw n complete lineage forests from the posterior (method JP).

        Each is a tracking with one drawn assignment as its links; compute any figure on all of them, and its spread is its
        uncertainty. Frame pairs are independent, unless edges across gaps tie them: these are drawn together. Where masks are
        judged, the odds of divisions are known only so well, and differ from forest to forest. The same seed draws the same
        forests.
        """
        problem = self.block.problem
        if problem is None:
            raise InputError(
                "only results of method JP, not scaled by a temperature nor read from a file, can be sampled from"
            )
        doubt = self.about.division_doubt
        forests = draw_forests(self.block, problem, n, seed, doubt, self._p_events() if doubt else None)
        return [replace(self, blocks=(forest,)) for forest in forests]

    def _p_events(self) -> Floats:
        """(N,) how probable the division is that is believed of each cell: over all frames in which it may have happened."""
        block, tracks, cells = self.block, self.tracks(), self.cells
        every = DivisionBeliefs(cells.track, block.frame_of, np.nan_to_num(cells.p_divide))
        seen = block.frames.tolist(), float(len(block.cells))
        return every.by_track(tracks, *seen)[every.event(tracks, *seen)]

    def filled(self) -> Tracking:
        """The same with cells filled in where links skip frames, marked in every file (`filled`), for tools that need every frame.

        It has no links across gaps any more, and cannot be sampled from.
        """
        return replace(self, blocks=(filled(self.block),))

    def without_debris(self) -> Tracking:
        """The same without tracks that are rather debris than cells; other tracks are numbered anew."""
        blocks = tuple(without_debris(lambda: iter(self.blocks), LeftOut()))
        return replace(self, blocks=blocks)

    def to_geff(self, path: str | Path, overwrite: bool = False) -> None:
        """Write a GEFF: the links at its root, all candidate edges in its group `candidates`."""
        export("geff", path, self.blocks, self.about, self.movie, overwrite=overwrite)

    def to_csv(self, folder: str | Path, overwrite: bool = False) -> None:
        """Write `edges.csv` (candidate edges), `detections.csv` (cells) and `tracks.csv` into a new folder."""
        export("csv", folder, self.blocks, self.about, self.movie, overwrite=overwrite)

    def to_ctc(self, folder: str | Path, overwrite: bool = False, with_debris: bool = False) -> None:
        """Write a Cell Tracking Challenge result, `maskNNN.tif` and `res_track.txt`; it has no room for what is debris."""
        blocks = self.blocks if with_debris else self.without_debris().blocks
        export("ctc", folder, blocks, self.about, self.movie, overwrite=overwrite)

    def to_pandas(self) -> tuple[pandas.DataFrame, pandas.DataFrame]:
        """Return the edges and the detections, as in the CSV files, as two data frames."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("to_pandas needs pandas: pip install 'dunno[pandas]'") from None
        return pandas.DataFrame(edge_columns(self.block)), pandas.DataFrame(cell_columns(self.cells))

    def to_napari(self) -> tuple[np.ndarray, dict[str, Any], str]:
        """Return a napari Tracks layer as layer data: tracks, then graph and features, then the kind of layer.

        `napari.layers.Layer.create(*tracking.to_napari())` makes the layer. Each cell carries the `confidence` of the link
        that leads to it (NaN where none does), its `entropy` and its `label`; colour the tracks by them.
        """
        cells = self.cells
        data = np.column_stack([cells.track, cells.frame, cells.place])
        order = np.lexsort((data[:, 1], data[:, 0]))
        table = {"label": cells.label, "entropy": cells.entropy, "confidence": cells.incoming}
        graph = {row.track: [row.mother] for row in self.tracks() if row.mother}
        columns = {name: values[order] for name, values in table.items()}
        more = {
            "graph": graph,
            "features": columns,
            "name": self.movie.name,
            "metadata": {"dunno": self.about.to_dict()},
        }
        return data[order], more, "tracks"

    def to_networkx(self, candidates: bool = False) -> networkx.DiGraph:
        """Return a directed graph from mothers to daughters; nodes are `(frame, label)`.

        Args:
            candidates: Hold every candidate edge, marked by `selected`, instead of the links only.
        """
        import networkx

        graph = networkx.DiGraph(**self.about)
        for row in _rows(cell_columns(self.cells)):
            graph.add_node((row["frame"], row["label"]), **row)
        for row in _rows(edge_columns(self.block)):
            if candidates or row["selected"]:
                mother, daughter = (row["mother_frame"], row["mother"]), (row["frame"], row["daughter"])
                graph.add_edge(mother, daughter, **{key: row[key] for key in ("cost", "probability", "selected")})
        return graph

    def to_tracksdata(self, candidates: bool = False) -> Any:
        """Return a graph of tracksdata (`RustWorkXGraph`), with masks and boxes where there are masks.

        Nodes carry `t`, places (physical), `label`, `tracklet_id`, `lineage_id` and what is believed of them, edges `probability`,
        `cost` and `solution`; NaN stands where nothing is known.

        Args:
            candidates: Hold every candidate edge, marked by `solution`, instead of the links only.
        """
        return to_graph(self.cells, self.movie, self.about, candidates)


def open_output(folder: str | Path, masks: str | Path | None = None) -> Tracking:
    """The tracking of an output folder, with its movie opened again: `dunno.open`.

    Args:
        folder: What `dunno track` wrote.
        masks: Where the movie's masks are now, if they have moved.
    """
    return Tracking.read(folder, masks)


def _rows(columns: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in values]
