"""An output as napari layers: frames are read when they are looked at; of a huge movie, tracks are made for the frames around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dunno.review.overview import TILES, overview
from dunno.review.review import Review
from dunno.types import Block, Bools, Floats, Movie

WHOLE, TRACKS_AROUND = 100_000, 12
"""Tracks are of the whole movie up to so many cells; beyond, of so many frames on either side of the one that is shown."""
DOUBTFUL_ENTROPY = 0.05
"""Cells whose decision is wrong with at least this probability are shown as points."""

Layer = tuple[Any, dict[str, Any], str]


def movie_layers(movie: Movie, about: dict[str, Any] | None = None) -> list[Layer]:
    """The movie's images and masks, read frame by frame when they are looked at."""
    scale = (1.0, *movie.scale)
    more = {"scale": scale, "metadata": {"dunno": about or {}}}
    found: list[Layer] = []
    if movie.has_images:
        first = movie.images(0)
        limits = [float(value) for value in np.percentile(first, [1, 99.8])]
        limits[1] = max(limits[1], limits[0] + 1)
        image = _lazy(movie, "images", first.dtype)
        found.append((image, {**more, "name": "image", "contrast_limits": limits}, "image"))
    if movie.has_masks:
        masks = _lazy(movie, "masks", movie.masks(0).dtype)
        found.append((masks, {**more, "name": "masks", "opacity": 0.35}, "labels"))
    return found


def _lazy(movie: Movie, what: str, dtype: Any) -> Any:
    import dask
    import dask.array as da

    read = dask.delayed(getattr(movie, what), pure=False)
    frames = [da.from_delayed(read(t), movie.shape, dtype) for t in range(len(movie))]
    return da.stack(frames)


def output_layers(folder: str | Path) -> list[Layer]:
    """All layers of an output; nothing in it is locked or changed."""
    with Review.open(folder, read_only=True) as review:
        about = {"output": str(Path(folder).absolute())}
        return [*movie_layers(review.movie, about), tracks_layer(review, 0), doubtful_layer(review, 0)]


def window(review: Review, t: int) -> tuple[int, int]:
    """The first and the last place in time for which tracks are made."""
    if len(review.table) <= WHOLE:
        return 0, review.table.n_pairs
    return max(t - TRACKS_AROUND, 0), min(t + TRACKS_AROUND, review.table.n_pairs)


def _layer_of_statements(review: Review, shows: str, first: int, last: int) -> dict[str, Any]:
    """A layer's name, which says if it does not hold the whole movie, and what is kept in it."""
    frames = review.movie.frames[[first, last]].tolist()
    whole = (first, last) == (0, review.table.n_pairs)
    return {
        "name": shows if whole else f"{shows} of frames {frames[0]} to {frames[1]}",
        "metadata": {"dunno": {"shows": shows, "output": str(review.folder.absolute()), "frames": frames}},
        "scale": (1.0, *review.movie.scale),
    }


def tracks_layer(review: Review, t: int) -> Layer:
    """The links as tracks, each cell with the confidence of the link that leads to it."""
    first, last = window(review, t)
    data, graph, confidence = _tracks(review, first, last)
    more = {
        **_layer_of_statements(review, "tracks", first, last),
        "graph": graph,
        "features": {"confidence": np.nan_to_num(confidence, nan=1.0)},
        "color_by": "confidence",
        "colormap": "viridis",
        "tail_length": TRACKS_AROUND,
        "head_length": 0,
    }
    return data, more, "tracks"


def _tracks(review: Review, first: int, last: int) -> tuple[Floats, dict[int, list[int]], Floats]:
    """(N, 2 + d) track, place in time and place; the mothers of tracks; how sure each cell's link is."""
    from dunno.lineage.tracks import TrackNumbers, numbered

    numbers = TrackNumbers()
    (cells,) = numbered([_alone(review.block(first, last))], numbers)
    data = np.column_stack([cells.track, first + cells.block.frame_of, cells.place / np.asarray(review.movie.scale)])
    order = np.lexsort((data[:, 1], data[:, 0]))
    graph = {row.track: [row.mother] for row in numbers.table() if row.mother}
    return data[order], graph, cells.incoming[order]


def _alone(block: Block) -> Block:
    """Without the frames before those that the block tells of."""
    kept = np.ones(len(block.cells), np.bool_)
    kept[: block.begin[block.first]] = False
    found = block.only(kept)
    return replace(found, cells=found.cells.part(block.first), first=0)


def doubtful_layer(review: Review, t: int) -> Layer:
    """The doubtful cells as points, the more doubtful the larger."""
    first, last = window(review, t)
    table = review.table
    shown = (table.pair >= first) & (table.pair < last) & ~table.debris
    rows = np.flatnonzero(shown & (table.error >= DOUBTFUL_ENTROPY))
    times = table.pair[rows] + 1
    places = [review.frame_cells(int(k)).centroid[table.index(int(row))] for k, row in zip(times, rows, strict=True)]
    scale = np.asarray(review.movie.scale)
    data = np.column_stack([times, np.array(places).reshape(-1, len(scale)) / scale])
    error = table.error[rows]
    size = 4 + 10 * error if len(error) else 5
    more = {
        **_layer_of_statements(review, "doubtful", first, last),
        "features": {"error": error, "row": rows},
        "face_color": "transparent",
        "border_color": "orange",
        "border_width": 0.15,
        "size": size,
        "symbol": "ring",
    }
    return data, more, "points"


def doubt_layer(review: Review) -> Layer:
    """The heat map of the field: where wrong decisions are expected, over all frames; hidden until it is asked for."""
    field = overview(review)
    heat = np.zeros((TILES, TILES), np.float32)
    for square in field["squares"]:
        heat[square["y"], square["x"]] = square["expected"]
    rows, columns = (int(np.ceil(length / field["size"])) for length in (field["height"], field["width"]))
    scale = field["size"] * np.asarray(review.movie.scale[-2:])
    more = {
        "name": "doubt",
        "metadata": {"dunno": {"shows": "doubt"}},
        "scale": tuple(scale.tolist()),
        "translate": tuple((0.5 * (scale - np.asarray(review.movie.scale[-2:]))).tolist()),
        "colormap": "inferno",
        "contrast_limits": [0.0, max(float(heat.max()), 0.01)],
        "blending": "additive",
        "opacity": 0.6,
        "visible": False,
    }
    return heat[:rows, :columns], more, "image"


def candidates_layer(review: Review, view: dict[str, Any] | None) -> Layer:
    """The daughter in question, and the numbered candidates in their frames."""
    ndim = len(review.movie.scale)
    points: list[list[float]] = []
    texts: list[str] = []
    if view is not None:
        points.append(_place(review, view["frame"], view["label"]))
        texts.append("?")
        for choice in view["choices"]:
            said = choice["decision"]
            if said["kind"] == "mother":
                points.append(_place(review, said.get("mother_frame", view["mother_frame"]), said["mother"]))
                texts.append(choice["key"])
    more = {
        "name": "candidates",
        "metadata": {"dunno": {"shows": "candidates"}},
        "features": {"key": np.array(texts, dtype=object)},
        "text": {"string": "{key}", "color": "white", "size": 14, "anchor": "center"},
        "face_color": "#0068a8",
        "border_color": "white",
        "size": 9,
        "ndim": ndim + 1,
        "scale": (1.0, *review.movie.scale),
    }
    return np.array(points).reshape(-1, ndim + 1), more, "points"


def _place(review: Review, frame: int, label: int) -> list[float]:
    """Place in time, and where the cell is, in pixels."""
    found = review.find(frame)
    index = int(np.searchsorted(found.cells.label, label))
    return [float(found.t), *(found.cells.centroid[index] / np.asarray(review.movie.scale)).tolist()]


def refresh(layer: Any, made: Layer) -> None:
    """Show other tracks or points in a layer that is there, which keeps its place, its colours and the selection."""
    data, more, kind = made
    if kind == "image":
        layer.data, layer.contrast_limits = data, more["contrast_limits"]
    elif kind == "tracks":
        layer.graph, layer.color_by = {}, "track_id"  # which every data has
        layer.data = data
        layer.features = more["features"]
        layer.graph = more["graph"]
        layer.color_by = more["color_by"]
    else:
        layer.data = data
        layer.features = more["features"]
        layer.size = more["size"]
        if "text" in more:
            layer.text = more["text"]
    if layer.name != more["name"]:
        layer.name = more["name"]
    layer.metadata = {**layer.metadata, "dunno": {**shown(layer), **more["metadata"]["dunno"]}}


def shown(layer: Any) -> dict[str, Any]:
    """What a layer says of the output that it shows; nothing if it is not dunno's."""
    found: dict[str, Any] = layer.metadata.get("dunno", {})
    return found


def begin_at_first_frame() -> None:
    """Show the first frame once the first layer is there; napari would begin in the middle."""
    import napari

    viewer = napari.current_viewer()
    if viewer is None or len(viewer.layers):
        return

    def begin(event: Any) -> None:
        viewer.layers.events.inserted.disconnect(begin)
        viewer.dims.set_point(0, 0.0)

    viewer.layers.events.inserted.connect(begin, position="last")


def is_inside(shape: Sequence[int], place: Sequence[float]) -> bool:
    """Whether a place in pixels is in the field."""
    inside: Bools = (np.round(place) >= 0) & (np.round(place) < np.asarray(shape))
    return bool(inside.all())
