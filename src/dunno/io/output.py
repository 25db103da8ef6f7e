"""Reading back what `dunno track` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from dunno.errors import InputError
from dunno.io.reading import read
from dunno.io.writing import RUN_FILE
from dunno.types import Detections, Movie, PairPosterior

UNDEFINED = ("p_disappear", "p_divide")


def read_run(folder: str | Path) -> dict[str, Any]:
    """Read an output's `run.json`."""
    path = Path(folder) / RUN_FILE
    try:
        content: dict[str, Any] = json.loads(path.read_text())
        content["parameters"]["frames"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{folder}: is no output of dunno track (there is no complete {RUN_FILE} in it)") from None
    return content


def reopen_movie(folder: str | Path, masks: str | Path | None = None) -> Movie:
    """Open the movie that an output was made from; `masks` says where it is now, if it has moved."""
    about = read_run(folder)["parameters"]
    path, masks = about["movie_path"], masks or about["masks_path"]
    if path is None and masks is None:
        raise InputError(f"{folder}: was made from arrays, not from files; say where the masks are with --masks")
    movie = read(path or masks, masks=masks, scale=about["scale"])
    place = {frame: t for t, frame in enumerate(movie.frames.tolist())}
    if not set(about["frames"]) <= set(place):
        raise InputError(f"{movie.mask_source}: has not all the frames that {folder} was made from")
    first = place[about["frames"][0]]
    movie = movie.every(about["step"], start=first).part(slice(0, len(about["frames"])))
    movie.interval = about["interval"]
    return movie


def read_pairs(folder: str | Path) -> tuple[PairPosterior, ...]:
    """Read an output's frame pairs from its GEFF; boxes are not kept there, and are zero."""
    from geff.core_io import read_to_memory

    frames = read_run(folder)["parameters"]["frames"]
    try:
        graph = read_to_memory(Path(folder) / "tracks.geff" / "candidates")
    except Exception as error:
        raise InputError(f"{folder}: its tracks.geff cannot be read ({' '.join(str(error).split())[:200]})") from None
    node = {name: column["values"] for name, column in graph["node_props"].items()}
    missing = {name: bool(graph["node_props"][name]["missing"].all()) for name in UNDEFINED}
    bounds = np.searchsorted(node["t"], [*frames, frames[-1] + 1])
    cells = [_detections(node, slice(bounds[t], bounds[t + 1]), frame) for t, frame in enumerate(frames)]
    ids = graph["edge_ids"].astype(np.int64)
    edge = {name: column["values"] for name, column in graph["edge_props"].items()}
    edges = np.searchsorted(node["t"][ids[:, 1]] if len(ids) else np.empty(0), [*frames, frames[-1] + 1])
    pairs = []
    for t in range(1, len(frames)):
        rows, now = slice(edges[t], edges[t + 1]), slice(bounds[t], bounds[t + 1])
        before = slice(bounds[t - 1], bounds[t])
        with np.errstate(divide="ignore"):
            pairs.append(
                PairPosterior(
                    mothers=cells[t - 1],
                    daughters=cells[t],
                    mother=ids[rows, 0] - bounds[t - 1],
                    daughter=ids[rows, 1] - bounds[t],
                    cost=edge["cost"][rows],
                    log_probability=np.log(edge["probability"][rows]),
                    log_no_mother=np.log(node["p_appear"][now]),
                    entropy=node["entropy"][now],
                    selected=edge["selected"][rows].astype(np.bool_),
                    log_disappear=None if missing["p_disappear"] else np.log(node["p_disappear"][before]),
                    log_divide=None if missing["p_divide"] else np.log(node["p_divide"][before]),
                )
            )
    return tuple(pairs)


def _detections(node: dict[str, np.ndarray], rows: slice, frame: int) -> Detections:
    space = [name for name in "zyx" if name in node]
    label = node["label"][rows]
    return Detections(
        label=label,
        centroid=np.stack([node[name][rows] for name in space], axis=1),
        area=node["area"][rows],
        bbox=np.zeros((len(label), 2, len(space)), np.int64),
        frame=frame,
    )
