"""Other people's trackers beside ours, on the same cells. Of these only Trackastra has a number for a link."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dunno.methods import ScoredPair, posterior
from dunno.tracking import Tracking
from dunno.tracking.tracker import Tracker
from dunno.transformer.attention import one_thread
from dunno.transformer.model_folder import load_model
from dunno.transformer.tokens import tokens_of
from dunno.types import Block, Bools, Floats, Ints, Movie

if TYPE_CHECKING:
    from pandas import DataFrame


class PeerLinks(NamedTuple):
    """All links of a movie: positions of the earlier frames, and the cells' positions in both frames.

    `weight` is the peer's own number for each; `None` where it has none.
    """

    frame: Ints
    mother: Ints
    daughter: Ints
    weight: Floats | None = None


@dataclass(eq=False)
class Reported:
    """A method that reports somebody's links, and as their probabilities somebody's numbers."""

    name: str
    links: PeerLinks
    frames: list[int]

    def __call__(self, scored: ScoredPair, rng: np.random.Generator) -> Block:
        """Lay the links over the edges."""
        here = self.links.frame == self.frames.index(scored.pair.mothers.frame)
        mother, daughter = self.links.mother[here], self.links.daughter[here]
        n = scored.problem.n_daughters
        weight = np.ones(len(mother)) if self.links.weight is None else self.links.weight[here].clip(0, 1)
        table, none = np.zeros((scored.problem.n_mothers, n)), np.ones(n)
        table[mother, daughter], none[daughter] = weight, 1 - weight
        chosen = np.zeros(table.shape, np.bool_)
        chosen[mother, daughter] = True
        edge = scored.candidates.mother, scored.candidates.daughter
        selected: Bools = chosen[edge]
        with np.errstate(divide="ignore"):
            return posterior(scored, np.log(table[edge]), np.log(none), selected)


def track_peer(name: str, movie: Movie, model: str | None = None) -> tuple[Tracking, float]:
    """Track a movie with a peer, and say how many processor seconds that took."""
    gate = Tracker(method="SM", calibration=None, workers=1).track(movie).about.max_distance or np.inf
    import_module({"trackpy": "trackpy", "LapTrack": "laptrack"}.get(name, "trackastra.model"))
    started = time.process_time()
    with warnings.catch_warnings(), redirect_stderr(StringIO()):  # bars
        warnings.simplefilter("ignore")
        links = _trackastra(movie, model) if model is not None else PEER_LINKERS[name](movie, gate)
    seconds = time.process_time() - started
    method = Reported(name, links, movie.frames.tolist())
    tracker = Tracker("distance", method, max_distance=np.inf, calibration=None, workers=1)
    return tracker.track(movie), seconds


def _places(movie: Movie) -> DataFrame:
    """A row per cell: its frame, its position there, and where it is."""
    import pandas as pd

    cells = [movie.detections(t) for t in range(len(movie))]
    place = np.concatenate([each.centroid for each in cells])
    table = pd.DataFrame(place, columns=["z", "y", "x"][-place.shape[1] :])
    table["frame"] = np.repeat(np.arange(len(cells)), [len(each) for each in cells])
    table["cell"] = np.concatenate([np.arange(len(each)) for each in cells])
    return table


def _steps(table: DataFrame, track: str) -> PeerLinks:
    """Links between rows of one track in neighbouring frames."""
    table = table.sort_values([track, "frame"])
    track_of, frame, cell = (table[name].to_numpy(np.int64) for name in (track, "frame", "cell"))
    follows = (np.diff(track_of) == 0) & (np.diff(frame) == 1)
    return PeerLinks(frame[:-1][follows], cell[:-1][follows], cell[1:][follows])


def _trackpy(movie: Movie, gate: float) -> PeerLinks:
    """Crocker & Grier, who know no division."""
    import trackpy

    trackpy.quiet()
    places = _places(movie)
    axes = [name for name in "zyx" if name in places]
    found = trackpy.link(places, gate, pos_columns=axes, memory=0, adaptive_stop=0.1, adaptive_step=0.9)
    return _steps(found, "particle")


def _laptrack(movie: Movie, gate: float) -> PeerLinks:
    """LapTrack with divisions."""
    from laptrack import LapTrack

    places = _places(movie)
    axes = [name for name in "zyx" if name in places]
    choices: dict[str, Any] = {"cutoff": gate**2, "splitting_cutoff": gate**2, "gap_closing_cutoff": False}
    found, splits, _ = LapTrack(**choices).predict_dataframe(places, axes, only_coordinate_cols=False)
    found = found.reset_index(drop=True)
    steps = _steps(found, "track_id")
    if not len(splits):
        return steps
    ordered = found.sort_values("frame").groupby("track_id")
    first, last = ordered.first(), ordered.last()
    mother, daughter = last.loc[splits.parent_track_id], first.loc[splits.child_track_id]
    near = (daughter["frame"].to_numpy() - mother["frame"].to_numpy()) == 1
    more = (mother["frame"], mother["cell"], daughter["cell"])
    return PeerLinks(*(np.append(a, np.asarray(b)[near]) for a, b in zip(steps[:3], more, strict=True)))


def _trackastra(movie: Movie, model: str) -> PeerLinks:
    """Trackastra's own windows, weights and greedy linking, on what we measured of the cells; its weights are no softmax's."""
    from trackastra.data import build_windows
    from trackastra.data.wrfeat import WRFeatures
    from trackastra.model.predict import predict_windows
    from trackastra.tracking import build_graph, track_greedy

    loaded = load_model(model)
    frames = [movie.detections(t) for t in range(len(movie))]
    tokens = [tokens_of(each, movie.scale, loaded.n_dimensions, loaded.uses_images(each)) for each in frames]
    features = [
        WRFeatures(each.place, np.arange(len(each)), np.full(len(each), t), {"all": each.features})
        for t, each in enumerate(tokens)
    ]
    quiet = {"progbar_class": lambda items, **more: items}
    windows = build_windows(features, loaded.window, as_torch=True, **quiet)
    with one_thread():
        found = predict_windows(windows, features, loaded.network, spatial_dim=movie.n_dimensions, **quiet)
    graph = track_greedy(
        build_graph(found["nodes"], found["weights"], max_distance=int(loaded.cutoff), max_neighbors=10)
    )
    links = np.array([(*ends, weight) for *ends, weight in graph.edges(data="weight")]).reshape(-1, 3)
    first = np.cumsum([0, *map(len, tokens)])
    mother, daughter = links[:, :2].astype(np.int64).T
    frame = np.searchsorted(first, mother, side="right") - 1
    return PeerLinks(frame, mother - first[frame], daughter - first[frame + 1], links[:, 2])


PEER_LINKERS: dict[str, Callable[[Movie, float], PeerLinks]] = {"trackpy": _trackpy, "LapTrack": _laptrack}
