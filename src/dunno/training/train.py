"""From annotated movies to a model's folder."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dunno.errors import InputError
from dunno.io.writing import check_output, leave_marker, whole
from dunno.training.checkpoint import Epoch, TrainingState
from dunno.training.loop import epochs
from dunno.training.settings import Settings
from dunno.training.windows import Recording, Windows
from dunno.transformer.model_folder import NEEDED, OPTIONAL, UNUSED, import_trackastra, save_model
from dunno.types import Movie, Truth

Annotated = tuple[Movie, Truth]
Progress = Callable[[Iterator[Epoch], int], Iterator[Epoch]]


def train(
    movies: Sequence[Annotated],
    output: str | Path,
    settings: Settings | None = None,
    *,
    overwrite: bool = False,
    device: str = "cpu",
    progress: Progress | None = None,
) -> list[Epoch]:
    """Train a transformer and write its folder, which `TransformerCost` and Trackastra itself read.

    The state after each epoch is kept in `output.checkpoint`; a training that was stopped goes on from it and comes to the same
    result. The weights that are written are those with the lowest validation loss.

    Returns:
        The epochs.
    """
    import_trackastra()
    output, settings = Path(output), settings or Settings()
    check_output(output, overwrite)
    n_dimensions = _dimensions(movies)
    recordings = tuple(Recording.of(*each, n_dimensions) for each in movies)
    about = _about(movies, recordings, settings)
    checkpoint = output.with_name(output.name + ".checkpoint")
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    stream = epochs(
        Windows(recordings, settings.window, settings.largest_step), settings, n_dimensions, checkpoint, about, device
    )
    last: list[TrainingState] = []

    def watched() -> Iterator[Epoch]:
        for epoch, state in stream:
            last[:] = [state]
            yield epoch

    for _ in watched() if progress is None else progress(watched(), settings.epochs):
        pass
    _write(last[0], about, output, overwrite)
    checkpoint.unlink()
    return last[0].history


def _dimensions(movies: Sequence[Annotated]) -> int:
    """What all movies have."""
    if not movies:
        raise InputError("there are no movies to train on")
    dimensions = {movie.n_dimensions for movie, _ in movies}
    if len(dimensions) > 1:
        raise InputError("some movies are 2D and some 3D; train a model for each")
    return dimensions.pop()


def _about(movies: Sequence[Annotated], recordings: Sequence[Recording], settings: Settings) -> dict[str, Any]:
    images = [movie.has_images for movie, _ in movies]
    return {
        "dunno": version("dunno"),
        "images": NEEDED if all(images) else OPTIONAL if any(images) else UNUSED,
        "movies": [movie.name for movie, _ in movies],
        "cells": [sum(map(len, recording.frames)) for recording in recordings],
        **settings.to_dict(),
    }


def _write(state: TrainingState, about: dict[str, Any], output: Path, overwrite: bool) -> None:
    state.network.load_state_dict(state.best)
    best = state.best_epoch
    assert best is not None
    with whole(output, overwrite) as partial:
        save_model(state.network.cpu(), about | {"best_epoch": best.number}, partial)
        leave_marker(partial, version("dunno"), kind="transformer", best_epoch=best.number)
        with (partial / "training.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("epoch", "loss", "validation_loss"))
            writer.writerows((each.number, each.loss, each.validation_loss) for each in state.history)
