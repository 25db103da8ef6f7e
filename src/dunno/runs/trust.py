"""Probabilities for tracks that another program has in memory: tables, graphs and layers in, the same out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import DunnoWarning, InputError, MissingExtra
from dunno.io import read
from dunno.io.columns import edge_columns
from dunno.io.graphs import is_networkx, is_tracksdata, rows_of_graph
from dunno.io.joining import join
from dunno.io.track_tables import NAPARI_AXES, GivenRows, labelled, rows_of
from dunno.io.tracksdata_graphs import set_edges
from dunno.tracking import Tracking
from dunno.tracking.showing import summary_html
from dunno.tracking.tracker import Tracker
from dunno.types import Floats, Ints, Movie
from dunno.types.links import GivenLinks

COLUMN = "probability"
SHARE_MATCHED = 0.5  # share; display
"""Share of links that are matched to the masks where nothing is wrong with them."""


def trust(tracks: Any, masks: Movie | np.ndarray | str | Path, **options: Any) -> Any:
    """Give somebody's tracks probabilities.

    Args:
        tracks: A table (pandas) of LapTrack, btrack, trackpy or Ultrack; LapTrack's tuple of tables; a graph of Trackastra
            (networkx), motile or tracksdata; a napari Tracks layer, or its array (N, 4 or 5); or btrack's list of tracklets.
        masks: The masks that were tracked: an array (T, [Z,] Y, X), a `Movie`, or the path of what `dunno.read` reads.
        **options: Of the `Tracker` that judges, such as `cost` or `seed`.

    Returns:
        The same kind of thing with a `probability`, that its link to its mother is right, for every row or edge; NaN where
        there is no such link. Of motile's graph: a networkx graph. Of an array: itself, and properties for
        `viewer.add_tracks`. Of tracklets: a table. A notebook shows the verdict above a table or a graph.

    Example:
        >>> from dunno.simulate import colony
        >>> masks = np.stack([colony(cells=5, frames=4).movie.masks(t) for t in range(4)])
        >>> tracks = np.array([[1, t, *np.argwhere(masks[t] == 1).mean(axis=0)] for t in range(4)])
        >>> _, properties = trust(tracks, masks)
        >>> [round(float(p), 1) for p in properties["probability"]]
        [nan, 1.0, 1.0, 1.0]
    """
    movie = masks if isinstance(masks, Movie) else read(masks) if isinstance(masks, str | Path) else Movie(masks)
    judge = _Judge(movie, options)
    tracks = tracks.to_nx_graph() if hasattr(tracks, "to_nx_graph") else tracks  # motile's
    if is_networkx(tracks) or is_tracksdata(tracks):
        return judge.shown(_trust_graph(tracks, judge))
    if isinstance(tracks, np.ndarray):
        return tracks, {COLUMN: judge.rows(rows_of(_named(tracks), movie, "the array"))}
    if hasattr(tracks, "graph") and hasattr(tracks, "data"):
        return _trust_layer(tracks, judge)
    if isinstance(tracks, Sequence) and tracks and hasattr(tracks[0], "columns"):
        return (judge.shown(_trust_table(tracks[0], judge, _splits(tracks))), *tracks[1:])
    if isinstance(tracks, Sequence) and tracks and hasattr(tracks[0], "to_dict"):
        return judge.shown(_trust_table(_tracklets(tracks), judge, None))
    if hasattr(tracks, "columns"):
        return judge.shown(_trust_table(tracks, judge, None))
    raise InputError(
        f"tracks of type {type(tracks).__name__}; expected a pandas table, a graph of networkx or tracksdata, a napari layer or "
        "array, or btrack's tracklets (files: dunno track MOVIE -o OUT --links FILE)"
    )


class _Judge:
    """Gives links of a movie their probabilities, and keeps what it found."""

    def __init__(self, movie: Movie, options: dict[str, Any]) -> None:
        self.movie, self._options = movie, options
        self._html = ""

    def rows(self, rows: GivenRows) -> Floats:
        """(N,) the probability of the link that leads into each row."""
        label, first, second = labelled(rows, self.movie), rows.first, rows.second
        probability = np.full(len(rows.frame), np.nan)
        probability[second] = self.edges(rows.frame[first], label[first], rows.frame[second], label[second])
        return probability

    def edges(self, mother_frame: Ints, mother: Ints, frame: Ints, daughter: Ints) -> Floats:
        """(L,) the probability of each link; NaN of those that are none between detections."""
        links = join(GivenLinks(mother_frame, mother, frame, daughter), self.movie, "given tracks")
        why = f"; the first: {links.unmatched[0]}" if links.unmatched else ""
        if len(links) == 0:
            raise InputError(f"none of the {len(frame)} links could be matched to the masks{why}")
        left_out = f"{len(frame) - len(links):,} of {len(frame):,} links could not be matched to the masks{why}"
        if len(links) < SHARE_MATCHED * len(frame):
            warnings.warn(f"{left_out}; they have no probability (NaN)", DunnoWarning, stacklevel=5)
        tracking = Tracker(links=links, **self._options).track(self.movie)
        self._html = summary_html(tracking, "the tracks that were given", left_out if len(links) < len(frame) else "")
        believed = _probabilities(tracking)
        keys = zip(mother_frame.tolist(), mother.tolist(), frame.tolist(), daughter.tolist(), strict=True)
        return np.array([believed.get(key, np.nan) for key in keys])

    def shown(self, thing: Any) -> Any:
        """The thing itself, which a notebook shows with what was found above it."""
        vars(thing)["_repr_html_"] = partial(_html_of, thing, self._html)
        return thing


def _html_of(thing: Any, html: str) -> str:
    own = getattr(type(thing), "_repr_html_", None)
    return html + (f"<pre>{escape(str(thing))}</pre>" if own is None else own(thing))


def _trust_table(table: Any, judge: _Judge, parent: Mapping[int, int] | None) -> Any:
    """A pandas table with a column more; an index with names counts as columns."""
    flat = table.reset_index() if any(name is not None for name in table.index.names) else table
    if flat.columns.duplicated().any():
        flat = flat.loc[:, ~flat.columns.duplicated()]
    rows = rows_of({str(name): flat[name].to_numpy() for name in flat.columns}, judge.movie, "the table", parent)
    return table.assign(**{COLUMN: judge.rows(rows)})


def _splits(tables: Sequence[Any]) -> dict[int, int] | None:
    """LapTrack's second table: which track came from which."""
    split = tables[1] if len(tables) > 1 else None
    names = ("child_track_id", "parent_track_id")
    if split is None or not set(names) <= set(split.columns):
        return {}
    return dict(zip(*(split[name].astype(int).tolist() for name in names), strict=True))


def _trust_layer(layer: Any, judge: _Judge) -> Any:
    """A napari Tracks layer with one feature more."""
    data, graph = np.asarray(layer.data), dict(layer.graph or {})
    parent = {int(new): int(old if np.ndim(old) == 0 else old[0]) for new, old in graph.items()}
    rows = rows_of(_named(data), judge.movie, "the layer", parent)
    features = layer.features.assign(**{COLUMN: judge.rows(rows)})
    layer.data = data  # a layer sorts its data, and features that come later by the order they had before
    layer.features, layer.graph = features, graph
    return layer


def _named(array: np.ndarray) -> dict[str, np.ndarray]:
    if array.ndim != 2 or array.shape[1] not in NAPARI_AXES:
        raise InputError(
            f"an array of shape {array.shape}; expected (N, 4) or (N, 5): {', '.join(NAPARI_AXES[5])}, as napari has it"
        )
    return dict(zip(NAPARI_AXES[array.shape[1]], array.T, strict=True))


def _tracklets(tracks: Sequence[Any]) -> Any:
    try:
        import pandas
    except ImportError:
        raise MissingExtra("tracklets become a table, which needs pandas; pip install 'dunno[pandas]'") from None
    return pandas.concat([pandas.DataFrame(dict(track.to_dict())) for track in tracks], ignore_index=True)


def _probabilities(tracking: Tracking) -> dict[tuple[int, int, int, int], float]:
    columns = edge_columns(tracking.block)
    link = columns["selected"]
    ends = (columns[name][link].tolist() for name in ("mother_frame", "mother", "frame", "daughter"))
    return dict(zip(zip(*ends, strict=True), columns["probability"][link].tolist(), strict=True))


def _trust_graph(graph: Any, judge: _Judge) -> Any:
    """A graph whose edges have probabilities: a copy of networkx's, tracksdata's itself."""
    rows, edges = rows_of_graph(graph, judge.movie.n_dimensions)
    frame, label = rows.frame, labelled(rows, judge.movie)
    found = judge.edges(frame[rows.first], label[rows.first], frame[rows.second], label[rows.second])
    if is_tracksdata(graph):
        set_edges(graph, edges, {COLUMN: found})
        return graph
    told = graph.copy()
    for edge, probability in zip(edges, found.tolist(), strict=True):
        told.edges[edge][COLUMN] = probability
    return told
