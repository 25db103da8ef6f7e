"""Annotated movies as windows of cells, with who is whose mother."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dunno.errors import InputError
from dunno.transformer.tokens import Singles, Tokens, tokens_of
from dunno.truth import ancestors
from dunno.types import Bools, Ints, Movie, Truth

VALIDATION = 0.2
"""The share of the field, at the far end of its longest axis, whose cells are held out."""


@dataclass(frozen=True, eq=False)
class Window:
    """The cells of a few frames."""

    time: Ints  # (N,) position of each cell's frame in the window, ascending
    place: Singles  # (N, d) centres in pixels
    features: Singles  # (N, q) as in `dunno.transformer.tokens`
    link: Bools  # (N, N) whether the column's cell, in a later frame, comes from the row's
    length: int  # Number of frames

    def __len__(self) -> int:
        return len(self.time)

    def of(self, keep: Bools) -> Window:
        """Some of its cells."""
        return replace(
            self,
            time=self.time[keep],
            place=self.place[keep],
            features=self.features[keep],
            link=self.link[keep][:, keep],
        )


@dataclass(frozen=True, eq=False)
class Recording:
    """An annotated movie, as its cells' tokens."""

    frames: tuple[Tokens, ...]  # Each frame's tokens
    truth: Truth  # Its tracks
    # For each frame, (n,) whether the cell lies in the part of the field that is held out for validation
    held_out: tuple[Bools, ...]

    @classmethod
    def of(cls, movie: Movie, truth: Truth, n_dimensions: int) -> Recording:
        """Read a movie's cells. Its validation part is one of space, not time: it then has windows at every frame step."""
        axis = int(np.argmax(movie.shape))
        border = (1 - VALIDATION) * movie.shape[axis]
        frames, held_out = [], []
        for t in range(len(movie)):
            cells = movie.detections(t)
            frames.append(tokens_of(cells, movie.scale, n_dimensions, movie.has_images))
            held_out.append(cells.centroid[:, axis] / movie.scale[axis] >= border)
        return cls(tuple(frames), truth, tuple(held_out))

    def __len__(self) -> int:
        return len(self.frames)

    def window(self, start: int, step: int, length: int, validation: bool) -> Window:
        """The cells of every step-th frame from `start`, of the held-out part of the field or of the rest."""
        chosen = range(start, start + step * length, step)
        keep = [self.held_out[t] == validation for t in chosen]
        tokens = [self.frames[t] for t in chosen]
        return Window(
            time=np.repeat(np.arange(length), [int(kept.sum()) for kept in keep]),
            place=np.concatenate([each.place[kept] for each, kept in zip(tokens, keep, strict=True)]),
            features=np.concatenate([each.features[kept] for each, kept in zip(tokens, keep, strict=True)]),
            link=self._links(chosen, keep),
            length=length,
        )

    def _links(self, chosen: Sequence[int], keep: Sequence[Bools]) -> Bools:
        """(N, N) links between cells of different frames; a cell is linked to its ancestors, as far as they are seen."""
        tracks = [self.truth.tracks[t][kept] for t, kept in zip(chosen, keep, strict=True)]
        ends = np.cumsum([0, *map(len, tracks)])
        link = np.zeros((ends[-1], ends[-1]), dtype=np.bool_)
        for earlier in range(len(tracks)):
            for later in range(earlier + 1, len(tracks)):
                ancestor = ancestors(self.truth, tracks[later], int(self.truth.frames[chosen[earlier]]))
                same = (tracks[earlier][:, None] == ancestor) & (ancestor != 0)
                link[ends[earlier] : ends[earlier + 1], ends[later] : ends[later + 1]] = same
        return link


@dataclass(frozen=True, eq=False)
class Windows:
    """Where windows are drawn from."""

    recordings: tuple[Recording, ...]  # The movies
    length: int  # Frames in a window
    # Windows are drawn at frame steps from 1 to this, small ones more often (as often between 1 and 2 as between 10 and 20); 1
    # is how Trackastra trains
    largest_step: int = 1

    def __post_init__(self) -> None:
        longest = max(map(len, self.recordings), default=0)
        if longest < self.length:
            raise InputError(f"the longest movie has {longest} frames; a window has {self.length}")
        if self.largest_step < 1:
            raise InputError(f"the largest step is {self.largest_step}; expected at least 1")

    def draw(self, rng: np.random.Generator, validation: bool = False) -> Window:
        """Draw one window; one movie as often as another, long or short."""
        enough = [each for each in self.recordings if len(each) >= self.length]
        recording = enough[rng.integers(len(enough))]
        largest = min(self.largest_step, (len(recording) - 1) // (self.length - 1))
        step = int(np.exp(rng.uniform(0.0, np.log(largest + 1))))
        start = int(rng.integers(len(recording) - step * (self.length - 1)))
        return recording.window(start, step, self.length, validation)
